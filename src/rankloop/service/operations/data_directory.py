"""Data directory of a service: one folder with its log, or with a database for it, and who may use it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rankloop.errors import DataError, SettingError
from rankloop.service.store import SqliteStore, Store
from rankloop.service.store.learner_election import ALONE, Election, FileElection

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

SCHEMES = ("postgresql://", "postgres://")


def draft_of(log: Path) -> Path:
    """Where a log is written by a backup or a restore before it has its name, and left if that is killed."""
    return log.with_name(f".{log.name}.part")


def _nobody(tell: Callable[[], object]) -> None:
    """Who is alone hears nothing new."""


@dataclass(frozen=True)
class Membership:
    """What a process needs that serves from a log, by itself or together with others."""

    store: Store
    election: Election = ALONE
    clock: Callable[[], float] = time.time
    listen: Callable[[Callable[[], object]], None] = _nobody  # have something called when there is news


@dataclass(frozen=True)
class DataDirectory:
    """A folder and its lock; or a folder for the keys, and a database that holds the log and the lock.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, DataDirectory(Path(folder)).open() as store:
    ...     store.list_rankers()
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
        from rankloop.service.store.postgres.postgres_connections import public  # noqa: PLC0415

        return public(self.database)

    @contextmanager
    def open(self, *, create: bool = True, shared: bool = False) -> Iterator[Store]:
        """The store, which is made if it is not there; nobody else can open it meanwhile.

        Without `create`, a log that is not there is an error, and nothing is made. `shared` is for a short
        look or a single decision beside a service that runs.
        """
        within = self._in_database(create, shared) if self.database else self._in_folder(create, shared)
        with within as store:
            yield store

    @contextmanager
    def look(self) -> Iterator[Store]:
        """The store as it is, to read only: nothing is made or changed, and a service may be running."""
        if self.database:
            with self._in_database(create=False, shared=True) as store:
                yield store
        elif not (self.path / "log.db").exists():
            raise DataError(f"{self.path} holds no log: name the folder of a service with --data-dir")
        else:
            with SqliteStore(self.path / "log.db", read_only=True) as store:
                yield store

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder, so that no other process opens the log that is a file in it.

        Whoever holds it is alone, so that what a restore left that was killed can go: it may tell of people.
        """
        if self.path.is_file():
            raise DataError(f"{self.path} is a file: name a folder with --data-dir")
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(descriptor)
            draft_of(self.path / "log.db").unlink(missing_ok=True)
            yield
        finally:
            os.close(descriptor)  # and with it the lock, as it would be if the process were killed

    @contextmanager
    def join(self, *, worker: bool = False) -> Iterator[Membership]:
        """The store, for a process that serves; with a database, together with any number of others.

        With a file, `worker` is one of several processes that another one started, which has the lock.
        """
        if self.database:
            with self._among_replicas() as membership:
                yield membership
        elif worker:
            with SqliteStore(self.path / "log.db") as store, closing(self._election()) as election:
                yield Membership(store, election)
        else:
            with self.open() as store:
                yield Membership(store)

    @contextmanager
    def _in_folder(self, create: bool, shared: bool) -> Iterator[Store]:
        if not create and not (self.path / "log.db").exists():
            raise DataError(f"{self.path} holds no log: name the folder of a service with --data-dir")
        with nullcontext() if shared else self.held(), SqliteStore(self.path / "log.db") as store:
            yield store

    @contextmanager
    def _in_database(self, create: bool, shared: bool) -> Iterator[Store]:
        from rankloop.service.store.postgres import PostgresStore  # noqa: PLC0415

        if create:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with PostgresStore(self.database, exclusive=not shared, create=create) as store:
            yield store

    @contextmanager
    def _among_replicas(self) -> Iterator[Membership]:
        from rankloop.service.store.postgres import PostgresStore  # noqa: PLC0415
        from rankloop.service.store.postgres.replica import Replica  # noqa: PLC0415

        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with PostgresStore(self.database, shared=True) as store, closing(Replica(self.database)) as replica:
            yield Membership(store, replica, replica.now, replica.listen)

    def _election(self) -> FileElection:
        return FileElection(self.path / "learner")

    def _lock(self, descriptor: int) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataError(
                f"{self.path} is in use by another rankloop process: stop that one, or use another folder"
            ) from error
