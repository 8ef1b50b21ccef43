"""SQLite store: one file, one writer with group commit, any number of readers."""

from __future__ import annotations

import contextlib
import heapq
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

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
    texts,
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
from rankloop.service.store.purge import Blocker, PurgeOutcome, RemovedTexts
from rankloop.service.store.sql.bucket_sums import Run
from rankloop.service.store.sql.dialect import SqliteDialect
from rankloop.service.store.sql.log_schema import UNIQUE_INDEXES, check_version, create_schema
from rankloop.service.store.sql.traffic_statistics import Statistics
from rankloop.service.store.sqlite import snapshots
from rankloop.service.store.sqlite.exposure import (
    exposure,
    exposure_in_parts,
    read_exposures,
)
from rankloop.service.store.sqlite.file_purge import purge_file
from rankloop.service.store.sqlite.file_space import (
    INCREMENTAL,
    empty_write_ahead_log,
    find_readers,
    shrink_file,
)
from rankloop.service.store.sqlite.statistics import (
    grades,
)
from rankloop.service.store.sqlite.transaction import (
    LAST_SEQ,
    SqliteTransaction,
    read_changed,
    read_decisions,
    read_head,
    read_rankers,
    read_traces,
)
from rankloop.service.store.store import Job, StoreError

T = TypeVar("T")
PAGE = 500  # rows read at a time
PAGE_BYTES = 16384  # a list is some ten thousand bytes: in SQLite's own 4096 it takes three times the calls
FOLDED = "verdict IN ('accepted', 'late')"
DIALECT = SqliteDialect()


