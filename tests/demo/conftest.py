"""The demo's shop, searched by all tests."""

from __future__ import annotations

import pytest

from rankloop.demo.product_scene import shop
from rankloop.demo.scene import Scene


@pytest.fixture(scope="session")
def wares() -> Scene:
    """The shop to search."""
    return shop()
