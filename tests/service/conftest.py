"""Every service lives on a store of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rankloop.service.store import Store, open_temporary_store


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_temporary_store()
    yield opened
    opened.close()
