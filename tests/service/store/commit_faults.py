"""What happens to stores of both databases: they are opened again, and their commits fail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg

from rankloop.service.store import SqliteStore, Store
from rankloop.service.store.postgres import PostgresStore


def reopen(store: Store) -> Store:
    """Close a store and open what it left."""
    store.close()
    if isinstance(store, SqliteStore):
        return SqliteStore(store._path)
    assert isinstance(store, PostgresStore)
    return PostgresStore(store._url)


@contextmanager
def at_commit(store: Store, do: Callable[[], object]) -> Iterator[None]:
    """Something happens just before every COMMIT."""
    assert isinstance(store, SqliteStore | PostgresStore)
    real = store._writer

    class Watched:
        def execute(self, statement: str, *values: Any, **options: Any) -> Any:
            if statement == "COMMIT":
                do()
            return real.execute(statement, *values, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    store._writer = Watched()  # type: ignore[assignment]
    yield
    store._writer = real


def no_commit(store: Store) -> AbstractContextManager[None]:
    """Every COMMIT fails, as on a disk that is full."""

    def fail() -> None:
        if isinstance(store, SqliteStore):
            raise sqlite3.OperationalError("database or disk is full")
        raise psycopg.errors.DiskFull("no space left on device")

    return at_commit(store, fail)
