"""Data directory of a service: one folder with its log, locked by the one process that uses it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rankloop.store import SqliteStore
from rankloop.types import DataError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class DataDirectory:
    """A folder and its lock.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, DataDirectory(Path(folder)).open() as store:
    ...     store.rankers()
    []
    """

    path: Path

    @contextmanager
    def open(self) -> Iterator[SqliteStore]:
        """The store in this folder, which is made if it is not there; nobody else can open it meanwhile."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(descriptor)
            with SqliteStore(self.path / "log.db") as store:
                yield store
        finally:
            os.close(descriptor)  # and with it the lock, as it would be if the process were killed

    @property
    def key_file(self) -> Path:
        """Where the hashes of the keys are kept."""
        return self.path / "keys.json"

    def _lock(self, descriptor: int) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataError(
                f"{self.path} is in use by another rankloop process: stop that one, or use another folder"
            ) from error
