"""Choice of a template: the fewest violations within the tolerance, or else the nearest to it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from rankloop.types import FloatArray

Ties: TypeAlias = Literal["random", "least"]


def choose(costs: FloatArray, off: FloatArray, tolerance: float, rng: np.random.Generator, ties: Ties) -> int:
    """The number of a template, by what each costs, [t], and how far off it leaves the accounts, [t].

    One that cannot be filled costs infinitely much.

    >>> costs, off = np.array([3.0, 1.0, 0.0]), np.array([2.0, 4.0, 9.0])
    >>> [choose(costs, off, most, np.random.default_rng(0), "random") for most in (1, 5, 10)]
    [0, 1, 2]
    """
    fits = np.where(off <= tolerance, costs, np.inf)
    least = fits.min()
    if least < np.inf:
        best = (fits == least).nonzero()[0]
        if ties == "least":
            best = best[off[best] == off[best].min()]
    else:
        distance = np.where(costs < np.inf, off, np.inf)
        best = (distance == distance.min()).nonzero()[0]
        best = best[costs[best] == costs[best].min()]
    return int(best[int(rng.random() * len(best))])
