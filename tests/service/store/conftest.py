"""Every statement about stores is made about each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankloop.service.extensions.registry import load_registry
from rankloop.service.store import SqliteStore, Store
from rankloop.service.store.postgres import PostgresStore


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    make: dict[str, Callable[[], Store]] = {
        "sqlite": lambda: SqliteStore(tmp_path / "log.db"),
        "postgres": lambda: PostgresStore(request.getfixturevalue("postgres").url()),
    }
    opened = make[request.param]()
    opened.register_parts(load_registry().part_types)
    yield opened
    opened.close()
