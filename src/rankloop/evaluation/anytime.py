r"""A lower confidence bound that may be looked at any time: a bet against every smaller mean.

For numbers $X_i \ge 0$ with mean $\mu$, each capital

$$K_t(m) = \frac{1}{J} \sum_{j=1}^{J} \prod_{i \le t} \left(1 - f_j + f_j \frac{X_i}{m}\right)$$

is a fair game if $m = \mu$, whatever the fractions $f_j$: with probability $1 - \delta$ it never reaches
$1 / \delta$. So all $m$ with $\max_t K_t(m) \ge 1 / \delta$ are below the mean. No upper limit of $X$ is
needed.
"""

from __future__ import annotations

import numpy as np

from rankloop.errors import SettingError
from rankloop.types import FloatArray, IntArray

FRACTIONS = 2.0 ** -np.arange(1.0, 25.0)  # of the capital, that a bet puts at risk
HALVINGS = 40


def anytime_lower(values: FloatArray, level: float = 0.95) -> float:
    """The largest mean that the bets have refuted at some time.

    >>> anytime_lower(np.zeros(100))
    0.0
    >>> 0.8 < anytime_lower(np.ones(200)) < 1
    True

    Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting. JRSS B, 2024.
    """
    if values.size and values.min() < 0:
        raise SettingError("a bound by betting is for numbers of 0 or more")
    times = np.flatnonzero(values)  # a bet only wins where something came
    if not times.size:
        return 0.0
    target = -np.log(1 - level)
    low, high = 0.0, float(values[times].max())
    if _capital(values, times, high) >= target:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _capital(values, times, middle) >= target else (low, middle)
    return low


def _capital(values: FloatArray, times: IntArray, mean: float) -> float:
    """The logarithm of the highest capital at any time, if this were the mean."""
    gains = np.log1p(FRACTIONS[:, None] * (values[times] / max(mean, 1e-300) - 1))  # [J, n]
    empty = (times - np.arange(times.size))[None] * np.log1p(-FRACTIONS)[:, None]  # rounds without anything
    each = np.cumsum(gains, axis=1) + empty
    highest = each.max(axis=0)
    total: FloatArray = highest + np.log(np.exp(each - highest).mean(axis=0))
    return float(total.max())
