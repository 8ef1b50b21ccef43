"""Sums over stretches of the log: one SELECT over some entries, and a cache of it for whole buckets.

Entries come in buckets of 2⁹ and of 2¹⁸ numbers. Once a bucket is whole, its sums are kept; a stretch of any
length is then a few large buckets, some small ones at its ends, and entries that are summed one by one. The
log's time never goes back, so that a stretch of time is a stretch of numbers. A change of lists that were
summed takes them out before it, and adds them as they are afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from rankloop.service.store.sql.dialect import Row, Values
from rankloop.service.store.sql.log_schema import COUNTED_SQL

SMALL, LARGE = 9, 18  # buckets of 2 ** so many entries
WIDTH = LARGE - SMALL
PATIENCE = 0.02  # seconds for which other jobs wait for the sums of new buckets
BEYOND = 2**62  # every entry
Run: TypeAlias = Callable[[str, Values], list[Row]]
Piece: TypeAlias = tuple[int, int, int]  # 0, SMALL or LARGE; from which entry or bucket; before which


class Sums(NamedTuple):
    """Sums of one kind of entries: where they are kept, of what, apart by which keys, and their columns."""

    table: str
    entries: str
    keys: tuple[str, ...]
    columns: dict[str, str]
    first: str = "NULL"  # what else is known of an entry: the position of its first click

    def select(self, chosen: str, *keys: str, beside: str = "") -> str:
        """Return the SELECT of the sums of chosen entries by keys."""
        sums = ", ".join(f"{expression} AS {name}" for name, expression in self.columns.items())
        return f"""SELECT {", ".join(keys)}, {sums} FROM (
            SELECT *, {self.first} AS first FROM {beside} {self.entries} AS entries WHERE {chosen}) AS entries
            GROUP BY {_positions(keys)}"""

    def total(self, source: str, *keys: str) -> str:
        """Return the SELECT of sums of sums by keys."""
        sums = ", ".join(
            f"sum({name}) AS {name}" if name in REALS else f"CAST(sum({name}) AS bigint) AS {name}"
            for name in self.columns
        )
        return f"SELECT {', '.join(keys)}, {sums} FROM {source} GROUP BY {_positions(keys)}"

    def change(self, chosen: str, sign: str) -> str:
        """Return the UPDATE that adds chosen entries to the kept sums, or takes them out.

        A bucket without a row was not summed yet.
        """
        small = self.select(chosen, *self.keys, f"seq >> {SMALL} AS small")
        sizes = f"(SELECT {SMALL} AS shift UNION ALL SELECT {LARGE}) AS sizes"
        both = f"({small}) AS small_buckets CROSS JOIN {sizes}"
        keys = "shift", f"small >> (shift - {SMALL}) AS number", *self.keys
        return self._update(self.total(both, *keys), sign)

    def change_large(self, chosen: str) -> str:
        """Return the UPDATE that takes chosen small buckets out of the large ones."""
        small = f"{self.table} WHERE shift = {SMALL} AND {chosen}"
        keys = f"{LARGE} AS shift", f"number >> {WIDTH} AS number", *self.keys
        return self._update(self.total(small, *keys), "-")

    def _update(self, change: str, sign: str) -> str:
        sets = ", ".join(f"{name} = {self.table}.{name} {sign} change.{name}" for name in self.columns)
        same = " AND ".join(f"{self.table}.{key} = change.{key}" for key in ("shift", "number", *self.keys))
        return f"UPDATE {self.table} SET {sets} FROM ({change}) AS change WHERE {same}"

    def insert(self, select: str) -> str:
        """Return the INSERT of new buckets."""
        names = ", ".join(("shift", "number", *self.keys, *self.columns))
        return f"INSERT INTO {self.table} ({names}) {select}"


REALS = ("reciprocal", "cost")
LIST_SUMS = Sums(
    table="list_sums",
    entries="impressions",
    keys=("ranker",),
    columns={
        "lists": "count(*)",
        "clicked": "count(first)",
        "reciprocal": "coalesce(sum(CAST(1 AS double precision) / nullif(first, 0)), 0)",
        "fallbacks": "count(*) FILTER (WHERE fallback <> '')",
        "explored": "CAST(sum(explored) AS bigint)",
        "cost": "sum(cost)",
        "pairs": "CAST(coalesce(sum(pairs) FILTER (WHERE settled IS NOT NULL), 0) AS bigint)",
        "settled": "CAST(coalesce(sum(settled), 0) AS bigint)",
    },
    # a click stands behind its list in the log: earlier partitions are not looked at
    first=f"""(SELECT min(position) FROM events
        WHERE list_seq = entries.seq AND events.seq > entries.seq AND {COUNTED_SQL})""",
)
EVENT_SUMS = Sums(
    table="event_sums",
    entries="events",
    keys=("ranker", "verdict"),
    columns={
        "events": "count(*)",
        "one_based": "count(*) FILTER (WHERE ordinal = position)",
        "zero_based": "count(*) FILTER (WHERE ordinal = position - 1)",
        "misplaced": "count(*) FILTER (WHERE ordinal NOT IN (position - 1, position))",
        "ahead": "count(*) FILTER (WHERE occurred_at - at > 60)",
        "behind": "count(*) FILTER (WHERE at - occurred_at > 3600)",
    },
)


@contextmanager
def keep_sums(run: Run, chosen: str, values: Values) -> Iterator[None]:
    """Take lists out of the kept sums, and put them back as they are after a change.

    `chosen` is a condition on the number of a list, `seq`.
    """
    run(LIST_SUMS.change(chosen, "-"), values)
    yield
    run(LIST_SUMS.change(chosen, "+"), values)


def subtract_events(run: Run, chosen: str, values: Values) -> None:
    """Take events that are about to be deleted out of the kept sums; `chosen` is a condition on `seq`."""
    run(EVENT_SUMS.change(chosen, "-"), values)


def subtract_range(run: Run, first: int, past: int) -> None:
    """Take all entries from `first` to before `past` out of the kept sums, before they are deleted.

    Whole buckets are not counted again.
    """
    for shift, low, high in cover(first, past, find_summed(run)):
        for sums in (LIST_SUMS, EVENT_SUMS):
            values, within = {"low": low, "high": high}, "number >= :low AND number < :high"
            if not shift:
                run(sums.change("seq >= :low AND seq < :high", "-"), values)
                continue
            if shift == SMALL:
                run(sums.change_large(within), values)
            run(f"DELETE FROM {sums.table} WHERE shift = {shift} AND {within}", values)
            if shift == LARGE:
                smaller = {"low": low << WIDTH, "high": high << WIDTH}
                run(f"DELETE FROM {sums.table} WHERE shift = {SMALL} AND {within}", smaller)


def drop_empty_sums(run: Run) -> None:
    """Delete the sums of buckets from which everything was deleted."""
    run("DELETE FROM list_sums WHERE lists = 0", {})
    run("DELETE FROM event_sums WHERE events = 0", {})


def sum_buckets(run: Run, *, head: int, patience: float = PATIENCE) -> bool:
    """Sum small buckets that have become whole, and large ones behind them; whether more are left.

    It runs in a transaction that alone writes; `head` is the number of the log's last entry.
    """
    end, last = time.monotonic() + patience, find_summed(run) - 1
    while (found := _find_bucket(run, last + 1)) is not None:
        number, at = found
        if (number + 1) << SMALL > head + 1:
            break
        if number >> WIDTH > last >> WIDTH:
            _sum_large(run, last >> WIDTH)
        _sum_small(run, number, at)
        last = number
        if time.monotonic() > end:
            return True
    return False


def find_summed(run: Run) -> int:
    """Find the number before which all small buckets are summed."""
    ((number,),) = run("SELECT coalesce(max(number) + 1, 0) FROM summed_buckets", {})
    return int(number)


def find_moment(run: Run, at: float) -> int:
    """Find the first list or event from a moment on; a number beyond all if there is none."""
    before = "SELECT number FROM summed_buckets WHERE at < :at ORDER BY at DESC, number DESC LIMIT 1"
    values = {"at": at, "first": sum(number for (number,) in run(before, {"at": at})) << SMALL}
    return min((seq for seq, _ in _find_entries(run, "AND at >= :at", values)), default=BEYOND)


def cover(first: int, past: int, summed: int) -> list[Piece]:
    """Cover the entries from `first` to before `past` by entries, small buckets and large ones, in order.

    >>> cover(500, 1030, summed=2), cover(500, 1030, summed=1)
    ([(0, 500, 512), (9, 1, 2), (0, 1024, 1030)], [(0, 500, 1030)])
    """
    return list(_cover(first, past, ((LARGE, (summed - 1) >> WIDTH), (SMALL, summed))))


def read_sums(run: Run, sums: Sums, bounds: Sequence[int], *keys: str, ranker: str | None) -> list[Row]:
    """Read sums of the entries between neighbouring bounds: the number of the pair, keys, and columns.

    Without a ranker, of all. What has no entry is left out.
    """
    summed = find_summed(run)
    pieces = [(step, *piece) for step, pair in enumerate(pairwise(bounds)) for piece in cover(*pair, summed)]
    if not pieces:
        return []
    whose = "true" if ranker is None else "ranker = :ranker"
    kept = f"""SELECT step, {", ".join((*keys, *sums.columns))} FROM pieces CROSS JOIN {sums.table} AS kept
        WHERE kept.shift = pieces.shift AND number >= low AND number < high AND {whose}"""
    chosen = f"pieces.shift = 0 AND seq >= low AND seq < high AND {whose}"
    single = sums.select(chosen, "step", *keys, beside="pieces CROSS JOIN")
    total = sums.total(f"({kept} UNION ALL {single}) AS parts", "step", *keys)
    rows = ", ".join(map(str, pieces))
    query = f"WITH pieces (step, shift, low, high) AS (VALUES {rows}) {total} ORDER BY 1"
    return run(query, {} if ranker is None else {"ranker": ranker})


def _positions(keys: Sequence[str]) -> str:
    return ", ".join(str(number) for number, _ in enumerate(keys, start=1))


def _find_entries(run: Run, condition: str, values: Values) -> list[Row]:
    """Find the first list and the first event from a number on."""
    query = f"SELECT seq, at FROM {{}} WHERE seq >= :first {condition} ORDER BY seq LIMIT 1"
    return [row for table in ("impressions", "events") for row in run(query.format(table), values)]


def _find_bucket(run: Run, number: int) -> tuple[int, float] | None:
    """Find the first small bucket with an entry from a number on, and when it began; gaps cost nothing."""
    found = min(_find_entries(run, "", {"first": number << SMALL}), default=None)
    return None if found is None else (found[0] >> SMALL, found[1])


def _sum_small(run: Run, number: int, at: float) -> None:
    values = {"first": number << SMALL, "past": (number + 1) << SMALL}
    for sums in (LIST_SUMS, EVENT_SUMS):
        keys = f"{SMALL} AS shift", f"seq >> {SMALL} AS number", *sums.keys
        run(sums.insert(sums.select("seq >= :first AND seq < :past", *keys)), values)
    run("INSERT INTO summed_buckets (number, at) VALUES (:number, :at)", {"number": number, "at": at})


def _sum_large(run: Run, number: int) -> None:
    values = {"first": number << WIDTH, "past": (number + 1) << WIDTH}
    for sums in (LIST_SUMS, EVENT_SUMS):
        kept = f"{sums.table} WHERE shift = {SMALL} AND number >= :first AND number < :past"
        run(sums.insert(sums.total(kept, f"{LARGE} AS shift", f"number >> {WIDTH}", *sums.keys)), values)


def _cover(first: int, past: int, limits: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    if first >= past:
        return
    if not limits:
        yield 0, first, past
        return
    (shift, limit), *finer = limits
    low, high = -(-first >> shift), min(past >> shift, limit)
    if low >= high:
        yield from _cover(first, past, finer)
        return
    yield from _cover(first, low << shift, finer)
    yield shift, low, high
    yield from _cover(high << shift, past, finer)
