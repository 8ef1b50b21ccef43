"""Odds of a race: how surely one of two is better, from how often each of them was ahead."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from rankloop.types import FloatArray, IntArray

EVEN = 20.0  # prior of a chance to be ahead, Beta(20, 20): equals are likely, and 58 to 42 is no surprise


def log_win_odds(wins: IntArray) -> FloatArray:
    r"""Logarithm of the odds that `i` is better than `j`, not as good, from `wins[i, j]`, [n, n].

    With $w$ wins and $l$ losses, each as likely as the other under equals, and a chance to win
    $p \sim \mathrm{Beta}(a, a)$ if they are not,

    $$E = 2^{w + l} \, \frac{B(w + a, l + a)}{B(a, a)}.$$

    Among equals $E$ is a martingale that starts at 1: the chance that it ever reaches $c$ is at most $1 / c$,
    however often one looks (Ville). Whoever is not ahead has no odds, and reads $-\infty$.

    >>> log_win_odds(np.array([[0, 30], [10, 0]])).round(2).tolist()
    [[-inf, 2.21], [-inf, -inf]]
    """
    lost = wins.T
    odds = (wins + lost) * np.log(2.0) + betaln(wins + EVEN, lost + EVEN) - betaln(EVEN, EVEN)
    return np.where(wins > lost, odds, -np.inf)


def win_rates(wins: IntArray) -> FloatArray:
    """How often each is ahead of another, on average over the others and the prior, [n].

    >>> win_rates(np.array([[0, 30], [10, 0]])).tolist()
    [0.625, 0.375]
    """
    n = len(wins)
    rates = (wins + EVEN) / (wins + wins.T + 2 * EVEN)
    return np.asarray((rates.sum(axis=1) - rates.diagonal()) / max(n - 1, 1))
