"""Guardrails: what a list may look like, whatever the policy would like to try.

All lists here are rows, best first. The *reference* is the list without exploration: by score, equal
scores in the caller's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from rankloop.service.core.ranker_settings import RankerSettings
from rankloop.types import BoolArray, FloatArray, IntArray


def by_score(scores: FloatArray) -> list[int]:
    """The reference: the best first, equal scores in the caller's order.

    >>> by_score(np.array([0.0, 1.0, 0.0]))
    [1, 0, 2]
    """
    order: list[int] = (-scores).argsort(kind="stable").tolist()
    return order


def limit_displacement(wanted: Sequence[int], most: int, k: int) -> list[int]:
    """The first `k` of a list like the one wanted in which no row is farther than this from its own number.

    Rows are numbered in the caller's order. From the top: the row that must stand here because it may not
    sink lower, otherwise the first one wanted of those that may stand so high. No two rows are due at one
    position, so nobody is left behind.

    >>> limit_displacement([3, 2, 1, 0], 1, 4), limit_displacement([3, 2, 1, 0], 3, 4)
    ([1, 0, 3, 2], [3, 2, 1, 0])
    """
    waiting, found = list(wanted), []
    for index in range(min(k, len(wanted))):
        due = index - most
        row = due if due in waiting else next(row for row in waiting if row <= index + most)
        waiting.remove(row)
        found.append(row)
    return found


def place_pins(free: Sequence[int], pins: Mapping[int, int], k: int) -> list[int]:
    """A list of `k` in which `pins` (position from 1: row) stand where they must, free rows between them.

    >>> place_pins([4, 5, 6], {2: 9}, 3)
    [4, 9, 5]
    """
    rest = iter(free)
    return [pins[position] if position in pins else next(rest) for position in range(1, k + 1)]


def explored(drawn: list[int], scores: FloatArray, settings: RankerSettings, k: int) -> list[int]:
    """The list that was drawn, as far as the settings allow it."""
    if settings.max_displacement is None:
        return drawn
    shown = set(drawn)
    return bounded(drawn + [row for row in by_score(scores) if row not in shown], settings, k)


def bounded(wanted: list[int], settings: RankerSettings, k: int) -> list[int]:
    """The first `k` that are wanted, none farther from the caller's own position than the settings allow."""
    if settings.max_displacement is None:
        return wanted[:k]
    return limit_displacement(wanted, settings.max_displacement, k)


def pairs_shown(shown: IntArray) -> tuple[IntArray, IntArray]:
    """All pairs of a list: the rows that stand above, and those below them.

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


def discordant(above: IntArray, below: IntArray, scores: FloatArray) -> BoolArray:
    """Discordant pairs: which stand the other way round than in the reference.

    >>> discordant(*pairs_shown(np.array([1, 0, 2])), np.array([0.9, 0.8, 0.1])).tolist()
    [True, False, False]
    """
    higher, lower = scores[above], scores[below]
    wrong: BoolArray = (higher < lower) | ((higher == lower) & (above > below))
    return wrong
