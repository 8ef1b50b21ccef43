"""PostgreSQL store: one database, one writer with group commit, any number of readers."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, ParamSpec, Self, TypeVar

import psycopg

from rankloop.service.store.grades import GradeScale
from rankloop.service.store.group_commit import GroupCommitter, Outcome
from rankloop.service.store.impression_parts import PartCodec, PartType
from rankloop.service.store.log_records import (
    GradeTally,
)
from rankloop.service.store.postgres import statistics
from rankloop.service.store.postgres.circuit_breaker import CircuitBreaker
from rankloop.service.store.postgres.partition_rewrite import find_all_blockers, purge_tables
from rankloop.service.store.postgres.partitions import prepare
from rankloop.service.store.postgres.postgres_connections import (
    Connection,
    channel,
    connect,
    guard,
    public,
    sentence,
    take_lock,
)
from rankloop.service.store.postgres.postgres_writer import PostgresWriter
from rankloop.service.store.purge import Blocker, PurgeOutcome, RemovedTexts
from rankloop.service.store.snapshot_table import SnapshotTable
from rankloop.service.store.sql.dialect import PostgresDialect
from rankloop.service.store.sql.dictionary_table import PayloadDictionaries
from rankloop.service.store.sql.log_schema import RANGES
from rankloop.service.store.sql.log_transaction import LogTransaction
from rankloop.service.store.sql.reader_connections import ReaderConnections
from rankloop.service.store.sql.traffic_statistics import Statistics
from rankloop.service.store.store import CommitUnknown, ConnectionLost, Job, StoreError

T = TypeVar("T")
P = ParamSpec("P")
LOGGER = logging.getLogger("rankloop.store")
PAGE = 500  # rows read at a time
TABLES = f"{', '.join(RANGES)}, decisions, snapshots, blocks, snapshot_blocks"
STUCK = 5.0  # seconds of a transaction, after which nothing more is queued behind it
DIALECT = PostgresDialect()
FOLDED = "verdict IN ('accepted', 'late')"


class PostgresStore(SnapshotTable):
    """Store in a PostgreSQL database; any number of threads.

    With `synchronous_commit` on: what was acknowledged survives the loss of power. One thread writes, with
    group commit; readers have connections of their own and never wait for it. If the connection is lost, who
    waits is told, and the next job or reader makes a new one; while there is none to be had, everybody is
    refused at once, but for a try now and then. An `exclusive` store holds a lock on the connection that
    writes: another one that asks for it is refused, as is everything that this one would write after it has
    lost it. A `shared` one allows others that are shared, and tells them of what it writes.

    The address is libpq's, `postgresql://user@host:port/database`; `?options=-csearch_path%3Dname` names
    another schema than the usual one. Without `create`, a database without a log is refused and left alone.
    """

    not_covered: tuple[str, ...] = (  # by a purge
        "PostgreSQL's own write-ahead log and server log, and its archives, backups and standby servers",
    )
    dialect = PostgresDialect()
    source: ReaderConnections
    errors: tuple[type[Exception], ...] = (psycopg.Error,)

    def __init__(
        self, url: str, *, exclusive: bool = False, shared: bool = False, create: bool = True
    ) -> None:
        self._url, self._exclusive, self._shared = url, exclusive, shared
        self.name, self._channel = public(url), ""
        self._breaker = CircuitBreaker()
        self.source = ReaderConnections(self)
        self.parts = PartCodec()
        self._writing = threading.Lock()  # for a transaction, or for what must not be in one
        self._closed = False
        self.statistics = Statistics(self.source.read, DIALECT, self.parts)
        self.dictionaries = PayloadDictionaries(self.source.read)
        self.compressor = self.dictionaries.compressor
        self._freed = 0  # bytes of partitions that were dropped since the last compaction
        self._writer = self._open_writer()
        try:
            prepare(self._writer, create=create)
            self.dictionaries.use_newest(partial(DIALECT.run, self._writer))
            _warn_of_loss(self._writer, self.name)
        except (psycopg.Error, StoreError) as error:
            self._writer.close()
            raise StoreError(f"{self.name} cannot be opened as a store: {_plain(error)}") from error
        self.committer = GroupCommitter(self._transact, name="writer of the log")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Without the password."""
        return f"PostgresStore({self.name!r})"

    def register_parts(self, types: Iterable[PartType]) -> None:
        """Learn the forms of what extensions keep of a list."""
        self.parts.register(types)

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Have a job done; its result is there when it is durable."""
        if not self._breaker.due or self.committer.busy() > STUCK:
            raise ConnectionLost(self.describe_outage())
        return self.committer.submit(job, urgent=urgent)

    def describe_outage(self) -> str:
        """Why nothing can be written just now, without waiting to find out; empty as a rule."""
        busy = self.committer.busy()
        if busy > STUCK:
            return f"{self.name} has not answered for {busy:.0f} seconds"
        return self._breaker.reason

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock; changes nothing."""
        return self.read_head().time(now)

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log."""
        return self.read_head().lag(now)

    def grades(self, ranker: str, *, since: float, until: float, scale: GradeScale) -> GradeTally:
        """How the lists that were shown in a stretch of time were graded."""
        return self.source.ask(statistics.grades, ranker, since=since, until=until, scale=scale)

    def improve_compression(self) -> None:
        """Make a dictionary for payloads if one is due."""
        self.dictionaries.improve(self)

    def count_waiting_jobs(self) -> int:
        """How many jobs wait to be written."""
        return self.committer.waiting()

    def measure_size(self) -> int:
        """How many bytes the database takes."""
        ((size,),) = self.source.run("SELECT pg_database_size(current_database())")
        return int(size)

    def reclaim_space(self) -> int:
        """Give the space of what was deleted back to the disk; how many bytes.

        A partition that was dropped gave its space back at once. Of what was deleted from others the space
        is used again, and cut off where it is at the end of a table. Nobody waits meanwhile.
        """
        self.committer.refuse_inside_a_job("compact the store")
        freed = self.source.ask(_vacuum)
        with self._writing:
            freed, self._freed = freed + self._freed, 0
        return freed

    def purge_deleted(self, texts: RemovedTexts | None = None) -> PurgeOutcome:
        """Put copies in the place of all tables that rows were removed from, as far as nobody reads them."""
        self.committer.refuse_inside_a_job("purge the store")
        connection = self._connect()
        try:
            return purge_tables(connection, texts)
        except psycopg.Error as error:
            raise StoreError(f"{self.name} cannot be purged: {sentence(error)}") from error
        finally:
            connection.close()

    def find_blockers(self) -> Sequence[Blocker]:
        """Who keeps `purge_deleted` from its work just now."""
        return self.source.ask(find_all_blockers)

    def close(self) -> None:
        """Finish what was submitted and close the connections."""
        if not self._closed:
            self._closed = True
            self.committer.close()
            with self._writing:
                self._writer.close()
            self.source.close()

    def _transact(self, jobs: Sequence[Job[Any]]) -> Sequence[Outcome]:
        """Run jobs in one transaction; it is durable when this returns."""
        with self._writing:
            transaction = self._begin()
            try:
                outcomes = [transaction.attempt(job) for job in jobs]
                transaction.finish()
                self._commit()
            except BaseException as error:
                with contextlib.suppress(psycopg.Error):
                    self._writer.execute("ROLLBACK")
                if isinstance(error, psycopg.OperationalError) and self._writer.closed:
                    raise ConnectionLost(f"nothing could be written: {sentence(error)}") from error
                raise
            self._freed += transaction.freed
        return outcomes

    def _begin(self) -> LogTransaction:
        """A transaction; on a new connection, if the one there was is found to be lost."""
        if not self._writer.closed:
            try:
                return self._transaction()
            except psycopg.OperationalError:
                if not self._writer.closed:
                    self._writer.close()  # in whatever state it is
        self._writer = self._open_writer()
        return self._transaction()

    def _transaction(self) -> LogTransaction:
        return LogTransaction(PostgresWriter(self._writer, self._channel), self.parts, self.compressor)

    def _commit(self) -> None:
        try:
            self._writer.execute("COMMIT")
        except psycopg.OperationalError as error:
            if self._writer.closed:
                raise CommitUnknown(
                    f"the connection to {self.name} was lost in the middle of a commit: whether what waited "
                    "for it is written is not known. An event can be sent again under the same id"
                ) from error
            raise

    def _open_writer(self) -> Connection:
        connection = self._connect()
        try:
            connection.execute("SET synchronous_commit = on")
            if self._shared:
                guard(connection)
                self._channel = channel(connection)
            alone = self._exclusive or self._shared
            if alone and not take_lock(connection, "service", shared=self._shared):
                raise StoreError(
                    f"{self.name} is in use by another rankloop process: stop that one, or use another "
                    "database"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def open_reader(self) -> Connection:
        """Open a connection to read with, unless the last try has just failed."""
        return self._connect()

    def check_reachable(self) -> None:
        """Raise at once if the database is away."""
        if not self._breaker.due:
            raise ConnectionLost(self._breaker.reason)

    def is_lost(self, connection: Connection) -> bool:
        """Return whether the connection is closed."""
        return connection.closed

    def _connect(self) -> Connection:
        """A new connection, unless the last try has just failed."""
        self._breaker.attempt()
        try:
            connection = connect(self._url)
        except ConnectionLost as error:
            self._breaker.open(str(error))
            raise
        self._breaker.close()
        return connection


def _vacuum(connection: Connection) -> int:
    sizes = []
    for statement in ("", f"VACUUM {TABLES}", ""):
        if statement:
            connection.execute(statement)
        else:
            ((size,),) = connection.execute("SELECT pg_database_size(current_database())")
            sizes.append(int(size))
    return max(sizes[0] - sizes[1], 0)


def _warn_of_loss(connection: Connection, name: str) -> None:
    ((fsync,),) = connection.execute("SHOW fsync")
    if fsync != "on":
        LOGGER.warning("%s runs with fsync = %s: a loss of power loses what was acknowledged", name, fsync)


def _plain(error: Exception) -> str:
    return sentence(error) if isinstance(error, psycopg.Error) else str(error)
