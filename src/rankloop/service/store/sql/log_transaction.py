"""Transaction: what a job can read and write while it alone is writing, on SQLite and on PostgreSQL.

Whoever writes holds the row of `head` until the commit. So entries become visible in the order of their
numbers, what is visible is a prefix of the log, and what a job looked up is still so when it writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple, TypeVar

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
from rankloop.service.store.log_records import COUNTED, JOINED, Decision, Event, Impression, Shown
from rankloop.service.store.payload_dictionary import PayloadCompressor
from rankloop.service.store.snapshot_table import SnapshotTable
from rankloop.service.store.sql.bucket_sums import keep_sums, sum_buckets
from rankloop.service.store.sql.dialect import NO_VALUES, Dialect, Row, Values
from rankloop.service.store.sql.dictionary_table import add_dictionary
from rankloop.service.store.sql.entry_removal import (
    find_old_events,
    find_old_lists,
    find_unmatched_events,
    remove_decisions,
    remove_entries,
)
from rankloop.service.store.sql.log_schema import COUNTED_SQL, JOINED_SQL
from rankloop.service.store.sql.part_totals import add_totals, subtract_totals
from rankloop.service.store.sql.reader_connections import Run
from rankloop.service.store.sql.writer_backend import DECISIONS, SNAPSHOTS, TOTALS, WriterBackend
from rankloop.service.store.store import Job, StoreError

T = TypeVar("T")
TOGETHER = 128  # lists in one round trip
RECORDED = f"SELECT query_id, source FROM events WHERE event_id = :event_id AND {JOINED_SQL}"
EVENT_ID, VERDICT, QUERY_ID, OBJECT_ID, SOURCE, RANKER, LIST_SEQ, AT = map(
    EVENT_COLUMNS.index,
    ("event_id", "verdict", "query_id", "object_id", "source", "ranker", "list_seq", "at"),
)
CONTRIBUTED = f"""SELECT DISTINCT list_seq, object_id FROM events
    WHERE ranker = :ranker AND source = :source AND at >= :since AND source <> '' AND {COUNTED_SQL}"""


def look_up(dialect: Dialect) -> str:
    """Return the statement that finds events and lists by their ids."""
    return f"""SELECT event_id AS name, CAST(NULL AS bigint) AS seq, CAST(NULL AS double precision) AS at,
            CAST(NULL AS text) AS ranker, CAST(NULL AS text) AS shown
        FROM events WHERE event_id {dialect.among("event_ids")} AND {JOINED_SQL}
        UNION ALL SELECT query_id, seq, at, ranker, shown FROM impressions
        WHERE query_id {dialect.among("query_ids")}"""


class Mark(NamedTuple):
    """State of a transaction before a job."""

    head: Head
    past: int
    freed: int


class LogTransaction(SnapshotTable):
    """Transaction on the one connection that writes, shared by the jobs of a group.

    Events wait in a list and are inserted together: when all jobs are done, or when a job has to see them. A
    savepoint is taken before the first statement of a job that writes anything else.
    """

    def __init__(self, backend: WriterBackend, parts: PartCodec, compressor: PayloadCompressor) -> None:
        self.backend, self.dialect, self.source = backend, backend.dialect, self
        self.parts, self.compressor = parts, compressor
        self.connection = backend.connection
        seq, at, anchor_at, reading, self._past = backend.begin()
        self.head = Head(seq, at, None if reading is None else Anchor(anchor_at, reading))
        self._began = self.head, self._past
        self._run: Run = partial(self.dialect.run, self.connection)
        self._events: list[tuple[Any, ...]] = []  # that wait to be inserted, in the order of `EVENT_COLUMNS`
        self._known: set[str] = set()  # ids among them that found their list
        self._mine = 0  # how many of them were there before the job at hand
        self._is_saved = self._tells = False
        self.freed = 0  # bytes of partitions that were dropped
        self._forget()

    def run(self, sql: str, values: Values = NO_VALUES) -> list[Row]:
        """Run a statement, after the events that wait if it is about events, and return its rows."""
        if "events" in sql:
            self.flush_events()
        elif not sql.lstrip().startswith(("SELECT", "WITH")):
            self._save()
        return self._run(sql, values)

    def read(self, function: Callable[[Run], T]) -> T:
        """Call a function whose statements see what was written so far."""
        return function(self.run)

    def read_head(self) -> Head:
        """Return where the log ends, with what was written so far."""
        return self.head

    def attempt(self, job: Job[Any]) -> Outcome:
        """Run a job; if it fails, undo what it did and nothing else."""
        mark = Mark(self.head, self._past, self.freed)
        self._mine, self._is_saved = len(self._events), False
        self._forget()
        outcome: Outcome
        try:
            outcome = job(self), None
            self.backend.check_usable()
        except self.backend.outage_errors:  # the database failed, not the job: the whole group fails
            raise
        except Exception as error:
            self._undo_to(mark)
            outcome = None, error
        if self._is_saved:
            self.connection.execute("RELEASE job")
        return outcome

    def finish(self) -> None:
        """Write what waits, and where the log ends now: all that is left to do before the commit."""
        self._insert_events(len(self._events))
        if (self.head, self._past) != self._began:
            anchor = self.head.anchor
            values = {
                "seq": self.head.seq,
                "at": self.head.at,
                "anchor_at": anchor.at if anchor else None,
                "anchor_clock": anchor.clock if anchor else None,
                "past": self._past,
            }
            self.backend.move_head(values, tell=self._tells)

    def time(self, now: float) -> float:
        """Return the log's time for this reading of the clock; one that is behind is remembered."""
        self.head = self.head.observe(now)
        return self.head.time(now)

    def append(self, record: Impression | Event | Decision) -> int:
        """Add an entry and return its number; its time is its own, or the last entry's if that is later.

        A list's own time is a reading of the clock, for which it gets the log's time.
        An entry with a number of its own keeps it, which must be above all others: for imports.
        """
        seq = record.seq or self.head.seq + 1
        if seq <= self.head.seq:
            raise StoreError(f"entry {seq} comes after entry {self.head.seq}: the log only grows")
        if isinstance(record, Impression):
            if self._find_used([record.query_id]):
                raise StoreError(
                    f"a list was shown under the id {record.query_id!r} before: ids must be unique"
                )
            self._insert_lists([record], seq)
            return seq
        at, self._tells = max(record.at, self.head.at), True
        if isinstance(record, Event):
            self._append_event(record, seq, at)
        else:
            self._append_decision(record, seq, at)
        self.head = self.head.after(seq, at)
        return seq

    def append_all(self, lists: Sequence[Impression]) -> int:
        """Add many lists, and return how many were refused: as a rule for an id that was used before."""
        parts = (lists[start : start + TOGETHER] for start in range(0, len(lists), TOGETHER))
        return sum(map(self._append_part, parts))

    def prefetch(self, *, event_ids: Collection[str], query_ids: Collection[str]) -> None:
        """Look up in one statement what `knows` and `find_shown` will be asked."""
        rows = self._run(look_up(self.dialect), {"event_ids": list(event_ids), "query_ids": list(query_ids)})
        self._found_events |= dict.fromkeys(event_ids, False)
        self._found_lists |= dict.fromkeys(query_ids)
        for name, seq, at, ranker, shown in rows:
            if seq is None:
                self._found_events[name] = True
            else:
                ids = tuple(texts_from(shown))
                self._found_lists[name] = Shown(seq=seq, at=at, ranker=ranker, query_id=name, shown=ids)

    def find_shown(self, query_id: str) -> Shown | None:
        """Return the list that was shown under this id."""
        if query_id not in self._found_lists:
            self.prefetch(event_ids=(), query_ids=(query_id,))
        return self._found_lists[query_id]

    def knows(self, event_id: str) -> bool:
        """Return whether an event of this id has found its list before."""
        if event_id in self._known:
            return True
        if event_id not in self._found_events:
            self.prefetch(event_ids=(event_id,), query_ids=())
        return self._found_events[event_id]

    def find_recorded_event(self, event_id: str) -> tuple[str, str] | None:
        """Return the query_id and the source of the event that `knows` found."""
        for row in self._events:
            if row[EVENT_ID] == event_id and row[VERDICT] in JOINED:
                return row[QUERY_ID], row[SOURCE]
        rows = self._run(RECORDED, {"event_id": event_id})
        return (rows[0][0], rows[0][1]) if rows else None

    def read_contributions(self, ranker: str, source: str, *, since: float) -> Collection[tuple[int, str]]:
        """Return the lists and objects of a source's counted events since a time."""
        rows = self._run(CONTRIBUTED, {"ranker": ranker, "source": source, "since": since})
        waiting = {
            (row[LIST_SEQ], row[OBJECT_ID])
            for row in self._events
            if row[VERDICT] in COUNTED and (row[RANKER], row[SOURCE]) == (ranker, source) and row[AT] >= since
        }
        return waiting.union((seq, name) for seq, name in rows)

    def remove_unmatched_events(self, *, since: float, until: float) -> int:
        """Delete the events of a stretch of time that belong to no ranker; how many there were."""
        found = self.read(partial(find_unmatched_events, since=since, until=until))
        return self.remove_entries(lists=(), events=found)

    def add_dictionary(self, data: bytes, *, ratio: float) -> int:
        """Add a dictionary of payloads and return its number."""
        return add_dictionary(self.run, data, ratio=ratio)

    def sum_buckets(self) -> bool:
        """Sum buckets that have become whole; return whether more are left."""
        self.flush_events()
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
        """Delete what a model that begins with the snapshot of entry `until` does not need.

        That is: the ranker's events up to there; its lists up to there that were shown before a time,
        except those to `keep` and those that a later counted event refers to; decisions of some `kinds`; its
        older snapshots; and, of the same time, events that belong to no ranker. Returns how many there were.
        """
        self.flush_events()
        values = {"ranker": ranker, "until": until, "before": shown_before, "keep": list(keep)}
        self._subtract_totals(find_old_lists(self._run, self.dialect, values))
        dropped, freed = self.backend.drop_old(self.head.seq, values)
        self.freed += freed
        lists = find_old_lists(self._run, self.dialect, values)
        events = find_old_events(self._run, ranker=ranker, until=until, before=shown_before)
        removed = dropped + self._remove(lists, events)
        if decisions := remove_decisions(self._run, self.dialect, ranker, until=until, kinds=kinds):
            self.backend.count_change(DECISIONS)
            removed += decisions
        self.delete_snapshots(ranker, before=until)
        return removed

    def remove_entries(self, *, lists: Collection[int], events: Collection[int]) -> int:
        """Delete lists and events by their numbers, which are never used again; how many there were."""
        self.flush_events()
        self._subtract_totals(lists)
        return self._remove(lists, events)

    def amend(self, decision: Decision) -> None:
        """Put another body in place of that of a decision, whose number says which."""
        self._save()
        self.backend.count_change(DECISIONS)
        values = {"seq": decision.seq, "body": json.dumps(decision.body)}
        self._run("UPDATE decisions SET body = :body WHERE seq = :seq", values)

    def flush_events(self) -> None:
        """Insert the events that wait, so that statements see them."""
        self._save()
        self._insert_events(len(self._events))

    def _append_event(self, event: Event, seq: int, at: float) -> None:
        row = event_row(event, seq, at)
        self.backend.check_event(row)
        self._make_room(seq, at)
        self._events.append(row)
        if event.verdict in JOINED:
            self._known.add(event.event_id)

    def _append_decision(self, decision: Decision, seq: int, at: float) -> None:
        self._save()
        self._run(
            "INSERT INTO decisions (seq, at, ranker, kind, body) VALUES (:seq, :at, :ranker, :kind, :body)",
            {
                "seq": seq,
                "at": at,
                "ranker": decision.ranker,
                "kind": decision.kind,
                "body": json.dumps(decision.body),
            },
        )
        add_totals(self._run, self.dialect, self.parts.sum_totals([decision]))

    def _append_part(self, lists: Sequence[Impression]) -> int:
        used = self._find_used([each.query_id for each in lists])
        chosen: dict[str, Impression] = {}
        for each in lists:
            if each.query_id not in used:
                chosen.setdefault(each.query_id, each)  # of two under one id, the first
        fresh = list(chosen.values())
        self._save()
        self.connection.execute("SAVEPOINT lists")
        before = self.head, self._past
        try:
            self._insert_lists(fresh, self.head.seq + 1)
            refused = 0
        except self.backend.outage_errors:  # the database failed, not the lists
            raise
        except Exception:  # none of them is in: find out which is to blame
            self.connection.execute("ROLLBACK TO lists")
            self.head, self._past = before
            refused = 1 if len(fresh) == 1 else sum(self._append_part([each]) for each in fresh)
        self.connection.execute("RELEASE lists")
        return len(lists) - len(fresh) + refused

    def _find_used(self, query_ids: list[str]) -> set[str]:
        """Find those of the ids under which a list was shown."""
        among = self.dialect.among("query_ids")
        rows = self._run(f"SELECT query_id FROM impressions WHERE query_id {among}", {"query_ids": query_ids})
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
        self.backend.insert_rows("impressions", LIST_COLUMNS, rows)
        self.backend.insert_rows("payloads", PAYLOAD_COLUMNS, payloads)
        add_totals(self._run, self.dialect, self.parts.sum_totals(lists))
        self.head = head
        self._forget()

    def _insert_events(self, count: int) -> None:
        """Insert the first of the events that wait, and keep the sums of their lists right."""
        if not count:
            return
        self._forget()
        rows, among = self._events[:count], f"seq {self.dialect.among_numbers('numbers')}"
        counted = (row[LIST_SEQ] for row in rows if row[VERDICT] in COUNTED)
        listed = sorted({seq for seq in counted if seq is not None})
        with keep_sums(self._run, among, {"numbers": listed}) if listed else nullcontext():
            self.backend.insert_rows("events", EVENT_COLUMNS, rows)
        del self._events[:count]
        if not self._events:
            self._known = set()

    def _subtract_totals(self, lists: Collection[int]) -> None:
        chosen = f"seq {self.dialect.among_numbers('lists')}"
        subtract_totals(self._run, self.dialect, self.parts, chosen, {"lists": sorted(lists)})

    def _remove(self, lists: Collection[int], events: Collection[int]) -> int:
        self.backend.count_removals([*lists, *events])
        self.backend.count_change(TOTALS)
        removed = remove_entries(self._run, self.dialect, lists=lists, events=events)
        self._forget()
        return removed

    def _drop(self, ranker: str, digest: str, seqs: Sequence[int]) -> None:
        if {seq for seq, _ in self.list_snapshots(ranker, digest)} & set(seqs):
            self._save()
            self.backend.count_change(SNAPSHOTS)
        super()._drop(ranker, digest, seqs)

    def _make_room(self, seq: int, at: float) -> None:
        if seq >= self._past:
            self._save()
            self._past = self.backend.make_room(self._past, seq, at)

    def _forget(self) -> None:
        """Forget what was looked up: it may have changed."""
        self._found_events: dict[str, bool] = {}
        self._found_lists: dict[str, Shown | None] = {}

    def _save(self) -> None:
        """Take a savepoint, so that what the job at hand is about to write can be undone, and that alone."""
        if not self._is_saved:
            self._insert_events(self._mine)
            self._mine, self._is_saved = 0, True
            self.connection.execute("SAVEPOINT job")

    def _undo_to(self, mark: Mark) -> None:
        if self._is_saved:
            self.connection.execute("ROLLBACK TO job")
        del self._events[self._mine :]
        self._known = {row[EVENT_ID] for row in self._events if row[VERDICT] in JOINED}
        self.head, self._past, self.freed = mark
