"""Looks: how much of a look at the first position a result gets at each position.

They are counted in whole millionths, so that sums are exact in any order and never drift.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankloop.errors import SettingError
from rankloop.types import FloatArray, IntArray

LOOK = 1_000_000  # millionths in a look at the first position
MOST_SUMMED = 16  # positions of which every subset is summed


def whole_looks(examination: Sequence[float] | FloatArray) -> IntArray:
    """Probabilities of examination by position, as whole millionths of the first.

    >>> whole_looks([0.5, 0.25]).tolist()
    [1000000, 500000]
    """
    chances = np.asarray(examination, dtype=np.float64)
    falls = chances.ndim == 1 and chances.size and np.isfinite(chances).all() and chances[0] > 0
    if not falls or (chances < 0).any() or (np.diff(chances) > 0).any():
        raise SettingError(
            "examination must be numbers that start above 0, never rise from one position to the next and "
            f"never fall below 0, found {examination!r}"
        )
    looks: IntArray = np.rint(chances / chances[0] * LOOK).astype(np.int64)
    return looks


def discounted_looks(k: int) -> IntArray:
    r"""The looks of DCG's discount, $1 / \log_2(1 + \text{rank})$.

    >>> discounted_looks(3).tolist()
    [1000000, 630930, 500000]
    """
    return whole_looks(1 / np.log2(np.arange(2, k + 2)))


def attainable(looks: IntArray, counts: IntArray) -> IntArray:
    """The most looks that groups with so many documents can be given: all of the first positions, [m].

    >>> attainable(np.array([10, 5, 3]), np.array([0, 1, 7])).tolist()
    [0, 10, 18]
    """
    return np.concatenate(([0], looks.cumsum()))[np.minimum(counts, len(looks))]


def least_tolerance(looks: IntArray) -> int:
    """The smallest tolerance that two groups can be held to for ever: half of the largest gap.

    What one of two groups can be granted are the sums of some of the looks. Between two neighbouring sums
    that are farther apart than twice the tolerance, an account can be stuck outside of it.

    >>> least_tolerance(whole_looks(1 / np.arange(1, 11)))
    50000
    """
    sums = np.zeros(1, dtype=np.int64)
    for look in looks[:MOST_SUMMED].tolist():
        sums = np.union1d(sums, sums + look)
    return -(-int(np.diff(sums).max()) // 2)
