"""PostgreSQL store: one database, one writer with group commit, any number of readers."""

from __future__ import annotations

import contextlib
import heapq
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import psycopg

from rankloop.store.base import CommitUnknown, Job, StoreError
from rankloop.store.columns import (
    EVENT_COLUMNS,
    TRIAL_COLUMNS,
    WHOLE_COLUMNS,
    event_from,
    impression_from,
    trial_list_from,
)
from rankloop.store.grades import GradeScale
from rankloop.store.group_commit import GroupCommitter, Outcome
from rankloop.store.postgres import exposure, snapshots, statistics
from rankloop.store.postgres.connections import Connection, connect, public, sentence, take_lock
from rankloop.store.postgres.schema import PARTITIONED, is_there, migrate
from rankloop.store.postgres.transaction import (
    LAST_SEQ,
    PostgresTransaction,
    quoted,
    read_decisions,
    read_head,
    read_rankers,
)
from rankloop.store.records import (
    Decision,
    Entry,
    Event,
    EventTally,
    ExposureSum,
    ExposureTally,
    GradeTally,
    Impression,
    ListEntry,
    Logged,
    Snapshot,
    Traffic,
    TrialList,
)

T = TypeVar("T")
P = ParamSpec("P")
LOGGER = logging.getLogger("rankloop.store")
PAGE = 500  # rows read at a time
FOLDED = "verdict IN ('accepted', 'late')"
WHOLE = quoted(WHOLE_COLUMNS).replace('"exposure"', "exposure::text")