class SqliteStore:
    """Store in one SQLite file; any number of threads, one process.

    Write-ahead log with `synchronous=FULL`: what was acknowledged survives the loss of power. One thread
    writes, with group commit; readers have connections of their own and never wait for it. With `read_only`
    the file is left as it is, also beside a service that runs: one of an earlier release is refused.
    """

    not_covered: tuple[str, ...] = ("copies of its file that other programs made",)  # by a purge
    synchronous = "FULL"  # how SQLite waits for the disk
    committer_type: type[GroupCommitter] = GroupCommitter

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self._path, self._read_only = Path(path), read_only
        self._idle: deque[sqlite3.Connection] = deque()
        self._opened: list[sqlite3.Connection] = []
        self._opening = threading.Lock()
        self._writing = threading.Lock()  # for a transaction, or for what must not be in one
        self._closed = False
        self._seen: dict[int, float] = {}  # readers in the way of a purge, and since when they are known
        self.statistics = Statistics(self._read_state, DIALECT)
        try:
            self._writer = self._open()
            if not read_only:
                self._prepare()
            check_version(self._writer, DIALECT)
        except (sqlite3.Error, StoreError) as error:
            self._close_all()
            raise StoreError(f"{self._path} cannot be opened as a store: {error}") from error
        self.committer = self.committer_type(self._transact, name=f"writer of {self._path.name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Have a job done; its result is there when it is durable."""
        return self.committer.submit(job, urgent=urgent)

    def describe_outage(self) -> str:
        """Nothing: it is here."""
        return ""

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock; changes nothing."""
        with self._reader() as connection:
            return read_head(connection).time(now)

    def lag(self, now: float) -> float:
        """How many seconds the clock is behind the log."""
        with self._reader() as connection:
            return read_head(connection).lag(now)

    def list_rankers(self) -> Sequence[str]:
        """The names of the rankers about which anything was decided."""
        with self._reader() as connection:
            return read_rankers(connection)

    def list_changed_rankers(self, *, after: int) -> tuple[int, Collection[str]]:
        """The number of the last entry, and the rankers that have entries after one."""
        with self._reader() as connection, _one_state(connection):
            return read_head(connection).seq, read_changed(connection, after)

    def find_impression(self, query_id: str) -> Impression | None:
        """A list that was shown, with everything."""
        found = self._impressions("query_id = ?", (query_id,))
        return found[0] if found else None

    def read_impressions(
        self, ranker: str, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Impression]:
        """The lists that were shown, in order; or the `newest` few, the newest first."""
        if newest is not None:
            seqs = self._rows(
                "SELECT seq FROM impressions WHERE ranker = ? AND seq > ? ORDER BY at DESC, seq DESC LIMIT ?",
                (ranker, after, newest),
            )
            for (seq,) in seqs:
                yield from self._impressions("seq = ?", (seq,))
            return
        while page := self._impressions("ranker = ? AND seq > ?", (ranker, after)):
            yield from page
            after = page[-1].seq

    def read_events(
        self, ranker: str | None, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Event]:
        """Events in order; or the `newest` few, the newest first."""
        if newest is not None:
            yield from self._events(ranker, "seq > ? ORDER BY seq DESC LIMIT ?", (after, newest))
            return
        while page := self._events(ranker, f"seq > ? ORDER BY seq LIMIT {PAGE}", (after,)):
            yield from page
            after = page[-1].seq

    def find_events(self, ids: Collection[str] = (), *, query_id: str = "") -> Sequence[Event]:
        """The events of these ids that have found their lists, or those that named a list, in order."""
        if query_id:
            return self._events(None, "query_id = ? ORDER BY seq", (query_id,))
        named = f"event_id IN (SELECT value FROM json_each(?)) AND verdict IN {JOINED} ORDER BY seq"
        return self._events(None, named, (texts(list(ids)),))

    def read_decisions(self, ranker: str, *, kind: str | None = None, after: int = 0) -> Sequence[Decision]:
        """What was decided after an entry, in order."""
        with self._reader() as connection:
            return read_decisions(connection, ranker, kind=kind, after=after)

    def read_entries(
        self, ranker: str, *, after: int = 0, until: int | None = None, with_lists: bool = False
    ) -> Iterator[Logged]:
        """The counted events and the decisions, with the lists if they are wanted, in order."""
        with self._reader() as connection:
            last = read_head(connection).seq if until is None else until  # all parts end at the same entry
        lists = self._list_entries(ranker, after, last) if with_lists else ()
        events = self._counted(ranker, after, last)
        with self._reader() as connection:
            decisions = read_decisions(connection, ranker, after=after, until=last)
        return heapq.merge(lists, events, decisions, key=lambda each: each.seq)

    def trial_lists(self, ranker: str, *, trial: int, after: int = 0) -> Iterator[TrialList]:
        """The lists of a trial that were shown after an entry, in order."""
        query = (
            f"SELECT {', '.join(TRIAL_COLUMNS)} FROM impressions"
            " WHERE ranker = ? AND assignment IS NOT NULL AND seq > ?"
            f" AND json_extract(assignment, '$.trial') = ? ORDER BY seq LIMIT {PAGE}"
        )
        while page := self._rows(query, (ranker, after, trial)):
            yield from map(trial_list_from, page)
            after = page[-1][0]

    def load_latest(
        self, ranker: str, *, until: int | None = None, before: float | None = None
    ) -> Snapshot | None:
        """The latest snapshot with `seq <= until` and `at <= before`."""
        last = LAST_SEQ if until is None else until
        with self._reader() as connection, _one_state(connection):
            moment = float("inf") if before is None else before
            return snapshots.read(connection, ranker, until=last, before=moment)

    def list_snapshots(self, ranker: str) -> Sequence[tuple[int, float]]:
        """Number and time of every snapshot, in order; also of those that are damaged."""
        with self._reader() as connection:
            return snapshots.kept(connection, ranker)

    def grades(self, ranker: str, *, since: float, until: float, scale: GradeScale) -> GradeTally:
        """How the lists that were shown in a stretch of time were graded."""
        with self._reader() as connection:
            return grades(connection, ranker, since=since, until=until, scale=scale)

    def read_totals(self, ranker: str) -> Sequence[ExposureSum]:
        """The exposure accounts of a ranker, by account and group."""
        with self._reader() as connection:
            return read_exposures(connection, ranker)

    def exposure(self, ranker: str, *, since: float, until: float, step: float) -> Sequence[ExposureTally]:
        """Exposure in steps of time."""
        with self._reader() as connection, _one_state(connection):
            return exposure(connection, ranker, since=since, until=until, step=step)

    def exposure_in_parts(
        self, ranker: str, *, account: int, since: float, until: float, parts: int, least: int = 1
    ) -> Sequence[ExposureTally]:
        """Exposure that counts for one account, in parts of equally many lists."""
        with self._reader() as connection, _one_state(connection):
            return exposure_in_parts(
                connection, ranker, account=account, since=since, until=until, parts=parts, least=least
            )

    def count_waiting_jobs(self) -> int:
        """How many jobs wait to be written."""
        return self.committer.waiting()

    def measure_size(self) -> int:
        """How many bytes the file and its write-ahead log take."""
        return self._bytes()

    def find_person_entries(self, person: Person, *, after: int = 0) -> Traces:
        """What the log tells of a person after an entry."""
        with self._reader() as connection, _one_state(connection):
            return read_traces(connection, person, after=after)

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
            return purge_file(self._path, self._alone, self._reader, texts)
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
                transaction = SqliteTransaction(self._writer)
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

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else is reading with; there are never more than readers at once."""
        if self._closed:
            raise StoreError("the store is closed")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._open()
            connection.execute("PRAGMA query_only = ON")
        try:
            yield connection
        except sqlite3.Error as error:
            raise StoreError(f"{self._path} cannot be read: {error}") from error
        finally:
            self._idle.append(connection)

    def _read_state(self, function: Callable[[Run], T]) -> T:
        with self._reader() as connection, _one_state(connection):
            return function(partial(DIALECT.run, connection))

    def _rows(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        with self._reader() as connection:
            return connection.execute(query, values).fetchall()

    def _close_all(self) -> None:
        for connection in self._opened:
            connection.close()

    def _counted(self, ranker: str, after: int, until: int) -> Iterator[Event]:
        condition = f"{FOLDED} AND seq > ? AND seq <= ? ORDER BY seq LIMIT {PAGE}"
        while page := self._events(ranker, condition, (after, until)):
            yield from page
            after = page[-1].seq

    def _list_entries(self, ranker: str, after: int, until: int) -> Iterator[ListEntry]:
        query = (
            f"SELECT {', '.join(ENTRY_COLUMNS)} FROM impressions"
            f" WHERE ranker = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT {PAGE}"
        )
        while page := self._rows(query, (ranker, after, until)):
            yield from map(list_entry_from, page)
            after = page[-1][0]

    def _events(self, ranker: str | None, condition: str, values: Sequence[object]) -> list[Event]:
        whose = "ranker = ?" if ranker is not None else "? IS NULL"
        columns = ", ".join(EVENT_COLUMNS)
        rows = self._rows(f"SELECT {columns} FROM events WHERE {whose} AND {condition}", (ranker, *values))
        return list(map(event_from, rows))

    def _impressions(self, condition: str, values: Sequence[object]) -> list[Impression]:
        rows = self._rows(
            f"SELECT {', '.join(WHOLE_COLUMNS)}"
            f" FROM impressions JOIN payloads USING (seq) WHERE {condition} ORDER BY seq LIMIT 50",
            values,
        )
        return list(map(impression_from, rows))


@contextlib.contextmanager
def _one_state(connection: sqlite3.Connection) -> Iterator[None]:
    """Several statements that see the same state of the file."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
