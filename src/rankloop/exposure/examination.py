"""Examination by position: how often a result is looked at, compared with the first of its list."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np

from rankloop.errors import RankingError, SettingError
from rankloop.exposure import discounted_looks, whole_looks
from rankloop.types import IntArray

Looks: TypeAlias = str | tuple[float, ...]  # "log2", "reciprocal", "measured" or a number for each position

MEASURED = "measured"  # on the users and the data of a sweep, which puts the numbers in its place
NAMES = ("log2", "reciprocal", MEASURED)


def check_looks(looks: Looks) -> None:
    """Refuse what nobody knows, and numbers that no examination could be.

    >>> check_looks((1.0, 0.5, 0.7))
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: examination must be numbers that start above 0, never rise ...
    """
    if isinstance(looks, str):
        if looks not in NAMES:
            raise SettingError(
                f"looks must be one of {', '.join(NAMES)} or a number for each position, found {looks!r}"
            )
        return
    whole_looks(looks)


@lru_cache(maxsize=256)
def position_looks(looks: Looks, k: int) -> IntArray:
    r"""The looks of the first `k` positions, in whole millionths of the first, [k].

    `"log2"` is $1 / \log_2(1 + \text{rank})$, `"reciprocal"` is $1 / \text{rank}$.

    >>> position_looks("reciprocal", 3).tolist(), position_looks((0.8, 0.4), 2).tolist()
    ([1000000, 500000, 333333], [1000000, 500000])
    """
    if looks == MEASURED:
        raise SettingError(
            "looks='measured' is for a sweep, which measures them on its users: give a number for each "
            "position, as measure_examination finds them"
        )
    if isinstance(looks, tuple):
        if len(looks) < k:
            raise RankingError(
                f"looks has numbers for {len(looks)} positions, and the list has {k}: give more"
            )
        found = whole_looks(looks)[:k]
    else:
        found = discounted_looks(k) if looks == "log2" else whole_looks(1 / np.arange(1, k + 1))
    found.setflags(write=False)  # it is shared
    return found