class PostgresStore:
    """Store in a PostgreSQL database; any number of threads.

    With `synchronous_commit` on: what was acknowledged survives the loss of power. One thread writes, with
    group commit; readers have connections of their own and never wait for it. If the connection is lost, who
    waits is told, and the next job or reader makes a new one. An `exclusive` store holds a lock on the
    connection that writes: another one that asks for it is refused, as is everything that this one would
    write after it has lost it.

    The address is libpq's, `postgresql://user@host:port/database`; `?options=-csearch_path%3Dname` names
    another schema than the usual one. Without `create`, a database without a log is refused and left alone.
    """

    def __init__(self, url: str, *, exclusive: bool = False, create: bool = True) -> None:
        self._url, self._exclusive = url, exclusive
        self._name = public(url)
        self._idle: deque[Connection] = deque()
        self._writing = threading.Lock()  # for a transaction, or for what must not be in one
        self._closed = False
        self._freed = 0  # bytes of partitions that were dropped since the last compaction
        self._writer = self._open_writer()
        try:
            if not create and not is_there(self._writer):
                raise StoreError("it holds no log, and none was to be made")
            migrate(self._writer)
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
        return self.committer.submit(job, urgent=urgent)

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock; changes nothing."""
        return self._read(read_head).time(now)

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log."""
        return self._read(read_head).lag(now)

    def rankers(self) -> Sequence[str]:
        """The names of the rankers about which anything was decided."""
        return self._read(read_rankers)

    def impression(self, query_id: str) -> Impression | None:
        """A list that was shown, with everything."""
        found = self._impressions("query_id = %s", (query_id,))
        return found[0] if found else None

    def impressions(self, ranker: str, *, after: int = 0, last: int | None = None) -> Iterator[Impression]:
        """The lists that were shown, in order; the `last` few, the newest first."""
        if last is not None:
            seqs = self._rows(
                "SELECT seq FROM impressions WHERE ranker = %s AND seq > %s ORDER BY seq DESC LIMIT %s",
                (ranker, after, last),
            )
            for (seq,) in seqs:
                yield from self._impressions("seq = %s", (seq,))
            return
        while page := self._impressions("ranker = %s AND seq > %s", (ranker, after)):
            yield from page
            after = page[-1].seq

    def events(self, ranker: str | None, *, after: int = 0, last: int | None = None) -> Iterator[Event]:
        """Events in order; the `last` few, the newest first."""
        if last is not None:
            yield from self._events(ranker, "seq > %s ORDER BY seq DESC LIMIT %s", (after, last))
            return
        while page := self._events(ranker, f"seq > %s ORDER BY seq LIMIT {PAGE}", (after,)):
            yield from page
            after = page[-1].seq

    def events_of(self, query_id: str) -> Sequence[Event]:
        """The events that named a list, in order."""
        return self._events(None, "query_id = %s ORDER BY seq", (query_id,))

    def decisions(self, ranker: str, *, kind: str | None = None, after: int = 0) -> Sequence[Decision]:
        """What was decided after an entry, in order."""
        return self._read(read_decisions, ranker, kind=kind, after=after)

    def entries(self, ranker: str, *, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """The counted events and the decisions, in order."""
        last = self._read(read_head).seq if until is None else until  # both halves end at the same entry
        events = self._counted(ranker, after, last)
        decisions = self._read(read_decisions, ranker, after=after, until=last)
        return heapq.merge(events, decisions, key=lambda each: each.seq)

    def logged(self, ranker: str, *, after: int = 0, until: int | None = None) -> Iterator[Logged]:
        """The lists that were shown, the counted events and the decisions, in order."""
        last = self._read(read_head).seq if until is None else until  # all parts end at the same entry
        lists = self._list_entries(ranker, after, last)
        entries = self.entries(ranker, after=after, until=last)
        return heapq.merge(lists, entries, key=lambda each: each.seq)

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

    def snapshot(
        self, ranker: str, *, until: int | None = None, before: float | None = None
    ) -> Snapshot | None:
        """The latest snapshot with `seq <= until` and `at <= before`."""
        last, moment = LAST_SEQ if until is None else until, float("inf") if before is None else before
        return self._read(_one_state(snapshots.read), ranker, until=last, before=moment)

    def snapshots(self, ranker: str) -> Sequence[tuple[int, float]]:
        """Number and time of every snapshot, in order; also of those that are damaged."""
        return self._read(snapshots.kept, ranker)

    def traffic(self, ranker: str, *, since: float, until: float, step: float) -> Sequence[Traffic]:
        """Lists and clicks in steps of time."""
        return self._read(statistics.traffic, ranker, since=since, until=until, step=step)

    def in_parts(
        self, ranker: str, *, since: float, until: float, parts: int, least: int = 1
    ) -> Sequence[Traffic]:
        """Lists and clicks in parts of equally many lists."""
        return self._read(statistics.in_parts, ranker, since=since, until=until, parts=parts, least=least)

    def recent(self, ranker: str, *, lists: int, after: int, before: float) -> Traffic:
        """The last lists that were shown after entry `after` and before a time, as one sum."""
        return self._read(statistics.recent, ranker, lists=lists, after=after, before=before)

    def tally(self, ranker: str | None, *, since: float, until: float) -> EventTally:
        """How the events that arrived in a stretch of time were understood."""
        return self._read(statistics.tally, ranker, since=since, until=until)

    def grades(self, ranker: str, *, since: float, until: float, scale: GradeScale) -> GradeTally:
        """How the lists that were shown in a stretch of time were graded."""
        return self._read(statistics.grades, ranker, since=since, until=until, scale=scale)

    def exposures(self, ranker: str) -> Sequence[ExposureSum]:
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

    def exposure_by_query(
        self, ranker: str, *, since: float, until: float, most: int
    ) -> Sequence[ExposureTally]:
        """Exposure for the queries with the most lists."""
        return self._read(_one_state(exposure.exposure_by_query), ranker, since=since, until=until, most=most)

    def compact(self) -> int:
        """Give the space of what was deleted back to the disk; how many bytes.

        A partition that was dropped gave its space back at once. Of what was deleted from others the space
        is used again, and cut off where it is at the end of a table. Nobody waits meanwhile.
        """
        self.committer.refuse_inside_a_job("compact the store")
        freed = self._read(_vacuum)
        with self._writing:
            freed, self._freed = freed + self._freed, 0
        return freed

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
            if self._writer.closed:
                self._writer = self._open_writer()
            try:
                transaction = PostgresTransaction(self._writer)
                outcomes = [transaction.attempt(job) for job in jobs]
                transaction.finish()
                self._commit()
            except BaseException:
                with contextlib.suppress(psycopg.Error):
                    self._writer.execute("ROLLBACK")
                raise
            self._freed += transaction.freed
        return outcomes

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
        connection = connect(self._url)
        try:
            connection.execute("SET synchronous_commit = on")
            if self._exclusive and not take_lock(connection, "service"):
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
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._ask(connect(self._url), function, *args, **options)
        try:
            return self._ask(connection, function, *args, **options)
        except StoreError:
            if not connection.closed:
                raise
        self._close_idle()  # they are as old, or older
        return self._ask(connect(self._url), function, *args, **options)

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
            "SELECT seq, at, query_id, teaches FROM impressions"
            f" WHERE ranker = %s AND seq > %s AND seq <= %s ORDER BY seq LIMIT {PAGE}"
        )
        while page := self._rows(query, (ranker, after, until)):
            for seq, at, query_id, teaches in page:
                yield ListEntry(seq=seq, at=at, ranker=ranker, query_id=query_id, teaches=teaches)
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
    for statement in ("", f"VACUUM {', '.join(PARTITIONED)}, snapshots, blocks, snapshot_blocks", ""):
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
