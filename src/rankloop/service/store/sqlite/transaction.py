"""SQLite transaction: what a job can read and write between BEGIN and COMMIT."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from functools import cache, partial
from typing import Any, TypeVar

from rankloop.service.store.group_commit import Outcome
from rankloop.service.store.impression_codec import (
    EVENT_COLUMNS,
    LIST_COLUMNS,
    PAYLOAD_COLUMNS,
    event_row,
    list_row,
    payload_row,
    texts_from,
)
from rankloop.service.store.impression_parts import PartCodec
from rankloop.service.store.log_clock import Head
from rankloop.service.store.log_records import (
    COUNTED,
    Decision,
    Event,
    Impression,
    Shown,
)
from rankloop.service.store.payload_dictionary import PayloadCompressor
from rankloop.service.store.snapshot_table import SnapshotTable
from rankloop.service.store.sql.bucket_sums import keep_sums, sum_buckets
from rankloop.service.store.sql.dialect import NO_VALUES, Row, SqliteDialect, Values
from rankloop.service.store.sql.dictionary_table import add_dictionary
from rankloop.service.store.sql.entry_removal import (
    find_old_events,
    find_old_lists,
    find_unmatched_events,
    remove_decisions,
    remove_entries,
)
from rankloop.service.store.sql.part_totals import add_totals, subtract_totals
from rankloop.service.store.sql.reader_connections import Run
from rankloop.service.store.store import Job, StoreError

DIALECT = SqliteDialect()
T = TypeVar("T")
TOGETHER = (128, 64, 32, 16, 8, 4, 2, 1)  # lists in one statement


@cache
def _insert(table: str, columns: tuple[str, ...], rows: int = 1) -> str:
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * rows)}"


INSERT_EVENT = _insert("events", EVENT_COLUMNS)
VERDICT, LIST_SEQ = map(EVENT_COLUMNS.index, ("verdict", "list_seq"))
MOVE = "UPDATE head SET seq = ?, at = ?, anchor_at = ?, anchor_clock = ?"


class SqliteTransaction(SnapshotTable):
    """Transaction on the one connection that writes; jobs share it, each within a savepoint."""

    def __init__(
        self, connection: sqlite3.Connection, parts: PartCodec, compressor: PayloadCompressor
    ) -> None:
        connection.execute("BEGIN IMMEDIATE")
        self._connection, self.source, self.parts = connection, self, parts
        self._began = self.head = super().read_head()
        self.compressor = compressor
        self._run = partial(DIALECT.run, connection)

    dialect = SqliteDialect()

    def run(self, sql: str, values: Values = NO_VALUES) -> list[Row]:
        """Run a statement and return its rows."""
        return self.dialect.run(self._connection, sql, values)

    def read(self, function: Callable[[Run], T]) -> T:
        """Call a function whose statements see what was written so far."""
        return function(self.run)

    def read_head(self) -> Head:
        """Return where the log ends, with what was written so far."""
        return self.head

    def attempt(self, job: Job[Any]) -> Outcome:
        """Run a job; if it fails, undo what it did and nothing else."""
        self._connection.execute("SAVEPOINT job")
        before = self.head
        outcome: Outcome
        try:
            outcome = job(self), None
        except sqlite3.OperationalError:  # the file is in trouble, not the job: the whole group fails
            raise
        except Exception as error:
            self._connection.execute("ROLLBACK TO job")
            self.head = before
            outcome = None, error
        self._connection.execute("RELEASE job")
        return outcome

    def finish(self) -> None:
        """Write where the log ends now: all that is left to do before the commit."""
        if self.head != self._began:
            anchor = (self.head.anchor.at, self.head.anchor.clock) if self.head.anchor else (None, None)
            self._connection.execute(MOVE, (self.head.seq, self.head.at, *anchor))

    def time(self, now: float) -> float:
        """The log's time for this reading of the clock."""
        self.head = self.head.observe(now)
        return self.head.time(now)

    def append(self, record: Impression | Event | Decision) -> int:
        """Add an entry and return its number."""
        seq = record.seq or self.head.seq + 1
        if seq <= self.head.seq:
            raise StoreError(f"entry {seq} comes after entry {self.head.seq}: the log only grows")
        if isinstance(record, Impression):
            try:
                self._insert_lists([record], seq)
            except sqlite3.IntegrityError as error:
                raise StoreError(
                    f"a list was shown under the id {record.query_id!r} before: ids must be unique"
                ) from error
            return seq
        at = max(record.at, self.head.at)
        if isinstance(record, Event):
            self._insert_event(event_row(record, seq, at))
        else:
            self._connection.execute(
                "INSERT INTO decisions (seq, at, ranker, kind, body) VALUES (?, ?, ?, ?, ?)",
                (seq, at, record.ranker, record.kind, json.dumps(record.body)),
            )
            add_totals(self._run, DIALECT, self.parts.sum_totals([record]))
        self.head = self.head.after(seq, at)
        return seq

    def append_all(self, lists: Sequence[Impression]) -> int:
        """Add many lists, and return how many of them were refused.

        As many as possible in one statement: at the end of each, the thread has to wait for the interpreter.
        """
        refused = start = 0
        while start < len(lists):
            size = next(size for size in TOGETHER if start + size <= len(lists))
            part = lists[start : start + size]
            try:
                self._insert_lists(part, self.head.seq + 1)
            except sqlite3.OperationalError:  # the file is in trouble, not the lists
                raise
            except Exception:  # none of them is in: find out which is to blame
                refused += 1 if size == 1 else sum(self.append_all([each]) for each in part)
            start += size
        return refused

    def prefetch(self, *, event_ids: Collection[str], query_ids: Collection[str]) -> None:
        """Nothing to do: it is all at hand."""

    def find_shown(self, query_id: str) -> Shown | None:
        """The list that was shown under this id."""
        row = self._connection.execute(
            "SELECT seq, at, ranker, shown FROM impressions WHERE query_id = ?", (query_id,)
        ).fetchone()
        if row is None:
            return None
        seq, at, ranker, shown = row
        return Shown(seq=seq, at=at, ranker=ranker, query_id=query_id, shown=tuple(texts_from(shown)))

    def knows(self, event_id: str) -> bool:
        """Whether an event of this id has found its list before."""
        found = self._connection.execute(
            "SELECT 1 FROM events WHERE event_id = ?"
            " AND verdict IN ('accepted', 'late', 'not_shown', 'ignored')",
            (event_id,),
        )
        return found.fetchone() is not None

    def find_recorded_event(self, event_id: str) -> tuple[str, str] | None:
        """The query_id and the source of the event that `knows` found."""
        row = self._connection.execute(
            "SELECT query_id, source FROM events WHERE event_id = ?"
            " AND verdict IN ('accepted', 'late', 'not_shown', 'ignored')",
            (event_id,),
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def read_contributions(self, ranker: str, source: str, *, since: float) -> Collection[tuple[int, str]]:
        """Counted events of a source since a time: lists of a ranker, and objects."""
        rows = self._connection.execute(
            "SELECT DISTINCT list_seq, object_id FROM events WHERE ranker = ? AND source = ? AND at >= ?"
            " AND source != '' AND verdict IN ('accepted', 'late')",
            (ranker, source, since),
        )
        return set(rows)

    def remove_unmatched_events(self, *, since: float, until: float) -> int:
        """Delete the events of a stretch of time that belong to no ranker."""
        found = find_unmatched_events(self._run, since=since, until=until)
        return self.remove_entries(lists=(), events=found)

    def add_dictionary(self, data: bytes, *, ratio: float) -> int:
        """Add a dictionary of payloads; its number."""
        return add_dictionary(self._run, data, ratio=ratio)

    def sum_buckets(self) -> bool:
        """Sum buckets that have become whole; whether more are left."""
        return sum_buckets(self._run, head=self.head.seq)

    def remove_before(
        self,
        ranker: str,
        *,
        until: int,
        shown_before: float,
        keep: Collection[str] = (),
        kinds: Collection[str] = (),
    ) -> int:
        """Delete what a model that begins at entry `until` does not need."""
        values = {"ranker": ranker, "until": until, "before": shown_before, "keep": list(keep)}
        lists = find_old_lists(self._run, DIALECT, values)
        events = find_old_events(self._run, ranker=ranker, until=until, before=shown_before)
        removed = self.remove_entries(lists=lists, events=events)
        removed += remove_decisions(self._run, DIALECT, ranker, until=until, kinds=kinds)
        self.delete_snapshots(ranker, before=until)
        return removed

    def remove_entries(self, *, lists: Collection[int], events: Collection[int]) -> int:
        """Delete lists and events by their numbers."""
        chosen = f"seq {DIALECT.among_numbers('lists')}"
        subtract_totals(self._run, DIALECT, self.parts, chosen, {"lists": sorted(lists)})
        return remove_entries(self._run, DIALECT, lists=lists, events=events)

    def amend(self, decision: Decision) -> None:
        """Put another body in place of that of a decision."""
        body = json.dumps(decision.body)
        self._connection.execute("UPDATE decisions SET body = ? WHERE seq = ?", (body, decision.seq))

    def _insert_event(self, row: tuple[Any, ...]) -> None:
        listed = [row[LIST_SEQ]] if row[VERDICT] in COUNTED and row[LIST_SEQ] is not None else []
        among = f"seq {DIALECT.among_numbers('numbers')}"
        with keep_sums(self._run, among, {"numbers": listed}) if listed else nullcontext():
            self._connection.execute(INSERT_EVENT, row)

    def _insert_lists(self, lists: Sequence[Impression], seq: int) -> None:
        """Add lists with the numbers from `seq` on: all or none, for only the first statement can fail."""
        rows, payloads, head = list[object](), list[object](), self.head
        for number, each in enumerate(lists, start=seq):
            head = head.observe(each.at)  # it was shown at a reading of the clock
            head = head.after(number, head.time(each.at))
            rows += list_row(each, number, head.at, self.parts)
            payloads += payload_row(each, number, self.compressor)
        self._connection.execute(_insert("impressions", LIST_COLUMNS, len(lists)), rows)
        self._connection.execute(_insert("payloads", PAYLOAD_COLUMNS, len(lists)), payloads)
        add_totals(self._run, DIALECT, self.parts.sum_totals(lists))
        self.head = head
