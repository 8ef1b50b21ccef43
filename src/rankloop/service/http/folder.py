"""The folder in which an embedded service keeps everything: its log, and the hashes of its keys."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rankloop.service.http.keys import Keys, Scope
from rankloop.store import SqliteStore
from rankloop.types import DataError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class DataFolder:
    """Where a service lives; one process at a time."""

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

    def keys(self, *, fresh: bool = False) -> tuple[Keys, Mapping[Scope, str]]:
        """The keys, and those that are new and to be shown now: they are never to be seen again."""
        path = self.path / "keys.json"
        if path.exists() and not fresh:
            return Keys.load(path), {}
        keys, shown = Keys.fresh()
        keys.save(path)
        return keys, shown

    def _lock(self, descriptor: int) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataError(
                f"{self.path} is in use by another rankloop process: stop that one, or use another folder"
            ) from error
