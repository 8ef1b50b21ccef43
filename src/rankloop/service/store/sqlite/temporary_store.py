"""Temporary store: a SQLite file of its own that is deleted when the store is closed."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from rankloop.service.store.sqlite.sqlite_backend import SqliteStore


class TemporaryStore(SqliteStore):
    """SQLite store in a temporary folder; nothing waits for the disk, as the file ends with the process."""

    synchronous = "OFF"

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="rankloop-"))
        self._delete = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        super().__init__(folder / "log.db")

    def close(self) -> None:
        """Finish what was submitted, and delete the folder."""
        super().close()
        self._delete()


def open_temporary_store() -> TemporaryStore:
    """Open a store that is deleted when it is closed, or else when the process ends.

    >>> with open_temporary_store() as store:
    ...     store.list_rankers()
    []
    """
    return TemporaryStore()
