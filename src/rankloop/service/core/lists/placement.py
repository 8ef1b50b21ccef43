"""Placement: orders by score and by pins, bounded displacement, and the pairs of a list.

All lists here are rows, best first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush

import numpy as np

from rankloop.types import BoolArray, FloatArray, IntArray


def sort_by_score(scores: FloatArray) -> list[int]:
    """Sort rows by score, best first; equal scores stay in the caller's order.

    >>> sort_by_score(np.array([0.0, 1.0, 0.0]))
    [1, 0, 2]
    """
    order: list[int] = (-scores).argsort(kind="stable").tolist()
    return order


def bound_displacement(wanted: Sequence[int], most: int, k: int) -> list[int]:
    """Make the first `k` of a list like the one wanted in which no row is farther than this from its number.

    `wanted` has every row, numbered in the caller's order. From the top: the row that must stand here because
    it may not sink lower, otherwise the first one wanted of those that may stand so high. No two rows are due
    at one position, so none is left behind.

    >>> bound_displacement([3, 2, 1, 0], 1, 4), bound_displacement([3, 2, 1, 0], 3, 4)
    ([1, 0, 3, 2], [3, 2, 1, 0])
    """
    n, found, taken = len(wanted), list[int](), set[int]()
    places, waiting = np.argsort(wanted).tolist(), list[int]()  # a heap: where rows stand that may stand here
    for row in range(min(most, n)):
        heappush(waiting, places[row])
    for index in range(min(k, n)):
        if index + most < n:
            heappush(waiting, places[index + most])
        due = index - most
        if due < 0 or due in taken:
            due = wanted[heappop(waiting)]
            while due in taken:
                due = wanted[heappop(waiting)]
        taken.add(due)
        found.append(due)
    return found


def place_pins(free: Sequence[int], pins: Mapping[int, int], k: int) -> list[int]:
    """Make a list of `k` with `pins` (position from 1: row) where they must stand, free rows between them.

    >>> place_pins([4, 5, 6], {2: 9}, 3)
    [4, 9, 5]
    """
    rest = iter(free)
    return [pins[position] if position in pins else next(rest) for position in range(1, k + 1)]


def pairs_shown(shown: IntArray) -> tuple[IntArray, IntArray]:
    """List all pairs of a list: the rows that stand above, and those below them.

    >>> above, below = pairs_shown(np.array([7, 5, 6]))
    >>> above.tolist(), below.tolist()
    ([7, 7, 5], [5, 6, 6])
    """
    upper, lower = _pairs_of_indices(len(shown))
    return shown[upper], shown[lower]


@lru_cache(maxsize=4)  # lists of one site are equally long, as a rule; those of 1000 are 8 MB
def _pairs_of_indices(n: int) -> tuple[IntArray, IntArray]:
    upper, lower = np.triu_indices(n, 1)
    return upper, lower


def reversed_pairs(above: IntArray, below: IntArray, scores: FloatArray) -> BoolArray:
    """Find the pairs that stand against the scores; of equal ones, against the caller's order.

    >>> reversed_pairs(*pairs_shown(np.array([1, 0, 2])), np.array([0.9, 0.8, 0.1])).tolist()
    [True, False, False]
    """
    higher, lower = scores[above], scores[below]
    wrong: BoolArray = (higher < lower) | ((higher == lower) & (above > below))
    return wrong
