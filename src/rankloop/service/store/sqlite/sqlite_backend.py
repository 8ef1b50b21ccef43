"""SQLite store: one file, one writer with group commit, any number of readers."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from rankloop.service.store.grades import GradeScale
from rankloop.service.store.group_commit import GroupCommitter, Outcome
from rankloop.service.store.impression_parts import PartCodec, PartType
from rankloop.service.store.log_records import (
    GradeTally,
)
from rankloop.service.store.purge import Blocker, PurgeOutcome, RemovedTexts
from rankloop.service.store.snapshot_table import SnapshotTable
from rankloop.service.store.sql.dialect import SqliteDialect
from rankloop.service.store.sql.dictionary_table import PayloadDictionaries
from rankloop.service.store.sql.log_schema import UNIQUE_INDEXES, check_version, create_schema
from rankloop.service.store.sql.log_transaction import LogTransaction
from rankloop.service.store.sql.reader_connections import ReaderConnections
from rankloop.service.store.sql.traffic_statistics import Statistics
from rankloop.service.store.sqlite.file_purge import purge_file
from rankloop.service.store.sqlite.file_space import (
    INCREMENTAL,
    empty_write_ahead_log,
    find_readers,
    shrink_file,
)
from rankloop.service.store.sqlite.sqlite_writer import SqliteWriter
from rankloop.service.store.sqlite.statistics import (
    grades,
)
from rankloop.service.store.store import Job, StoreError

T = TypeVar("T")
PAGE = 500  # rows read at a time
PAGE_BYTES = 16384  # a list is some ten thousand bytes: in SQLite's own 4096 it takes three times the calls
FOLDED = "verdict IN ('accepted', 'late')"
DIALECT = SqliteDialect()


class SqliteStore(SnapshotTable):
    """Store in one SQLite file; any number of threads, one process.

    Write-ahead log with `synchronous=FULL`: what was acknowledged survives the loss of power. One thread
    writes, with group commit; readers have connections of their own and never wait for it. With `read_only`
    the file is left as it is, also beside a service that runs: one of an earlier release is refused.
    """

    not_covered: tuple[str, ...] = ("copies of its file that other programs made",)  # by a purge
    synchronous = "FULL"  # how SQLite waits for the disk
    dialect = DIALECT
    source: ReaderConnections
    errors: tuple[type[Exception], ...] = (sqlite3.Error,)
    committer_type: type[GroupCommitter] = GroupCommitter

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self._path, self._read_only = Path(path), read_only
        self.name = str(path)
        self.source = ReaderConnections(self)
        self.parts = PartCodec()
        self._opened: list[sqlite3.Connection] = []
        self._opening = threading.Lock()
        self._writing = threading.Lock()  # for a transaction, or for what must not be in one
        self._closed = False
        self._seen: dict[int, float] = {}  # readers in the way of a purge, and since when they are known
        self.statistics = Statistics(self.source.read, DIALECT, self.parts)
        self.dictionaries = PayloadDictionaries(self.source.read)
        self.compressor = self.dictionaries.compressor
        try:
            self._writer = self._open()
            if not read_only:
                self._prepare()
            check_version(self._writer, DIALECT)
            self.dictionaries.use_newest(partial(DIALECT.run, self._writer))
        except (sqlite3.Error, StoreError) as error:
            self._close_all()
            raise StoreError(f"{self._path} cannot be opened as a store: {error}") from error
        self.committer = self.committer_type(self._transact, name=f"writer of {self._path.name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def register_parts(self, types: Iterable[PartType]) -> None:
        """Learn the forms of what extensions keep of a list."""
        self.parts.register(types)

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Have a job done; its result is there when it is durable."""
        return self.committer.submit(job, urgent=urgent)

    def describe_outage(self) -> str:
        """Nothing: it is here."""
        return ""

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock; changes nothing."""
        return self.read_head().time(now)

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log."""
        return self.read_head().lag(now)

    def grades(self, ranker: str, *, since: float, until: float, scale: GradeScale) -> GradeTally:
        """How the lists that were shown in a stretch of time were graded."""
        return self.source.ask(grades, ranker, since=since, until=until, scale=scale)

    def improve_compression(self) -> None:
        """Make a dictionary for payloads if one is due."""
        self.dictionaries.improve(self)

    def count_waiting_jobs(self) -> int:
        """How many jobs wait to be written."""
        return self.committer.waiting()

    def measure_size(self) -> int:
        """How many bytes the file and its write-ahead log take."""
        return self._bytes()

    def reclaim_space(self) -> int:
        """Give the space of what was deleted back to the disk; how many bytes.

        In small steps between the transactions. Nothing is lost if the process is killed.
        """
        self.committer.refuse_inside_a_job("compact the store")
        size = self._bytes()
        try:
            shrink_file(self._alone)
            empty_write_ahead_log(self._alone, patience=0.0)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path} cannot be made smaller: {error}") from error
        return max(size - self._bytes(), 0)

    def purge_deleted(self, texts: RemovedTexts | None = None) -> PurgeOutcome:
        """Purge the file and its write-ahead log until a search finds nothing that was removed."""
        self.committer.refuse_inside_a_job("purge the store")
        try:
            return purge_file(self._path, self._alone, self.source.lend, texts)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path} cannot be purged: {error}") from error

    def find_blockers(self) -> Sequence[Blocker]:
        """Who keeps `purge_deleted` from its work just now, as far as the system names them."""
        found = [each for each in find_readers(self._path) if each.pid not in (0, os.getpid())]
        self._seen = {each.pid: self._seen.get(each.pid, time.time()) for each in found}
        return [replace(each, since=self._seen[each.pid]) for each in found]

    def close(self) -> None:
        """Finish what was submitted and close the file."""
        if not self._closed:
            self._closed = True
            self.committer.close()
            self.source.close()
            with self._writing:
                self._close_all()

    def _alone(self, *statements: str) -> list[Any]:
        """Run statements between two transactions; the rows of the last one."""
        rows: list[Any] = []
        with self._writing:
            for each in statements:
                rows = self._writer.execute(each).fetchall()
        return rows

    def _bytes(self) -> int:
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(each.stat().st_size for each in files if each.exists())

    def _transact(self, jobs: Sequence[Job[Any]]) -> Sequence[Outcome]:
        """Run jobs in one transaction; it is durable when this returns."""
        with self._writing:
            try:
                transaction = LogTransaction(SqliteWriter(self._writer), self.parts, self.compressor)
                outcomes = [transaction.attempt(job) for job in jobs]
                transaction.finish()
                self._writer.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise
        return outcomes

    def _prepare(self) -> None:
        """Set how the file is written, and create the tables of a new one."""
        self._writer.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        self._writer.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        self._writer.execute(f"PRAGMA synchronous = {self.synchronous}")
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.execute(
            "PRAGMA secure_delete = FAST"
        )  # pages that are not written anyway stay as they are
        if DIALECT.has_table(self._writer, "schema_version"):
            return
        self._writer.execute("BEGIN IMMEDIATE")
        if not DIALECT.has_table(self._writer, "schema_version"):  # nobody else has made it meanwhile
            create_schema(partial(DIALECT.run, self._writer), DIALECT)
            for table, columns in UNIQUE_INDEXES.items():
                self._writer.execute(f"CREATE UNIQUE INDEX {table}_by_id ON {table} {columns}")
        self._writer.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        name: Path | str = self._path
        if self._read_only:  # without a write-ahead log nobody has it open: then nothing is made beside it
            alone = not self._path.with_name(f"{self._path.name}-wal").exists()
            name = f"{self._path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"
        with self._opening:
            connection = sqlite3.connect(
                name, timeout=30, isolation_level=None, check_same_thread=False, uri=self._read_only
            )
            self._opened.append(connection)
        connection.create_function("fold_case", 1, str.lower, deterministic=True)  # its own knows ASCII only
        return connection

    def open_reader(self) -> sqlite3.Connection:
        """Open a connection that cannot write."""
        connection = self._open()
        connection.execute("PRAGMA query_only = ON")
        connection.create_function("fold_case", 1, str.lower, deterministic=True)
        return connection

    def check_reachable(self) -> None:
        """Do nothing: a file is always there."""

    def is_lost(self, connection: sqlite3.Connection) -> bool:
        """Return False: a connection to a file lasts."""
        del connection
        return False

    def _close_all(self) -> None:
        for connection in self._opened:
            connection.close()
