r"""Clicks that a pair still needs until its order is settled: a forecast from what the model knows of it.

Let the model believe that the score difference $\gamma$ of two results is normal with mean $g$ (the gap) and
variance $v$, as `Explanation` has them. A click that chooses between the two adds
$s = \mathbb{E}\,\sigma(\gamma)\sigma(-\gamma)$ to the precision $1/v$. Seen from now, the gap of the future
is a martingale: a Brownian motion in the variance that was resolved. Divided by its own standard deviation
and in the time $\tau = \log(1 + n s v)$ of $n$ such clicks it is

$$ dX = \tfrac{1}{2} X\, d\tau + dW, \qquad X(0) = g / \sqrt{v}, $$

and the order is settled when $|X|$ first reaches $z = \Phi^{-1}(.95)$, one way or the other. The chance that
this has not happened yet is $u(\tau, x)$ with $u_\tau = \tfrac12 u_{xx} + \tfrac12 x u_x$, $u(0, x) = 1$ and
$u(\tau, \pm z) = 0$: one table for all pairs of all rankers. From its quantiles, $n = (e^\tau - 1) / (s v)$.

What it leaves out: that clicks on other pairs tell of this one, too, which makes it faster; that users may
change their minds, and that nobody clicks on either, which makes it slower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import expm
from scipy.special import expit, ndtri

from rankloop.service.core.lists.order_certainty import SETTLED
from rankloop.types import FloatArray

BARRIER = float(ndtri(SETTLED))  # z
POINTS = 101  # between the barriers
STEP, STEPS = 0.02, 700  # of the time: to a precision that is a million times what it was
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
MOST = 1_000_000  # clicks; more is never


@dataclass(frozen=True, slots=True)
class ClicksNeeded:
    """How many clicks between two results settle their order: half of the time fewer, half more."""

    median: int
    low: int  # in one case of ten it takes fewer
    high: int  # in one of ten more

    @property
    def sentence(self) -> str:
        """In words.

        >>> ClicksNeeded(40, 8, 700).sentence
        'about 40 clicks between the two, in 8 of 10 cases 8 to 700'
        """
        if not self.median:
            return "settled"
        about = f"about {self.median:,} click{'' if self.median == 1 else 's'} between the two"
        return f"{about}, in 8 of 10 cases {self.low:,} to {self.high:,}"


def clicks_needed(gap: float, width: float) -> ClicksNeeded | None:
    """The forecast for a pair with this gap and the standard deviation of it; `None`: it is never settled.

    >>> clicks_needed(3.0, 1.0).median, clicks_needed(0.1, 0.0)
    (0, None)
    >>> clicks_needed(0.3, 0.4)
    ClicksNeeded(median=37, low=7, high=500)
    """
    if not (width > 0 and math.isfinite(gap) and math.isfinite(width)):
        return None
    if abs(gap) / width >= BARRIER:
        return ClicksNeeded(0, 0, 0)
    possible = gap + width * NODES
    slope = float(WEIGHTS @ (expit(possible) * expit(-possible)) / WEIGHTS.sum())
    low, median, high = np.expm1(_times(abs(gap) / width)) / (slope * width**2)
    return ClicksNeeded(_rounded(median), _rounded(low), _rounded(high))


def _times(start: float) -> FloatArray:
    """The time by which it is settled in one, five and nine of ten cases, from a gap in its own widths."""
    places, table = _open_still()
    open_still = np.array([np.interp(start, places, row) for row in table])
    found: FloatArray = np.interp([0.1, 0.5, 0.9], 1 - open_still, STEP * np.arange(STEPS + 1))
    return found


@lru_cache(maxsize=1)
def _open_still() -> tuple[FloatArray, FloatArray]:
    """Where a gap may start, [m], and the chance that it is open still after each step, [steps + 1, m]."""
    edges = np.linspace(-BARRIER, BARRIER, POINTS + 2)
    places, apart = edges[1:-1], edges[1] - edges[0]
    spread = 0.5 / apart**2
    generator = np.diag(np.full(POINTS, -2 * spread))
    generator += np.diag(spread + places[:-1] / (4 * apart), 1)
    generator += np.diag(spread - places[1:] / (4 * apart), -1)
    step, now = expm(STEP * generator), np.ones(POINTS)
    table = [now]
    for _ in range(STEPS):
        now = step @ now
        table.append(now)
    return edges, np.pad(np.array(table), ((0, 0), (1, 1)))


def _rounded(clicks: float) -> int:
    return two_digits(max(1, min(MOST, math.ceil(clicks))))


def two_digits(number: int) -> int:
    """More digits than anybody knows are left out.

    >>> two_digits(7), two_digits(37), two_digits(1234)
    (7, 37, 1200)
    """
    return int(round(number, -max(0, len(str(number)) - 2)))
