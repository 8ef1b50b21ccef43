"""Views by position: how often a result is looked at, counted in views at the first position.

They are counted in whole millionths, so that sums are exact in any order and never drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import numpy as np

from rankloop.errors import RankingError, SettingError
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.types import FloatArray, IntArray

Examination: TypeAlias = Literal["log2", "reciprocal", "measured"] | tuple[float, ...]  # a number by position

VIEW = 1_000_000  # millionths in a view at the first position
MEASURED: Final = "measured"  # on the users and the data of a sweep, which puts the numbers in its place
NAMES = ("log2", "reciprocal", MEASURED)
MOST_SUMMED = 16  # positions of which every subset is summed


def check_examination(examination: Examination) -> None:
    """Refuse names that nobody knows, and numbers that no examination could be.

    >>> check_examination((1.0, 0.5, 0.7))
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: examination must be numbers that start above 0, never rise ...
    """
    if isinstance(examination, tuple):
        measured_views(examination)
    elif examination not in NAMES:
        raise SettingError(
            f"examination must be one of {', '.join(NAMES)} or a number for each position, as in (1.0, 0.5), "
            f"found {examination!r}"
        )


def views_at(examination: Examination, k: int) -> IntArray:
    r"""Count the views at the first `k` positions, in whole millionths, [k].

    `"log2"` is $1 / \log_2(1 + \text{rank})$, `"reciprocal"` is $1 / \text{rank}$.

    >>> views_at("reciprocal", 3).tolist(), views_at((0.8, 0.4), 2).tolist()
    ([1000000, 500000, 333333], [1000000, 500000])
    """
    _check_positions(k)
    if not isinstance(examination, str | tuple):
        check_examination(examination)  # which refuses it
    return _views_at(examination, int(k))


@lru_cache(maxsize=256)
def _views_at(examination: Examination, k: int) -> IntArray:
    check_examination(examination)
    if examination == MEASURED:
        raise SettingError(
            "examination='measured' is for a sweep, which measures it on its users: give a number for each "
            "position, as measure_examination finds them"
        )
    if isinstance(examination, tuple):
        if len(examination) < k:
            raise RankingError(
                f"examination has numbers for {len(examination)} positions, and the list has {k}: give more"
            )
        found = measured_views(examination)[:k]
    else:
        found = discounted_views(k) if examination == "log2" else measured_views(1 / np.arange(1, k + 1))
    found.setflags(write=False)  # it is shared
    return found


def measured_views(examination: Sequence[float] | FloatArray) -> IntArray:
    """Probabilities of examination by position, as whole millionths of the first.

    >>> measured_views([0.5, 0.25]).tolist()
    [1000000, 500000]
    """
    given = np.asarray(examination)
    chances = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    falls = chances.ndim == 1 and chances.size and np.isfinite(chances).all() and chances[0] > 0
    if not falls or (chances < 0).any() or (np.diff(chances) > 0).any():
        raise SettingError(
            "examination must be numbers that start above 0, never rise from one position to the next and "
            f"never fall below 0, found {examination!r}"
        )
    views: IntArray = np.rint(chances / chances[0] * VIEW).astype(np.int64)
    return views


def discounted_views(k: int) -> IntArray:
    r"""Count the views that DCG's discount gives to positions, $1 / \log_2(1 + \text{rank})$.

    >>> discounted_views(3).tolist()
    [1000000, 630930, 500000]
    """
    _check_positions(k)
    return measured_views(rank_discounts(k))


def _check_positions(k: int) -> None:
    number: object = k
    if not isinstance(number, int | np.integer) or k < 1:
        raise RankingError(f"a list has a whole number of positions, 1 or more, found {k!r}")


def attainable_views(views: IntArray, counts: IntArray) -> IntArray:
    """Find the most views that groups with so many documents can receive: those of the first positions, [m].

    >>> attainable_views(np.array([10, 5, 3]), np.array([0, 1, 7])).tolist()
    [0, 10, 18]
    """
    return np.concatenate(([0], views.cumsum()))[np.minimum(counts, len(views))]


def least_tolerance(views: IntArray) -> int:
    """Find the smallest tolerance that two groups can be held to for ever: half of the largest gap.

    What one of two groups can receive are the sums of some of the views. Between two neighbouring sums that
    are farther apart than twice the tolerance, an account can be stuck outside of it.

    >>> least_tolerance(measured_views(1 / np.arange(1, 11)))
    50000
    """
    if not len(views) or views.min() < 0:
        raise RankingError(f"views are whole millionths of 0 or more, one number a position, found {views!r}")
    sums = np.zeros(1, dtype=np.int64)
    for view in views[:MOST_SUMMED].tolist():
        sums = np.union1d(sums, sums + view)
    return -(-int(np.diff(sums).max()) // 2)
