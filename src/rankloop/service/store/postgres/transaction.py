"""PostgreSQL transaction: what a job can read and write between BEGIN and COMMIT.

Whoever writes holds the row of `head` until the commit. So entries become visible in the order of their
numbers, what is visible is a prefix of the log, and what a job looked up is still so when it writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

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
from rankloop.service.store.log_clock import Anchor, Head
from rankloop.service.store.log_records import (
    COUNTED,
    JOINED,
    Decision,
    Event,
    Impression,
    Shown,
)
from rankloop.service.store.payload_dictionary import PayloadCompressor
from rankloop.service.store.postgres.partitions import add_partition, drop_partition, next_size
from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.postgres.removals import (
    DECISIONS,
    SNAPSHOTS,
    TOTALS,
    count_change,
    count_removals,
)
from rankloop.service.store.snapshot_table import SnapshotTable
from rankloop.service.store.sql.bucket_sums import keep_sums, sum_buckets
from rankloop.service.store.sql.dialect import NO_VALUES, PostgresDialect, Row, Values
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

DIALECT = PostgresDialect()
T = TypeVar("T")
TOGETHER = 128  # lists in one round trip


def quoted(columns: Iterable[str]) -> str:
    """Names for a statement: some of them are words of SQL."""
    return ", ".join(f'"{name}"' for name in columns)


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({quoted(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"


INSERT_LIST = _insert("impressions", LIST_COLUMNS)
INSERT_PAYLOAD = _insert("payloads", PAYLOAD_COLUMNS)
INSERT_EVENT = _insert("events", EVENT_COLUMNS)
OLD_LIST = """ranker = %(ranker)s AND seq <= %(until)s AND at < %(before)s AND query_id <> ALL(%(keep)s)
    AND NOT EXISTS (SELECT 1 FROM events WHERE list_seq = impressions.seq
        AND verdict IN ('accepted', 'late') AND events.seq > %(until)s)"""
OLD_EVENT = "(ranker = %(ranker)s AND seq <= %(until)s OR ranker = '' AND at < %(before)s)"
BEGIN = "BEGIN; SELECT seq, at, anchor_at, anchor_clock, past FROM head FOR UPDATE"
MOVE = "UPDATE head SET seq = %s, at = %s, anchor_at = %s, anchor_clock = %s, past = %s"
TELL = "SELECT pg_notify(%s, '') FROM moved"  # those who listen are told when the commit is done
LOOK_UP = """SELECT event_id, NULL::bigint, NULL::double precision, NULL::text, NULL::text FROM events
    WHERE event_id = ANY(%s::text[]) AND verdict IN ('accepted', 'late', 'not_shown', 'ignored')
    UNION ALL SELECT query_id, seq, at, ranker, shown FROM impressions WHERE query_id = ANY(%s::text[])"""
SEQ, EVENT_ID, VERDICT, QUERY_ID, OBJECT_ID, SOURCE, RANKER, LIST_SEQ, AT = map(
    EVENT_COLUMNS.index,
    ("seq", "event_id", "verdict", "query_id", "object_id", "source", "ranker", "list_seq", "at"),
)


def head_from(seq: int, at: float, anchor_at: float | None, reading: float | None) -> Head:
    """The end of the log from its row."""
    return Head(seq, at, None if anchor_at is None or reading is None else Anchor(anchor_at, reading))


class PostgresTransaction(SnapshotTable):
    """Transaction on the one connection that writes; jobs share it, each within a savepoint.

    Every statement is a way to the database and back. So events wait until all jobs are done, or until one
    has to see them, and a job that writes nothing else needs no savepoint.
    """

    def __init__(
        self,
        connection: Connection,
        parts: PartCodec,
        compressor: PayloadCompressor,
        *,
        channel: str = "",
    ) -> None:
        self._connection, self._channel, self.source, self.parts = connection, channel, self, parts
        self._run = partial(DIALECT.run, connection)
        self.compressor = compressor
        self._told = False  # there is something that others may want to hear of
        begun = connection.execute(BEGIN)
        begun.nextset()
        ((*head, past),) = begun
        self.head, self._past = head_from(*head), past  # past: the first number that has no partition yet
        self._began = self.head, self._past
        self._events: list[tuple[Any, ...]] = []  # that wait to be written, in the order of `EVENT_COLUMNS`
        self._known: set[str] = set()  # ids among them that found their list
        self._forget()
        self._mine = 0  # how many of them were there before the job at hand
        self._saved = False  # there is a savepoint for the job at hand
        self.freed = 0  # bytes of partitions that were dropped

    dialect = PostgresDialect()

    def run(self, sql: str, values: Values = NO_VALUES) -> list[Row]:
        """Run a statement, after the events that wait if it is about events, and return its rows."""
        if not sql.lstrip().startswith(("SELECT", "WITH")):
            self._save()
        if "events" in sql:
            self._save()
            self._write_events(len(self._events))
        return self.dialect.run(self._connection, sql, values)

    def read(self, function: Callable[[Run], T]) -> T:
        """Call a function whose statements see what was written so far."""
        return function(self.run)

    def read_head(self) -> Head:
        """Return where the log ends, with what was written so far."""
        return self.head

    def attempt(self, job: Job[Any]) -> Outcome:
        """Run a job; if it fails, undo what it did and nothing else."""
        before = self.head, self._past, self.freed
        self._mine, self._saved = len(self._events), False
        self._forget()
        outcome: Outcome
        try:
            outcome = job(self), None
            self._refuse_hidden_error()
        except psycopg.OperationalError:  # the database is in trouble, not the job: the whole group fails
            raise
        except Exception as error:
            self._undo()
            self.head, self._past, self.freed = before
            outcome = None, error
        if self._saved:
            self._connection.execute("RELEASE job")
        return outcome

    def finish(self) -> None:
        """Write what waits, and where the log ends now: all that is left to do before the commit."""
        self._write_events(len(self._events))
        if (self.head, self._past) != self._began:
            anchor = (self.head.anchor.at, self.head.anchor.clock) if self.head.anchor else (None, None)
            values = (self.head.seq, self.head.at, *anchor, self._past)
            if self._channel and self._told:
                self._connection.execute(
                    f"WITH moved AS ({MOVE} RETURNING 1) {TELL}", (*values, self._channel)
                )
            else:
                self._connection.execute(MOVE, values)

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
            if self._used([record.query_id]):
                raise StoreError(
                    f"a list was shown under the id {record.query_id!r} before: ids must be unique"
                )
            self._insert_lists([record], seq)
            return seq
        at, self._told = max(record.at, self.head.at), True
        if isinstance(record, Event):
            row = event_row(record, seq, at)
            _check(row)
            self._make_room(seq, at)
            self._events.append(row)
            if record.verdict in JOINED:
                self._known.add(record.event_id)
        else:
            self._save()
            self._connection.execute(
                "INSERT INTO decisions (seq, at, ranker, kind, body) VALUES (%s, %s, %s, %s, %s)",
                (seq, at, record.ranker, record.kind, json.dumps(record.body)),
            )
            add_totals(self._run, DIALECT, self.parts.sum_totals([record]))
        self.head = self.head.after(seq, at)
        return seq

    def append_all(self, lists: Sequence[Impression]) -> int:
        """Add many lists, and return how many of them were refused."""
        parts = (lists[start : start + TOGETHER] for start in range(0, len(lists), TOGETHER))
        return sum(map(self._append_part, parts))

    def _drop(self, ranker: str, digest: str, seqs: Sequence[int]) -> None:
        if {seq for seq, _ in self.list_snapshots(ranker, digest)} & set(seqs):
            self._save()
            count_change(self._connection, SNAPSHOTS)
        super()._drop(ranker, digest, seqs)

    def prefetch(self, *, event_ids: Collection[str], query_ids: Collection[str]) -> None:
        """Fetch in one go what `knows` and `shown` will be asked."""
        rows = self._connection.execute(LOOK_UP, (list(event_ids), list(query_ids)), binary=True)
        self._looked_up_events |= dict.fromkeys(event_ids, False)
        self._looked_up_lists |= dict.fromkeys(query_ids)
        for name, seq, at, ranker, shown in rows:
            if seq is None:
                self._looked_up_events[name] = True
            else:
                found = Shown(seq=seq, at=at, ranker=ranker, query_id=name, shown=tuple(texts_from(shown)))
                self._looked_up_lists[name] = found

    def find_shown(self, query_id: str) -> Shown | None:
        """The list that was shown under this id."""
        if query_id not in self._looked_up_lists:
            self.prefetch(event_ids=(), query_ids=(query_id,))
        return self._looked_up_lists[query_id]

    def knows(self, event_id: str) -> bool:
        """Whether an event of this id has found its list before."""
        if event_id in self._known:
            return True
        if event_id not in self._looked_up_events:
            self.prefetch(event_ids=(event_id,), query_ids=())
        return self._looked_up_events[event_id]

    def find_recorded_event(self, event_id: str) -> tuple[str, str] | None:
        """The query_id and the source of the event that `knows` found."""
        for row in self._events:
            if row[EVENT_ID] == event_id and row[VERDICT] in JOINED:
                return row[QUERY_ID], row[SOURCE]
        found = self._connection.execute(
            "SELECT query_id, source FROM events WHERE event_id = %s"
            " AND verdict IN ('accepted', 'late', 'not_shown', 'ignored')",
            (event_id,),
        ).fetchone()
        return None if found is None else (found[0], found[1])

    def read_contributions(self, ranker: str, source: str, *, since: float) -> Collection[tuple[int, str]]:
        """Counted events of a source since a time: lists of a ranker, and objects."""
        rows = self._connection.execute(
            "SELECT DISTINCT list_seq, object_id FROM events WHERE ranker = %s AND source = %s AND at >= %s"
            " AND source <> '' AND verdict IN ('accepted', 'late')",
            (ranker, source, since),
        )
        waiting = {
            (row[LIST_SEQ], row[OBJECT_ID])
            for row in self._events
            if row[VERDICT] in COUNTED and (row[RANKER], row[SOURCE]) == (ranker, source) and row[AT] >= since
        }
        return waiting.union((seq, name) for seq, name in rows)

    def remove_unmatched_events(self, *, since: float, until: float) -> int:
        """Delete the events of a stretch of time that belong to no ranker."""
        self._save()
        self._write_events(len(self._events))
        found = find_unmatched_events(self._run, since=since, until=until)
        return self.remove_entries(lists=(), events=found)

    def add_dictionary(self, data: bytes, *, ratio: float) -> int:
        """Add a dictionary of payloads; its number."""
        self._save()
        return add_dictionary(self._run, data, ratio=ratio)

    def sum_buckets(self) -> bool:
        """Sum buckets that have become whole; whether more are left."""
        self._save()
        self._write_events(len(self._events))
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
        """Delete what a model that begins at entry `until` does not need.

        A partition of which nothing is left is dropped; from the others, rows are deleted.
        """
        self._save()
        self._write_events(len(self._events))
        values = {"ranker": ranker, "until": until, "before": shown_before, "keep": list(keep)}
        lists = find_old_lists(self._run, DIALECT, values)
        self._subtract_totals(lists)
        dropped = sum(self._drop_if_old(first, values) for first in self._whole_partitions(until))
        lists = find_old_lists(self._run, DIALECT, values)
        events = find_old_events(self._run, ranker=ranker, until=until, before=shown_before)
        removed = self._remove(lists, events)
        if decisions := remove_decisions(self._run, DIALECT, ranker, until=until, kinds=kinds):
            count_change(self._connection, DECISIONS)
            removed += decisions
        self.delete_snapshots(ranker, before=until)
        return dropped + removed

    def remove_entries(self, *, lists: Collection[int], events: Collection[int]) -> int:
        """Delete lists and events by their numbers."""
        self._save()
        self._write_events(len(self._events))
        self._subtract_totals(lists)
        return self._remove(lists, events)

    def _subtract_totals(self, lists: Collection[int]) -> None:
        chosen = f"seq {DIALECT.among_numbers('lists')}"
        subtract_totals(self._run, DIALECT, self.parts, chosen, {"lists": sorted(lists)})

    def _remove(self, lists: Collection[int], events: Collection[int]) -> int:
        count_removals(self._connection, [*lists, *events])
        count_change(self._connection, TOTALS)
        removed = remove_entries(self._run, DIALECT, lists=lists, events=events)
        self._forget()
        return removed

    def amend(self, decision: Decision) -> None:
        """Put another body in place of that of a decision."""
        self._save()
        count_change(self._connection, DECISIONS)
        body = json.dumps(decision.body)
        self._connection.execute("UPDATE decisions SET body = %s WHERE seq = %s", (body, decision.seq))

    def _whole_partitions(self, until: int) -> list[int]:
        """The partitions of which every number is given away and up to `until`."""
        rows = self._connection.execute(
            "SELECT first FROM partitions WHERE past - 1 <= %s ORDER BY first", (min(until, self.head.seq),)
        )
        return [first for (first,) in rows]

    def _drop_if_old(self, first: int, values: Mapping[str, object]) -> int:
        """Drop a partition if nothing in it has to stay; how many entries that were."""
        ((lists, events, left),) = self._connection.execute(
            f"""SELECT (SELECT count(*) FROM impressions_{first}), (SELECT count(*) FROM events_{first}),
                EXISTS (SELECT 1 FROM impressions_{first} impressions WHERE NOT ({OLD_LIST}))
                OR EXISTS (SELECT 1 FROM events_{first} WHERE NOT {OLD_EVENT})""",
            values,
            binary=True,
        )
        if left:
            return 0
        self.freed += drop_partition(self._connection, first)
        return int(lists + events)

    def _append_part(self, lists: Sequence[Impression]) -> int:
        used = self._used([each.query_id for each in lists])
        fresh = list({each.query_id: each for each in reversed(lists) if each.query_id not in used}.values())
        fresh.reverse()  # of two under one id, the first
        self._save()
        run = self._connection.execute
        run("SAVEPOINT lists")
        before = self.head, self._past
        try:
            self._insert_lists(fresh, self.head.seq + 1)
            refused = 0
        except psycopg.OperationalError:  # the database is in trouble, not the lists
            raise
        except Exception:  # none of them is in: find out which is to blame
            run("ROLLBACK TO lists")
            self.head, self._past = before
            refused = 1 if len(fresh) == 1 else sum(self._append_part([each]) for each in fresh)
        run("RELEASE lists")
        return len(lists) - len(fresh) + refused

    def _used(self, query_ids: Sequence[str]) -> set[str]:
        """Those of the ids under which a list was shown."""
        rows = self._connection.execute(
            "SELECT query_id FROM impressions WHERE query_id = ANY(%s)", (list(query_ids),)
        )
        return {query_id for (query_id,) in rows}

    def _insert_lists(self, lists: Sequence[Impression], seq: int) -> None:
        """Add lists with the numbers from `seq` on, under ids that nobody used."""
        rows, payloads, head = [], [], self.head
        for number, each in enumerate(lists, start=seq):
            head = head.observe(each.at)  # it was shown at a reading of the clock
            head = head.after(number, head.time(each.at))
            rows.append(list_row(each, number, head.at, self.parts))
            payloads.append(payload_row(each, number, self.compressor))
        self._save()
        self._make_room(head.seq, head.at)
        with self._connection.cursor() as cursor:
            cursor.executemany(INSERT_LIST, rows)
            cursor.executemany(INSERT_PAYLOAD, payloads)
        add_totals(self._run, DIALECT, self.parts.sum_totals(lists))
        self.head = head
        self._forget()

    def _make_room(self, seq: int, at: float) -> None:
        """See to it that there is a partition for a number."""
        if seq >= self._past:
            self._save()
            last = self._connection.execute(
                "SELECT first, since FROM partitions ORDER BY first DESC LIMIT 1"
            ).fetchone()
            first, since = last or (self._past, at)
            size = next_size(self._past - first, at - since)
            past = max(seq, self._past) + size
            add_partition(self._connection, first=self._past, past=past, since=at)
            self._past = past

    def _forget(self) -> None:
        """What was looked up may have changed."""
        self._looked_up_events: dict[str, bool] = {}
        self._looked_up_lists: dict[str, Shown | None] = {}

    def _save(self) -> None:
        """Make sure that what the job at hand is about to write can be undone, and that alone."""
        if not self._saved:
            self._write_events(self._mine)
            self._mine, self._saved = 0, True
            self._connection.execute("SAVEPOINT job")

    def _undo(self) -> None:
        if self._saved:
            self._connection.execute("ROLLBACK TO job")
        del self._events[self._mine :]
        self._known = {row[EVENT_ID] for row in self._events if row[VERDICT] in JOINED}

    def _refuse_hidden_error(self) -> None:
        if self._connection.info.transaction_status is TransactionStatus.INERROR:
            raise StoreError("a job hid an error of the database, which does nothing after one")

    def _write_events(self, count: int) -> None:
        """Write the first of the events that wait."""
        if count:
            self._forget()
            rows, among = self._events[:count], f"seq {DIALECT.among_numbers('numbers')}"
            counted = (row[LIST_SEQ] for row in rows if row[VERDICT] in COUNTED)
            listed = sorted({seq for seq in counted if seq is not None})
            with (
                keep_sums(self._run, among, {"numbers": listed}) if listed else nullcontext(),
                self._connection.cursor() as cursor,
            ):
                cursor.executemany(INSERT_EVENT, rows)
            del self._events[:count]
            if not self._events:
                self._known = set()


def _check(row: Sequence[Any]) -> None:
    """Refuse an event that the database would refuse later, when it has company."""
    for name, value in zip(EVENT_COLUMNS, row, strict=True):
        if isinstance(value, str):
            if "\0" in value:
                raise StoreError(f"{name} holds a null character, which PostgreSQL cannot keep")
            value.encode()
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise StoreError(f"{name} must be a whole number of 64 bits, found {value}")
