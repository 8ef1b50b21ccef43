"""Temporary store: a SQLite file of its own that is deleted when the store is closed."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

from rankloop.service.store.group_commit import ImmediateCommitter
from rankloop.service.store.sqlite.sqlite_backend import SqliteStore


class TemporaryStore(SqliteStore):
    """SQLite store in a temporary folder that is deleted at the latest when the process ends.

    It never waits for the disk (`synchronous=OFF`), as the file need not survive the loss of power. So a job
    is done when `submit` returns. Everything else is as in every SQLite store.
    """

    synchronous = "OFF"
    committer_type = ImmediateCommitter

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rankloop-"))
        super().__init__(self.folder / "log.db")
        self._delete = weakref.finalize(self, _delete, self.folder, self._opened)
        OPEN_STORES.add(self)

    def close(self) -> None:
        """Finish what was submitted, and delete the folder."""
        super().close()
        OPEN_STORES.discard(self)
        self._delete()


OPEN_STORES: weakref.WeakSet[TemporaryStore] = weakref.WeakSet()


def open_temporary_store() -> TemporaryStore:
    """Open a store that is deleted when it is closed, or else when the process ends.

    >>> from rankloop.service.store import Decision, write
    >>> decision = Decision(at=0.0, ranker="shop", kind="mode")
    >>> with open_temporary_store() as store:
    ...     number = write(store, lambda transaction: transaction.append(decision))
    ...     [each.kind for each in store.read_decisions("shop")]
    ['mode']
    >>> number, store.folder.exists()
    (1, False)
    """
    return TemporaryStore()


def _delete(folder: Path, connections: Sequence[sqlite3.Connection]) -> None:
    for each in connections:
        each.close()
    shutil.rmtree(folder, ignore_errors=True)
