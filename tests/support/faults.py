"""A store that can be told to fail: the next COMMIT, or the next time that a list is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from rankloop.service.service_errors import ConflictError
from rankloop.service.store import Impression, SqliteStore, Store, StoreError, write

T = TypeVar("T")


@dataclass
class Faults:
    """How many more times each thing goes wrong."""

    commits: int = 0
    reads: int = 0  # of lists
    struck: int = 0  # how many have gone wrong

    def strike(self, kind: str) -> None:
        left: int = getattr(self, kind)
        if left:
            setattr(self, kind, left - 1)
            self.struck += 1
            raise sqlite3.OperationalError("disk I/O error")


class FaultyStore(SqliteStore):
    """A file on a disk that now and then is not there for a moment."""

    def __init__(self, path: Path) -> None:
        self.faults = Faults()
        faulty = partial(sqlite3.connect, factory=_connection(self.faults))
        with patch("sqlite3.connect", faulty):  # the writer's connection is opened at the start
            super().__init__(path)

    def find_impression(self, query_id: str) -> Impression | None:
        self.faults.strike("reads")
        return super().find_impression(query_id)

    def find_impressions(self, numbers: Collection[int]) -> dict[str, Impression]:
        self.faults.strike("reads")
        return super().find_impressions(numbers)


def _connection(faults: Faults) -> type[sqlite3.Connection]:
    class FaultyConnection(sqlite3.Connection):
        """Fails at COMMIT, when everything in the transaction seemed to be fine."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement.strip().upper().startswith("COMMIT"):
                faults.strike("commits")
            return super().execute(statement, *values)

        def commit(self) -> None:
            faults.strike("commits")
            super().commit()

    return FaultyConnection


def attempt(act: Callable[[], T]) -> T | None:
    """Do something that may meet a fault of the store; nothing comes of it then."""
    try:
        return act()
    except (StoreError, sqlite3.OperationalError, ConflictError):  # the last: what failed before is not done
        return None


def settle(store: Store) -> None:
    """Wait until what was submitted is written."""
    write(store, lambda transaction: None)
