"""Sums over stretches of the log: which of those that are kept add up to one, and exact numbers to add.

Statistics are kept by buckets of 2⁹ and of 2¹⁸ entries, so a stretch of any length is a few large buckets,
some small ones at its two ends, and fewer than 2¹⁰ entries that are counted one by one. The log's time never
goes back: a stretch of time is a stretch of numbers. Shares and costs are whole numbers of a small unit, so
that sums are the same in any order, and what was added can be taken away.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil
from typing import TypeAlias

from rankloop.service.store.log_records import SourceTally, Traffic

SMALL, LARGE = 9, 18  # buckets of 2 ** so many entries
ONE = 2**32  # what 1 / position is counted in
PAIR = 2**20  # what a cost is counted in
LATEST = 10_000  # events among which clients are counted
TRACED = 50_000  # events among which sources are
Piece: TypeAlias = tuple[int, int, int]  # 0, SMALL or LARGE; from which entry or bucket; before which
NAMES = ("lists", "clicked", "reciprocal", "fallbacks", "explored", "cost", "pairs", "settled")


def cover(first: int, past: int) -> list[Piece]:
    """The entries from `first` to before `past`, as entries, small buckets and large ones, in order.

    >>> cover(500, 1030)
    [(0, 500, 512), (9, 1, 2), (0, 1024, 1030)]
    """
    return list(_cover(first, past, (LARGE, SMALL)))


def _cover(first: int, past: int, shifts: Sequence[int]) -> Iterator[Piece]:
    if first >= past:
        return
    if not shifts:
        yield 0, first, past
        return
    shift, *finer = shifts
    low, high = -(-first >> shift), past >> shift
    if low >= high:
        yield from _cover(first, past, finer)
        return
    yield from _cover(first, low << shift, finer)
    yield shift, low, high
    yield from _cover(high << shift, past, finer)


def edges(since: float, until: float, step: float) -> list[float]:
    """Where steps of time begin, and the end of the last one.

    >>> edges(0.0, 25.0, 10.0)
    [0.0, 10.0, 20.0, 25.0]
    """
    steps = max(ceil((until - since) / step), 0)
    starts = [start for number in range(steps) if (start := since + number * step) < until]
    return [*starts, until]


def like(text: str) -> str:
    """A pattern for whatever has a text in it, in lower case, for LIKE with `!` as escape.

    >>> like("50 % Off!")
    '%50 !% off!!%'
    """
    plain = "".join(f"!{each}" if each in "!%_" else each for each in text.lower())
    return f"%{plain}%"


def part_ends(lists: int, parts: int, least: int) -> list[int]:
    """Where parts of equally many lists end, counted in lists, from 0; none has fewer than `least`.

    >>> part_ends(7, 3, 1), part_ends(7, 3, 3), part_ends(0, 3, 1)
    ([0, 3, 5, 7], [0, 4, 7], [0])
    """
    parts = max(min(parts, lists // least), 1)
    size, larger = divmod(lists, parts)
    ends = [number * size + min(number, larger) for number in range(parts + 1)]
    return ends if lists else [0]


def found_by_rank(
    first: int,
    past: int,
    ends: Callable[[int], Sequence[int]],
    counts: Callable[[int, int, int], Sequence[tuple[int, int]]],
    numbers: Callable[[int, int], Sequence[int]],
) -> list[int]:
    """The numbers of lists by their rank in a stretch; `ends` says which, told how many there are.

    `counts` gives for a piece of buckets how many lists each has, `numbers` the lists among some entries.
    A rank that is the number of lists is `past`.
    """
    units = list(_units(cover(first, past), counts, numbers))
    sums = list(accumulate((lists for _, _, lists in units), initial=0))
    found = []
    for rank in ends(sums[-1]):
        if rank == sums[-1]:
            found.append(past)
            continue
        index = bisect_right(sums, rank) - 1
        shift, start, _ = units[index]
        found.append(_within(shift, start, rank - sums[index], counts, numbers))
    return found


def _units(
    pieces: Sequence[Piece],
    counts: Callable[[int, int, int], Sequence[tuple[int, int]]],
    numbers: Callable[[int, int], Sequence[int]],
) -> Iterator[tuple[int, int, int]]:
    """Buckets and single lists in order: 0 or the size of the bucket, its number, how many lists it has."""
    for shift, low, high in pieces:
        if shift:
            yield from ((shift, bucket, lists) for bucket, lists in counts(shift, low, high))
        else:
            yield from ((0, seq, 1) for seq in numbers(low, high))


def _within(
    shift: int,
    start: int,
    rank: int,
    counts: Callable[[int, int, int], Sequence[tuple[int, int]]],
    numbers: Callable[[int, int], Sequence[int]],
) -> int:
    """A list by its rank within a bucket."""
    if not shift:
        return start
    if shift == LARGE:
        width = LARGE - SMALL
        for bucket, lists in counts(SMALL, start << width, (start + 1) << width):
            if rank < lists:
                return _within(SMALL, bucket, rank, counts, numbers)
            rank -= lists
    return numbers(start << shift, (start + 1) << shift)[rank]


def numbered(bounds: Sequence[int]) -> list[tuple[int, Piece]]:
    """The pieces of several stretches that follow one another, with the number of each stretch."""
    return [(number, piece) for number, pair in enumerate(pairwise(bounds)) for piece in cover(*pair)]


def traffic_of(start: float, sums: Sequence[int]) -> Traffic:
    """What happened in a stretch of time, from whole numbers in the order of `NAMES`."""
    known: dict[str, float] = dict(zip(NAMES, map(int, sums), strict=True))
    known |= {"reciprocal": known["reciprocal"] / ONE, "cost": known["cost"] / PAIR}
    return Traffic(start=start, **known)  # type: ignore[arg-type]


def sources_of(rows: Iterable[tuple[str, int, int, int, int]]) -> SourceTally:
    """Where events came from; rows of a source and a minute say how many came, were held, had a taken id.

    >>> sources_of([("s", 0, 2, 1, 0), ("s", 1, 1, 0, 0), ("", 0, 5, 0, 1)]).busiest
    [('s', 3, 1)]
    """
    sent, held, minutes = Counter[str](), Counter[str](), Counter[tuple[str, int]]()
    events = squatted = 0
    for source, minute, count, back, taken in rows:
        events, squatted = events + count, squatted + taken
        if source:
            sent[source] += count
            held[source] += back
            minutes[source, minute] += count
    most, whose = min(((-count, source) for (source, _), count in minutes.items()), default=(0, ""))
    ordered = sorted(sent.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    return SourceTally(
        latest=events,
        sources=len(sent),
        busiest=[(source, count, held[source]) for source, count in ordered],
        burst=(whose, -most),
        squatted=squatted,
    )
