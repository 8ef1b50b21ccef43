"""Statistics over the log, for the pages and the doctor: what happened, and how events were understood."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import ceil
from typing import Protocol, TypeVar

from rankloop.service.store.impression_codec import SUMMARY_COLUMNS, summary_from
from rankloop.service.store.impression_parts import PartCodec
from rankloop.service.store.log_records import (
    SQUATTED,
    EventTally,
    ListFilter,
    ListSummary,
    SourceTally,
    Traffic,
)
from rankloop.service.store.sql.bucket_ranks import ListRanks
from rankloop.service.store.sql.bucket_sums import (
    BEYOND,
    EVENT_SUMS,
    LIST_SUMS,
    SMALL,
    Run,
    find_moment,
    read_sums,
)
from rankloop.service.store.sql.dialect import Dialect, Row
from rankloop.service.store.sql.log_schema import COUNTED_SQL

T = TypeVar("T")
LATEST = 10_000  # events among which clients are counted
TRACED = 50_000  # events among which sources are
BUSIEST = 5  # of them are named
CLICK = f"position IS NOT NULL AND {COUNTED_SQL}"
LONG = 64 << SMALL  # entries of a step that begins with a bucket


class ReadState(Protocol):
    """Call of a function with what runs statements on one state of the database."""

    def __call__(self, function: Callable[[Run], T]) -> T:
        """Call it, and return what it returns."""
        ...


class Statistics:
    """Sums over the log; what a method returns is of one state of the database."""

    def __init__(self, read: ReadState, dialect: Dialect, parts: PartCodec) -> None:
        self._read, self._dialect, self._parts = read, dialect, parts

    def sum_traffic(self, ranker: str, *, since: float, until: float, step: float) -> list[Traffic]:
        """Sum lists and clicks in steps of time; steps without a list are left out.

        A long step begins with a bucket of entries, at a moment a little before its own.
        """

        def read(run: Run) -> list[Traffic]:
            starts = divide_time(since, until, step)
            bounds = [find_moment(run, start) for start in starts]
            begun = self._begin_with_buckets(run, bounds)
            rows = read_sums(run, LIST_SUMS, bounds, ranker=ranker)
            return [_traffic(begun.get(number, starts[number]), sums) for number, *sums in rows]

        return self._read(read)

    def sum_traffic_parts(
        self, ranker: str, *, since: float, until: float, parts: int, minimum: int = 1
    ) -> list[Traffic]:
        """Sum lists and clicks in up to so many parts of equally many lists, `minimum` or more if there are.

        A long part begins with a bucket of entries.
        """

        def read(run: Run) -> list[Traffic]:
            ranks = ListRanks(run, ranker, find_moment(run, since), find_moment(run, until))
            bounds = [ranks.find(rank) for rank in divide_lists(ranks.size, parts, minimum)]
            self._begin_with_buckets(run, bounds)
            query = "SELECT at FROM impressions WHERE ranker = :ranker AND seq >= :seq ORDER BY seq LIMIT 1"
            rows = read_sums(run, LIST_SUMS, bounds, ranker=ranker)
            starts = [run(query, {"ranker": ranker, "seq": bounds[row[0]]})[0][0] for row in rows]
            return [_traffic(start, sums) for start, (_, *sums) in zip(starts, rows, strict=True)]

        return self._read(read)

    def find_lists(self, ranker: str, wanted: ListFilter, *, last: int) -> list[ListSummary]:
        """Find the last lists of those that are wanted, the newest first, with what was clicked in them."""
        clicked = f"EXISTS (SELECT 1 FROM events WHERE list_seq = lists.seq AND {CLICK})"
        conditions = {
            f"{self._dialect.lower('user_query')} LIKE :text ESCAPE '!'": bool(wanted.text),
            "user_query = :query": wanted.query is not None,
            f"{'' if wanted.clicked else 'NOT '}{clicked}": wanted.clicked is not None,
            "mode = :mode": bool(wanted.mode),
            f"fallback {'<>' if wanted.fallback else '='} ''": wanted.fallback is not None,
        }
        asked = [each for each, is_asked in conditions.items() if is_asked]
        query = f"""SELECT {", ".join(SUMMARY_COLUMNS)} FROM (
            SELECT * FROM impressions WHERE ranker = :ranker AND seq < :before
            ORDER BY seq DESC LIMIT :within) AS lists
            WHERE {" AND ".join(asked) or "true"} ORDER BY seq DESC LIMIT :last"""
        values = {
            "ranker": ranker,
            "before": BEYOND if wanted.before is None else wanted.before,
            "within": wanted.within,
            "last": last,
            "text": like(wanted.text),
            "query": wanted.query or "",
            "mode": wanted.mode,
        }

        def read(run: Run) -> list[ListSummary]:
            rows = run(query, {name: value for name, value in values.items() if f":{name}" in query})
            clicks = self._find_clicks(run, [row[0] for row in rows])
            return [summary_from(row, self._parts, clicks[row[0]]) for row in rows]

        return self._read(read)

    def count_events(self, ranker: str | None, *, since: float, until: float) -> EventTally:
        """Count how the events of a stretch of time were understood; without a ranker, of all."""
        whose = "" if ranker is None else "AND ranker = :ranker"
        latest = f"""SELECT client_id, count(*) FROM (SELECT client_id FROM events
            WHERE seq >= :first AND seq < :past {whose} ORDER BY seq DESC LIMIT {LATEST}) AS latest
            GROUP BY client_id ORDER BY 2 DESC, 1"""

        def read(run: Run) -> EventTally:
            bounds = [find_moment(run, since), find_moment(run, until)]
            values = {"first": bounds[0], "past": bounds[1]} | ({} if ranker is None else {"ranker": ranker})
            rows = read_sums(run, EVENT_SUMS, bounds, "verdict", ranker=ranker)
            return _tally([row[1:] for row in rows], run(latest, values))

        return self._read(read)

    def count_sources(self, *, since: float, until: float) -> SourceTally:
        """Count where the last events of a stretch of time came from, of all rankers."""
        query = f"""SELECT source, at, verdict = 'held', verdict = 'duplicate' AND detail = :squatted
            FROM events WHERE seq >= :first AND seq < :past ORDER BY seq DESC LIMIT {TRACED}"""

        def read(run: Run) -> SourceTally:
            first, past = find_moment(run, since), find_moment(run, until)
            return tally_sources(run(query, {"first": first, "past": past, "squatted": SQUATTED}))

        return self._read(read)

    def _begin_with_buckets(self, run: Run, bounds: list[int]) -> dict[int, float]:
        """Move the beginnings of long stretches back to those of summed buckets, and return when these were.

        To count the entries at fifty beginnings one by one takes longer than all the rest.
        """
        long = {
            number: low >> SMALL for number, (low, high) in enumerate(pairwise(bounds)) if high - low > LONG
        }
        query = f"SELECT number, at FROM summed_buckets WHERE number {self._dialect.among_numbers('numbers')}"
        began: dict[int, float] = dict(run(query, {"numbers": sorted(set(long.values()))})) if long else {}
        moved = {}
        for number, bucket in long.items():
            if bucket in began and (number == 0 or bucket << SMALL >= bounds[number - 1]):
                bounds[number], moved[number] = bucket << SMALL, began[bucket]
        return moved

    def _find_clicks(self, run: Run, lists: Sequence[int]) -> dict[int, set[int]]:
        """Find the positions of the results of lists that have a counted event."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        query = f"""SELECT list_seq, position FROM events
            WHERE list_seq {self._dialect.among_numbers("lists")} AND {CLICK}"""
        for seq, position in run(query, {"lists": list(lists)}) if lists else ():
            found[seq].add(position)
        return found


def divide_time(since: float, until: float, step: float) -> list[float]:
    """Return where steps of time begin, and the end of the last one.

    >>> divide_time(0.0, 25.0, 10.0)
    [0.0, 10.0, 20.0, 25.0]
    """
    steps = max(ceil((until - since) / step), 0)
    starts = [start for number in range(steps) if (start := since + number * step) < until]
    return [*starts, until]


def divide_lists(lists: int, parts: int, minimum: int) -> list[int]:
    """Return where parts of equally many lists end, counted in lists, from 0; none has too few.

    >>> divide_lists(7, 3, 1), divide_lists(7, 3, 3), divide_lists(0, 3, 1)
    ([0, 3, 5, 7], [0, 4, 7], [0])
    """
    parts = max(min(parts, lists // minimum), 1)
    size, larger = divmod(lists, parts)
    ends = [number * size + min(number, larger) for number in range(parts + 1)]
    return ends if lists else [0]


def like(text: str) -> str:
    """Return a pattern for whatever has a text in it, in lower case, for LIKE with `!` as escape.

    >>> like("50 % Off!")
    '%50 !% off!!%'
    """
    plain = "".join(f"!{each}" if each in "!%_" else each for each in text.lower())
    return f"%{plain}%"


def tally_sources(rows: Iterable[Row]) -> SourceTally:
    """Count where events came from; a row is a source, a moment, and whether it was held, or its id taken.

    >>> rows = [("s", 0.0, True, False), ("s", 61.0, False, False), ("", 5.0, False, True)]
    >>> tally_sources(rows).busiest
    [('s', 2, 1)]
    """
    sent, held, minutes = Counter[str](), Counter[str](), Counter[tuple[str, float]]()
    events = squatted = 0
    for source, at, is_held, is_taken in rows:
        events, squatted = events + 1, squatted + is_taken
        if source:
            sent[source] += 1
            held[source] += is_held
            minutes[source, at // 60] += 1
    most, whose = min(((-count, source) for (source, _), count in minutes.items()), default=(0, ""))
    ordered = sorted(sent.items(), key=lambda pair: (-pair[1], pair[0]))[:BUSIEST]
    return SourceTally(
        latest=events,
        sources=len(sent),
        busiest=[(source, count, held[source]) for source, count in ordered],
        burst=(whose, -most),
        squatted=squatted,
    )


def _traffic(start: float, sums: Sequence[float]) -> Traffic:
    """Return what happened in a stretch; what was added and taken away again leaves no crumbs."""
    known = dict(zip(LIST_SUMS.columns, sums, strict=True))
    known |= {"reciprocal": float(known["reciprocal"]) if known["clicked"] else 0.0}
    return Traffic(start=start, **known | {"cost": float(known["cost"])})  # type: ignore[arg-type]


def _tally(rows: Sequence[Row], clients: Sequence[Row]) -> EventTally:
    """Return how events were understood, from their sums by verdict and the events of the latest clients."""
    names = list(EVENT_SUMS.columns)
    sums = {name: sum(row[index] for row in rows) for index, name in enumerate(names[1:], start=2)}
    return EventTally(
        verdicts={verdict: events for verdict, events, *_ in rows},
        busiest=[(client, events) for client, events in clients if client][:BUSIEST],
        latest=sum(events for _, events in clients),
        **sums,
    )
