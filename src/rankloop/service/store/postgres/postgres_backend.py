"""PostgreSQL store: one database, one writer with group commit, any number of readers."""

from __future__ import annotations

import contextlib
import heapq
import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import psycopg

from rankloop.service.store.grades import GradeScale
from rankloop.service.store.group_commit import GroupCommitter, Outcome
from rankloop.service.store.impression_codec import (
    ENTRY_COLUMNS,
    EVENT_COLUMNS,
    TRIAL_COLUMNS,
    WHOLE_COLUMNS,
    event_from,
    impression_from,
    list_entry_from,
    trial_list_from,
)
from rankloop.service.store.log_records import (
    JOINED,
    Decision,
    Event,
    ExposureSum,
    ExposureTally,
    GradeTally,
    Impression,
    ListEntry,
    Logged,
    Person,
    Snapshot,
    Traces,
    TrialList,
)
from rankloop.service.store.postgres import exposure, snapshots, statistics
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
from rankloop.service.store.postgres.transaction import (
    LAST_SEQ,
    PostgresTransaction,
    quoted,
    read_changed,
    read_decisions,
    read_head,
    read_rankers,
    read_traces,
)
from rankloop.service.store.purge import Blocker, PurgeOutcome, RemovedTexts
from rankloop.service.store.sql.bucket_sums import Run
from rankloop.service.store.sql.dialect import PostgresDialect
from rankloop.service.store.sql.log_schema import RANGES
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
WHOLE = quoted(WHOLE_COLUMNS)


