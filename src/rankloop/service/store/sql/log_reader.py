"""Reads of the log, written once for both databases."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from rankloop.errors import DataError
from rankloop.service.store.impression_codec import (
    EVENT_COLUMNS,
    HEAD_COLUMNS,
    WHOLE_COLUMNS,
    event_from,
    head_from,
    impression_from,
)
from rankloop.service.store.impression_parts import PartCodec, PartTotal
from rankloop.service.store.log_clock import Anchor, Head
from rankloop.service.store.log_records import (
    Decision,
    Event,
    Impression,
    ImpressionHead,
    Logged,
    Person,
    Trace,
    Traces,
)
from rankloop.service.store.payload_dictionary import PayloadCompressor
from rankloop.service.store.purge import WORDS, RemovedTexts, removed_texts
from rankloop.service.store.sql.bucket_sums import find_moment
from rankloop.service.store.sql.dialect import Values
from rankloop.service.store.sql.log_schema import COUNTED_SQL, JOINED_SQL
from rankloop.service.store.sql.part_totals import read_totals
from rankloop.service.store.sql.reader_connections import LogSource, Run

Record = TypeVar("Record", Decision, Event, Impression, ImpressionHead)
Page: TypeAlias = Callable[[int, int], Sequence[Record]]

LAST_SEQ = 2**62  # beyond every entry
PAGE = 500  # small rows read at a time
LISTS = 50  # whole lists read at a time
NO_TRACES = Traces()
EVENTS, HEADS, WHOLE = map(", ".join, (EVENT_COLUMNS, HEAD_COLUMNS, WHOLE_COLUMNS))
HEAD = "SELECT seq, at, anchor_at, anchor_clock FROM head"
RANKERS = """WITH RECURSIVE names (name) AS (
    SELECT min(ranker) FROM decisions WHERE ranker > ''
    UNION ALL SELECT (SELECT min(ranker) FROM decisions WHERE ranker > name) FROM names WHERE name IS NOT NULL
) SELECT name FROM names WHERE name IS NOT NULL"""  # one look into the index for each, however many decisions
CHANGED = " UNION ".join(
    f"SELECT ranker FROM {table} WHERE seq > :after AND ranker || '' <> ''"
    for table in ("impressions", "events", "decisions")
)  # by number: without `|| ''` SQLite reads a whole index of names
NO_LIST = "list_seq IS NULL"


class LogReader:
    """Reads of the log from a source: connections of readers, or a transaction with what it has written."""

    source: LogSource
    compressor: PayloadCompressor
    parts: PartCodec

    def read_head(self) -> Head:
        """Return where the log ends: number and time of the last entry."""
        ((seq, at, anchor_at, reading),) = self.source.run(HEAD)
        return Head(seq, at, None if reading is None else Anchor(anchor_at, reading))

    def list_rankers(self) -> list[str]:
        """Return the names of the rankers about which anything was decided, in alphabetical order.

        `SERVICE`, under which decisions about the service as a whole are kept, is none of them.
        """
        return [name for (name,) in self.source.run(RANKERS)]

    def list_changed_rankers(self, *, after: int) -> tuple[int, Collection[str]]:
        """Return the number of the last entry, and the rankers that have entries after one.

        It takes as long as there are such entries, however many rankers there are.
        """

        def look(run: Run) -> tuple[int, Collection[str]]:
            ((seq, *_),) = run(HEAD)
            return seq, {name for (name,) in run(CHANGED, {"after": after})}

        return self.source.read(look)

    def find_impression(self, query_id: str) -> Impression | None:
        """Return a list that was shown, with everything; None if there is none of this id."""
        found = self._find_lists("query_id = :query_id", {"query_id": query_id, "limit": 1})
        return found[0] if found else None

    def find_impressions(self, numbers: Collection[int]) -> dict[str, Impression]:
        """Return lists by the numbers of their entries, by id; without those that are damaged."""
        where = f"seq {self.source.dialect.among_numbers('numbers')}"
        rows = self.source.run(
            f"SELECT {WHOLE} FROM impressions JOIN payloads USING (seq) WHERE {where}",
            {"numbers": list(numbers)},
        )
        found = {}
        for row in rows:
            with suppress(DataError):
                shown = impression_from(row, self.parts, self.compressor)
                found[shown.query_id] = shown
        return found

    def read_impressions(
        self, ranker: str, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Impression]:
        """Yield the lists that were shown, in order; or the `newest` few, the newest first."""
        mine = "ranker = :ranker AND seq > :after"

        def forward(start: int, limit: int) -> list[Impression]:
            return self._find_lists(mine, {"ranker": ranker, "after": start, "limit": limit})

        def backward(start: int, limit: int) -> list[Impression]:
            values = {"ranker": ranker, "after": after, "before": start, "limit": limit}
            return self._find_lists(f"{mine} AND seq < :before", values, newest=True)

        return _pages(forward, after, LISTS) if newest is None else _newest(backward, newest, LISTS)

    def read_events(
        self, ranker: str | None, *, after: int = 0, newest: int | None = None
    ) -> Iterator[Event]:
        """Yield events in order; or the `newest` few, the newest first. Without a ranker, those of all."""
        mine = "seq > :after" if ranker is None else "ranker = :ranker AND seq > :after"

        def forward(start: int, limit: int) -> list[Event]:
            where = f"WHERE {mine} ORDER BY seq LIMIT :limit"
            return self._find_events(where, {"ranker": ranker, "after": start, "limit": limit})

        def backward(start: int, limit: int) -> list[Event]:
            where = f"WHERE {mine} AND seq < :before ORDER BY seq DESC LIMIT :limit"
            return self._find_events(
                where, {"ranker": ranker, "after": after, "before": start, "limit": limit}
            )

        return _pages(forward, after, PAGE) if newest is None else _newest(backward, newest, PAGE)

    def find_events(self, ids: Collection[str] = (), *, query_id: str = "") -> list[Event]:
        """Return the events of these ids that have found their lists, or all that named a list, in order."""
        if query_id:
            return self._find_events(
                f"""WHERE seq IN (
                    SELECT seq FROM events WHERE {NO_LIST} AND query_id = :query_id UNION ALL
                    SELECT seq FROM events
                    WHERE list_seq = (SELECT seq FROM impressions WHERE query_id = :query_id)
                ) ORDER BY seq""",
                {"query_id": query_id},
            )
        where = f"WHERE event_id {self.source.dialect.among('ids')} AND {JOINED_SQL} ORDER BY seq"
        return self._find_events(where, {"ids": list(ids)})

    def read_decisions(
        self,
        ranker: str | None = None,
        *,
        kinds: Collection[str] = (),
        after: int = 0,
        until: int = LAST_SEQ,
        newest: int | None = None,
    ) -> list[Decision]:
        """Return what was decided with `after < seq <= until`, in order; or the `newest` few, newest first.

        Without a ranker: about all, and about the service as a whole. With kinds, only of these.
        """
        conditions = {
            "ranker = :ranker": ranker is not None,
            f"kind {self.source.dialect.among('kinds')}": bool(kinds),
            "seq > :after AND seq <= :until": True,
        }
        where = " AND ".join(each for each, asked in conditions.items() if asked)
        order = "ORDER BY seq" if newest is None else "ORDER BY seq DESC LIMIT :newest"
        rows = self.source.run(
            f"SELECT seq, at, ranker, kind, body FROM decisions WHERE {where} {order}",
            {"ranker": ranker, "kinds": list(kinds), "after": after, "until": until, "newest": newest},
        )
        return [
            Decision(seq=seq, at=at, ranker=name, kind=kind, body=json.loads(body))
            for seq, at, name, kind, body in rows
        ]

    def read_entries(
        self, ranker: str, *, after: int = 0, until: int | None = None, with_lists: bool = False
    ) -> Iterator[Logged]:
        """Return the counted events and the decisions with `after < seq <= until`, in order.

        With the lists that were shown, if they are wanted. What a list holds is not read, so that one that
        is damaged stops nobody.
        """
        last = self.read_head().seq if until is None else until  # all parts end at the same entry
        values = {"ranker": ranker, "until": last}
        mine = "ranker = :ranker AND seq > :after AND seq <= :until"

        def events(start: int, limit: int) -> list[Event]:
            where = f"WHERE {COUNTED_SQL} AND {mine} ORDER BY seq LIMIT :limit"
            return self._find_events(where, values | {"after": start, "limit": limit})

        def lists(start: int, limit: int) -> list[ImpressionHead]:
            return self._find_heads(mine, values | {"after": start, "limit": limit})

        decisions = self.read_decisions(ranker, after=after, until=last)
        shown = _pages(lists, after, PAGE) if with_lists else ()
        return heapq.merge(_pages(events, after, PAGE), decisions, shown, key=lambda each: each.seq)

    def read_parts(
        self, extension: str, ranker: str, *, after: int = 0, until: int | None = None
    ) -> Iterator[tuple[ImpressionHead, Any, set[int]]]:
        """Yield the lists that have a part of this extension: head, part, and the positions clicked.

        Those with `after < seq <= until`, in order; clicks are those of counted events.
        """
        last = self.read_head().seq if until is None else until
        mine = "ranker = :ranker AND parts IS NOT NULL AND seq > :after AND seq <= :until"

        def page(start: int, limit: int) -> list[ImpressionHead]:
            return self._find_heads(mine, {"ranker": ranker, "after": start, "until": last, "limit": limit})

        while heads := page(after, PAGE):
            clicks = self._find_clicks([each.seq for each in heads if extension in each.parts])
            for each in heads:
                if extension in each.parts:
                    yield each, each.parts[extension], clicks.get(each.seq, set())
            after = heads[-1].seq

    def find_moment(self, at: float) -> int:
        """Return the number of the first entry from a moment on; a number beyond all, if there is none."""
        return self.source.read(lambda run: find_moment(run, at))

    def read_totals(self, ranker: str) -> list[PartTotal]:
        """Return the totals of parts of a ranker, by extension, account and name.

        They are the sums over the parts of its lists, and over what its `retain` and `delete` decisions
        carry in `totals` of lists that are gone.
        """
        return read_totals(self.source.run, ranker)

    def find_person_entries(
        self, people: Sequence[Person], *, after: int = 0, found: Traces = NO_TRACES
    ) -> Traces:
        """Return what the log tells of people after an entry: lists, events, and the events of these lists.

        With what was `found` of them before, also later events about those lists.
        """
        ids = {
            name: sorted({getattr(each, field) for each in people} - {""})
            for name, field in (("clients", "client_id"), ("sessions", "session_id"), ("users", "user"))
        }
        among, among_numbers = self.source.dialect.among, self.source.dialect.among_numbers
        theirs = f"client_id {among('clients')} OR session_id {among('sessions')}"

        def look(run: Run) -> Traces:
            values = {**ids, "after": after}
            lists = run(
                f"""SELECT seq, at, ranker, query_id FROM impressions
                WHERE seq > :after AND ({theirs} OR user_id {among("users")}) ORDER BY seq""",
                values,
            )
            shown = [*found.lists, *(_trace(*row) for row in lists)]
            events = run(
                f"""SELECT seq, at, ranker, event_id FROM events
                WHERE seq > :after AND ({theirs} OR list_seq {among_numbers("lists")}
                    OR {NO_LIST} AND query_id {among("names")}) ORDER BY seq""",
                {**values, "lists": [each.seq for each in shown], "names": [each.name for each in shown]},
            )
            return Traces(
                lists=shown[len(found.lists) :],
                events=[_trace(*row) for row in events],
            )

        return self.source.read(look)

    def read_texts(self, entries: Traces) -> RemovedTexts:
        """Return what these lists and events say, to be searched for once they are removed."""
        numbers = {"events": entries.events, "impressions": entries.lists, "payloads": entries.lists}
        among = self.source.dialect.among_numbers("numbers")
        return RemovedTexts.together(
            removed_texts(names, self.source.run(query, {"numbers": [each.seq for each in part]}))
            for table, names in WORDS.items()
            for query in [f"SELECT {', '.join(names)} FROM {table} WHERE seq {among}"]
            for part in _cut(numbers[table], PAGE)
        )

    def _find_events(self, where: str, values: Values) -> list[Event]:
        rows = self.source.run(f"SELECT {EVENTS} FROM events {where}", values)
        return list(map(event_from, rows))

    def _find_lists(self, where: str, values: Values, *, newest: bool = False) -> list[Impression]:
        order = "DESC" if newest else "ASC"
        rows = self.source.run(
            f"""SELECT {WHOLE} FROM impressions JOIN payloads USING (seq)
            WHERE {where} ORDER BY seq {order} LIMIT :limit""",
            values,
        )
        return [impression_from(row, self.parts, self.compressor) for row in rows]

    def _find_clicks(self, seqs: list[int]) -> dict[int, set[int]]:
        """Find the positions with counted events in lists, by their numbers."""
        among = self.source.dialect.among_numbers("seqs")
        rows = self.source.run(
            f"""SELECT list_seq, position FROM events
            WHERE list_seq {among} AND {COUNTED_SQL} AND position IS NOT NULL""",
            {"seqs": seqs},
        )
        found: dict[int, set[int]] = {}
        for seq, position in rows:
            found.setdefault(seq, set()).add(position)
        return found

    def _find_heads(self, where: str, values: Values) -> list[ImpressionHead]:
        rows = self.source.run(
            f"SELECT {HEADS} FROM impressions WHERE {where} ORDER BY seq LIMIT :limit", values
        )
        return [head_from(row, self.parts) for row in rows]


def _trace(seq: int, at: float, ranker: str, name: str) -> Trace:
    return Trace(seq=seq, at=at, ranker=ranker, name=name)


def _pages(page: Page[Record], after: int, limit: int) -> Iterator[Record]:
    """Yield all records after an entry, a page at a time."""
    while found := page(after, limit):
        yield from found
        after = found[-1].seq


def _newest(page: Page[Record], count: int, limit: int) -> Iterator[Record]:
    """Yield so many of the last records, the newest first, a page at a time."""
    before = LAST_SEQ
    while count > 0 and (found := page(before, min(count, limit))):
        yield from found
        before, count = found[-1].seq, count - len(found)


def _cut(entries: Sequence[Trace], size: int) -> Iterator[Sequence[Trace]]:
    return (entries[start : start + size] for start in range(0, len(entries), size))
