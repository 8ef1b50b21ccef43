"""Data directory of a service: one folder with its log, or with a database for it, used by one process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rankloop.store import SqliteStore, Store
from rankloop.types import DataError, SettingError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class DataDirectory:
    """A folder and its lock; or a folder for the keys, and a database that holds the log and the lock.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, DataDirectory(Path(folder)).open() as store:
    ...     store.rankers()
    []
    """

    path: Path
    database: str = ""  # as in postgresql://user@host:port/name; empty: the log is a file in the folder

    def __post_init__(self) -> None:
        """Refuse an address of another kind, without repeating it: it may hold a password."""
        if self.database and not self.database.startswith(SCHEMES):
            raise SettingError(
                "a store must be named as postgresql://user@host:port/database, or not at all: then the log "
                "is a file in the data directory. Found something else"
            )

    def __repr__(self) -> str:
        """Without the password."""
        return f"DataDirectory({self.name!r})"

    @property
    def name(self) -> str:
        """Where the log is, without a password."""
        if not self.database:
            return str(self.path)
        from rankloop.store.postgres.connections import public  # noqa: PLC0415

        return public(self.database)

    @contextmanager
    def open(self, *, create: bool = True) -> Iterator[Store]:
        """The store, which is made if it is not there; nobody else can open it meanwhile.

        Without `create`, a log that is not there is an error, and nothing is made.
        """
        with self._in_database(create) if self.database else self._in_folder(create) as store:
            yield store

    @property
    def key_file(self) -> Path:
        """Where the hashes of the keys are kept."""
        return self.path / "keys.json"

    @contextmanager
    def _in_folder(self, create: bool) -> Iterator[Store]:
        if not create and not (self.path / "log.db").exists():
            raise DataError(f"{self.path} holds no log: name the folder of a service with --data-dir")
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(descriptor)
            with SqliteStore(self.path / "log.db") as store:
                yield store
        finally:
            os.close(descriptor)  # and with it the lock, as it would be if the process were killed

    @contextmanager
    def _in_database(self, create: bool) -> Iterator[Store]:
        from rankloop.store.postgres import PostgresStore  # noqa: PLC0415

        if create:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with PostgresStore(self.database, exclusive=True, create=create) as store:
            yield store

    def _lock(self, descriptor: int) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataError(
                f"{self.path} is in use by another rankloop process: stop that one, or use another folder"
            ) from error