class PostgresStore:
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
        "PostgreSQL's own write-ahead log, and its archives, backups and standby servers",
    )

    def __init__(
        self, url: str, *, exclusive: bool = False, shared: bool = False, create: bool = True
    ) -> None:
        self._url, self._exclusive, self._shared = url, exclusive, shared
        self._name, self._channel = public(url), ""
        self._breaker = CircuitBreaker()
        self._idle: deque[Connection] = deque()
        self._writing = threading.Lock()  # for a transaction, or for what must not be in one
        self._closed = False
        self.statistics = Statistics(self._read_state, DIALECT)
        self._freed = 0  # bytes of partitions that were dropped since the last compaction
        self._writer = self._open_writer()
        try:
            prepare(self._writer, create=create)
            _warn_of_loss(self._writer, self._name)
        except (psycopg.Error, StoreError) as error:
            self._writer.close()
            raise StoreError(f"{self._name} cannot be opened as a store: {_plain(error)}") from error
        self.committer = GroupCommitter(self._transact, name="writer of the log")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Without the password."""
        return f"PostgresStore({self._name!r})"

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Have a job done; its result is there when it is durable."""
        if not self._breaker.due or self.committer.busy() > STUCK:
            raise ConnectionLost(self.describe_outage())
        return self.committer.submit(job, urgent=urgent)

    def describe_outage(self) -> str:
        """Why nothing can be written just now, without waiting to find out; empty as a rule."""
        busy = self.committer.busy()
        if busy > STUCK:
            return f"{self._name} has not answered for {busy:.0f} seconds"
        return self._breaker.reason

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock; changes nothing."""
        return self._read(read_head).time(now)

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log."""
        return self._read(read_head).lag(now)

    def list_rankers(self) -> Sequence[str]:
        """The names of the rankers about which anything was decided."""
        return self._read(read_rankers)

    def list_changed_rankers(self, *, after: int) -> tuple[int, Collection[str]]:
        """The number of the last entry, and the rankers that have entries after one."""
        return self._read(_one_state(read_changed), after)

    def find_impression(self, query_id: str) -> Impression | None:
        """A list that was shown, with everything."""
        found = self._impressions("query_id = %s", (query_id,))
        return found[0] if found else None

    def read_impressions(
        self, ranker: str, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Impression]:
        """The lists that were shown, in order; or the `newest` few, the newest first."""
        if newest is not None:
            seqs = self._rows(
                "SELECT seq FROM impressions WHERE ranker = %s AND seq > %s ORDER BY seq DESC LIMIT %s",
                (ranker, after, newest),
            )
            for (seq,) in seqs:
                yield from self._impressions("seq = %s", (seq,))
            return
        while page := self._impressions("ranker = %s AND seq > %s", (ranker, after)):
            yield from page
            after = page[-1].seq

    def read_events(
        self, ranker: str | None, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Event]:
        """Events in order; or the `newest` few, the newest first."""
        if newest is not None:
            yield from self._events(ranker, "seq > %s ORDER BY seq DESC LIMIT %s", (after, newest))
            return
        while page := self._events(ranker, f"seq > %s ORDER BY seq LIMIT {PAGE}", (after,)):
            yield from page
            after = page[-1].seq

    def find_events(self, ids: Collection[str] = (), *, query_id: str = "") -> Sequence[Event]:
        """The events of these ids that have found their lists, or those that named a list, in order."""
        if query_id:
            return self._events(None, "query_id = %s ORDER BY seq", (query_id,))
        named = "event_id = ANY(%s::text[]) AND verdict = ANY(%s::text[]) ORDER BY seq"
        return self._events(None, named, (list(ids), list(JOINED)))

    def read_decisions(self, ranker: str, *, kind: str | None = None, after: int = 0) -> Sequence[Decision]:
        """What was decided after an entry, in order."""
        return self._read(read_decisions, ranker, kind=kind, after=after)

    def read_entries(
        self, ranker: str, *, after: int = 0, until: int | None = None, with_lists: bool = False
    ) -> Iterator[Logged]:
        """The counted events and the decisions, with the lists if they are wanted, in order."""
        last = self._read(read_head).seq if until is None else until  # all parts end at the same entry
        lists = self._list_entries(ranker, after, last) if with_lists else ()
        events = self._counted(ranker, after, last)
        decisions = self._read(read_decisions, ranker, after=after, until=last)
        return heapq.merge(lists, events, decisions, key=lambda each: each.seq)

    def trial_lists(self, ranker: str, *, trial: int, after: int = 0) -> Iterator[TrialList]:
        """The lists of a trial that were shown after an entry, in order."""
        query = (
            f"SELECT {quoted(TRIAL_COLUMNS)} FROM impressions"
            " WHERE ranker = %s AND assignment IS NOT NULL AND seq > %s"
            f" AND (assignment::json->>'trial')::bigint = %s ORDER BY seq LIMIT {PAGE}"
        )
        while page := self._rows(query, (ranker, after, trial)):
            yield from map(trial_list_from, page)
            after = page[-1][0]

    def load_latest(
        self, ranker: str, *, until: int | None = None, before: float | None = None
    ) -> Snapshot | None:
        """The latest snapshot with `seq <= until` and `at <= before`."""
        last, moment = LAST_SEQ if until is None else until, float("inf") if before is None else before
        return self._read(_one_state(snapshots.read), ranker, until=last, before=moment)

    def list_snapshots(self, ranker: str) -> Sequence[tuple[int, float]]:
        """Number and time of every snapshot, in order; also of those that are damaged."""
        return self._read(snapshots.kept, ranker)

    def grades(self, ranker: str, *, since: float, until: float, scale: GradeScale) -> GradeTally:
        """How the lists that were shown in a stretch of time were graded."""
        return self._read(statistics.grades, ranker, since=since, until=until, scale=scale)

    def read_totals(self, ranker: str) -> Sequence[ExposureSum]:
        """The exposure accounts of a ranker, by account and group."""
        return self._read(exposure.read_exposures, ranker)

    def exposure(self, ranker: str, *, since: float, until: float, step: float) -> Sequence[ExposureTally]:
        """Exposure in steps of time."""
        return self._read(_one_state(exposure.exposure), ranker, since=since, until=until, step=step)

    def exposure_in_parts(
        self, ranker: str, *, account: int, since: float, until: float, parts: int, least: int = 1
    ) -> Sequence[ExposureTally]:
        """Exposure that counts for one account, in parts of equally many lists."""
        tallied = _one_state(exposure.exposure_in_parts)
        return self._read(
            tallied, ranker, account=account, since=since, until=until, parts=parts, least=least
        )

    def count_waiting_jobs(self) -> int:
        """How many jobs wait to be written."""
        return self.committer.waiting()

    def measure_size(self) -> int:
        """How many bytes the database takes."""
        ((size,),) = self._rows("SELECT pg_database_size(current_database())")
        return int(size)

    def find_person_entries(self, person: Person, *, after: int = 0) -> Traces:
        """What the log tells of a person after an entry."""
        return self._read(read_traces, person, after=after)

    def reclaim_space(self) -> int:
        """Give the space of what was deleted back to the disk; how many bytes.

        A partition that was dropped gave its space back at once. Of what was deleted from others the space
        is used again, and cut off where it is at the end of a table. Nobody waits meanwhile.
        """
        self.committer.refuse_inside_a_job("compact the store")
        freed = self._read(_vacuum)
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
            raise StoreError(f"{self._name} cannot be purged: {sentence(error)}") from error
        finally:
            connection.close()

    def find_blockers(self) -> Sequence[Blocker]:
        """Who keeps `purge_deleted` from its work just now."""
        return self._read(find_all_blockers)

    def close(self) -> None:
        """Finish what was submitted and close the connections."""
        if not self._closed:
            self._closed = True
            self.committer.close()
            with self._writing:
                self._writer.close()
                self._close_idle()

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

    def _begin(self) -> PostgresTransaction:
        """A transaction; on a new connection, if the one there was is found to be lost."""
        if not self._writer.closed:
            try:
                return PostgresTransaction(self._writer, channel=self._channel)
            except psycopg.OperationalError:
                if not self._writer.closed:
                    self._writer.close()  # in whatever state it is
        self._writer = self._open_writer()
        return PostgresTransaction(self._writer, channel=self._channel)

    def _commit(self) -> None:
        try:
            self._writer.execute("COMMIT")
        except psycopg.OperationalError as error:
            if self._writer.closed:
                raise CommitUnknown(
                    f"the connection to {self._name} was lost in the middle of a commit: whether what waited "
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
                    f"{self._name} is in use by another rankloop process: stop that one, or use another "
                    "database"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _read(
        self, function: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """Ask something, on a connection that nobody else is reading with.

        On one that was lost since it was last used, as by a restart of the database, it is asked anew.
        """
        if self._closed:
            raise StoreError("the store is closed")
        if not self._breaker.due:
            raise ConnectionLost(self._breaker.reason)
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._ask(self._connect(), function, *args, **options)
        try:
            return self._ask(connection, function, *args, **options)
        except StoreError:
            if not connection.closed:
                raise
        self._close_idle()  # they are as old, or older
        return self._ask(self._connect(), function, *args, **options)

    def _read_state(self, function: Callable[[Run], T]) -> T:
        return self._read(_one_state(lambda connection: function(partial(DIALECT.run, connection))))

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

    def _ask(
        self,
        connection: Connection,
        function: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **options: P.kwargs,
    ) -> T:
        try:
            return function(connection, *args, **options)
        except psycopg.Error as error:
            raise StoreError(f"{self._name} cannot be read: {sentence(error)}") from error
        finally:
            if self._closed:
                connection.close()
            elif not connection.closed:
                self._idle.append(connection)

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._read(lambda connection: connection.execute(query, values, binary=True).fetchall())

    def _close_idle(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _counted(self, ranker: str, after: int, until: int) -> Iterator[Event]:
        condition = f"{FOLDED} AND seq > %s AND seq <= %s ORDER BY seq LIMIT {PAGE}"
        while page := self._events(ranker, condition, (after, until)):
            yield from page
            after = page[-1].seq

    def _list_entries(self, ranker: str, after: int, until: int) -> Iterator[ListEntry]:
        query = (
            f"SELECT {quoted(ENTRY_COLUMNS)} FROM impressions"
            f" WHERE ranker = %s AND seq > %s AND seq <= %s ORDER BY seq LIMIT {PAGE}"
        )
        while page := self._rows(query, (ranker, after, until)):
            yield from map(list_entry_from, page)
            after = page[-1][0]

    def _events(self, ranker: str | None, condition: str, values: Sequence[object]) -> list[Event]:
        mine, whose = ("", ()) if ranker is None else ("ranker = %s AND ", (ranker,))
        query = f"SELECT {quoted(EVENT_COLUMNS)} FROM events WHERE {mine}{condition}"
        return list(map(event_from, self._rows(query, (*whose, *values))))

    def _impressions(self, condition: str, values: Sequence[object]) -> list[Impression]:
        rows = self._rows(
            f"SELECT {WHOLE} FROM impressions JOIN payloads USING (seq) WHERE {condition}"
            " ORDER BY seq LIMIT 50",
            values,
        )
        return list(map(impression_from, rows))


def _one_state(function: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Connection, P], T]:
    """Several statements that see the same state of the database."""

    def asked(connection: Connection, /, *args: P.args, **options: P.kwargs) -> T:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            return function(connection, *args, **options)
        finally:
            with contextlib.suppress(psycopg.OperationalError):  # lost: the first error says so
                connection.execute("ROLLBACK")

    return asked


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
