r"""Confidence sequences: intervals that hold at all times together, so that one may stop whenever one likes.

All are bets, as the bound of `anytime_lower` is: a capital that is a fair game, or less, if a guess is right
reaches $1 / \delta$ with probability $\delta$ at most, whenever it is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from rankloop.errors import SettingError
from rankloop.evaluation.value_checks import MOST, check_column, check_flags, check_level
from rankloop.types import BoolArray, FloatArray, IntArray

FRACTIONS = np.array([0.75, *2.0 ** -np.arange(1.0, 11.0)])  # of what a bet may put at risk
COSTS = -np.log1p(-FRACTIONS) - FRACTIONS  # of a squared step, in logarithms of capital
EXPECTED = 10.0  # of wins and of losses each: how strong a preference the bets of `win_sequence` expect
HALVINGS = 40
SMALL_FRACTIONS = 2.0 ** -np.arange(1.0, 25.0)  # of the capital, that a bet of `anytime_lower` risks


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSequence:
    """An estimate after each observation, and between which bounds the truth is at all times together."""

    estimate: FloatArray  # [n]
    lower: FloatArray  # [n]
    upper: FloatArray  # [n]
    level: float = 0.95

    def __len__(self) -> int:
        return len(self.estimate)


def mean_sequence(
    values: FloatArray, *, low: float = 0.0, high: float = 1.0, level: float = 0.95
) -> ConfidenceSequence:
    r"""Bound the mean of bounded numbers, also if what is expected of them changes on the way.

    With $\hat x_i$ the mean before, $V_t = \sum_{i \le t} (x_i - \hat x_i)^2$ and numbers of 0 to 1, the
    capital

    $$K_t = \frac{1}{J} \sum_j \exp\bigl(f_j S_t - \psi(f_j) V_t\bigr), \qquad \psi(f) = -\log(1-f) - f,$$

    is no better than fair if $S_t = \sum_{i \le t} (x_i - E[x_i \mid \text{before}])$. So the mean of what
    was expected, $\frac{1}{t} \sum E[x_i \mid \text{before}]$, is never farther from that of the numbers than
    the $S_t / t$ at which the capital is $2 / \delta$. A ranker that learns is such a change.

    >>> found = mean_sequence(np.tile([0.0, 1.0], 500))
    >>> round(float(found.lower[-1]), 2), round(float(found.upper[-1]), 2)
    (0.44, 0.56)

    Howard, Ramdas, McAuliffe, Sekhon: Time-uniform, nonparametric, nonasymptotic confidence sequences. Annals
    of Statistics, 2021.
    """
    values = _check(values, low, high)
    unit = (values - low) / (high - low)
    count = np.arange(1.0, values.size + 1)
    before = (0.5 + np.cumsum(unit) - unit) / count
    half = _radius(np.cumsum((unit - before) ** 2), level) / count
    mean = np.cumsum(unit) / count
    span = high - low
    return ConfidenceSequence(
        low + span * mean,
        low + span * np.maximum(mean - half, 0.0),
        low + span * np.minimum(mean + half, 1.0),
        level,
    )


def difference_sequence(
    values: FloatArray,
    second: BoolArray,
    *,
    share: float,
    low: float = 0.0,
    high: float = 1.0,
    level: float = 0.95,
) -> ConfidenceSequence:
    r"""How much more the first of two arms gets than the second, if a coin put everybody into an arm.

    With $p$ the share of the second arm and $m_i$ the mean of all before, each

    $$d_i = (x_i - m_i) \cdot \begin{cases} 1 / (1 - p) & \text{in the first arm} \\ -1 / p &
    \text{in the second} \end{cases}$$

    is expected to be the difference that the arms make for whoever came, whatever was there before; its mean
    is bounded as that of `mean_sequence`.

    >>> found = difference_sequence(np.tile([1.0, 0.0], 200), np.tile([False, True], 200), share=0.5)
    >>> bool(0.8 < found.lower[-1] < found.estimate[-1] <= found.upper[-1] == 1)
    True
    """
    values, second = _check(values, low, high), check_flags(second, "the second arm")
    if second.size != values.size:
        raise SettingError(f"two arms need an arm for each of {values.size} values, found {second.size}")
    check_level(share, "the share of the second arm")
    unit = (values - low) / (high - low)
    count = np.arange(1.0, values.size + 1)
    before = (np.cumsum(unit) - unit) / count  # the first is expected to be the least: most do nothing
    steps = (unit - before) * np.where(second, -1 / share, 1 / (1 - share))
    largest = 1 / min(share, 1 - share)
    half = largest * _radius(np.cumsum((steps / largest) ** 2), level) / count
    mean = np.cumsum(steps) / count
    span = high - low
    return ConfidenceSequence(
        span * np.clip(mean, -1.0, 1.0),
        span * np.maximum(mean - half, -1.0),
        span * np.minimum(mean + half, 1.0),
        level,
    )


def win_sequence(wins: BoolArray, *, level: float = 0.95) -> ConfidenceSequence:
    r"""With which probability one of two wins, from who has won each time.

    A gambler whose belief in the probability is a Beta distribution around a half has, if it is $p$ and after
    $w$ wins and $l$ losses, the capital

    $$K = \frac{B(a + w, a + l)}{B(a, a)} \, p^{-w} (1 - p)^{-l}.$$

    All $p$ at which it is below $1 / \delta$ are possible. Of two that are alike $p$ is a half.

    >>> found = win_sequence(np.ones(20, dtype=bool))
    >>> found.lower[[0, 19]].round(2).tolist(), float(found.upper[19])
    ([0.02, 0.55], 1.0)

    Robbins: Statistical methods related to the law of the iterated logarithm. Annals of Mathematical
    Statistics, 1970.
    """
    wins = check_flags(wins, "wins")
    won = np.cumsum(wins, dtype=np.int64)
    count = np.arange(1, wins.size + 1)
    middle = won / np.maximum(count, 1)
    lower = _edge(won, count - won, np.zeros(wins.size), middle, level)
    upper = _edge(won, count - won, np.ones(wins.size), middle, level)
    return ConfidenceSequence(middle, np.where(won, lower, 0.0), np.where(won < count, upper, 1.0), level)


def _check(values: FloatArray, low: float, high: float) -> FloatArray:
    values, numbers = check_column(values), isinstance(low, Real) and isinstance(high, Real)
    if not (numbers and -MOST <= low < high <= MOST):
        raise SettingError(f"bounds must be two numbers, the lower one first, found {low!r} and {high!r}")
    if values.size and not (values.min() >= low and values.max() <= high):
        raise SettingError(
            f"every value must be between {low:g} and {high:g}, found {values.min():g} to {values.max():g}"
        )
    return values


def _radius(squares: FloatArray, level: float) -> FloatArray:
    """How far a sum may have strayed by now, to either side, after so large a sum of squares, [n]."""
    check_level(level)
    target = np.log(2 / (1 - level))
    costs = COSTS * squares[:, None]  # [n, J]
    low = ((target + costs) / FRACTIONS).min(axis=1)  # if only the best bet had been made, with everything
    high = ((target + np.log(FRACTIONS.size) + costs) / FRACTIONS).min(axis=1)  # with its share
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        each = FRACTIONS * middle[:, None] - costs
        highest = each.max(axis=1)
        reached = highest + np.log(np.exp(each - highest[:, None]).mean(axis=1)) >= target
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray(high)


def _edge(won: IntArray, lost: IntArray, out: FloatArray, within: FloatArray, level: float) -> FloatArray:
    """Where the possible probabilities end, between one that is not and one that is."""
    check_level(level)
    belief = betaln(EXPECTED + won, EXPECTED + lost) - betaln(EXPECTED, EXPECTED)
    for _ in range(HALVINGS):
        middle = (out + within) / 2
        capital = belief - xlogy(won, middle) - xlog1py(lost, -middle)
        refuted = capital >= -np.log(1 - level)
        out, within = np.where(refuted, middle, out), np.where(refuted, within, middle)
    return np.asarray(out)


def anytime_lower(values: FloatArray, level: float = 0.95) -> float:
    r"""Largest mean that bets have refuted so far: a lower bound that holds at all times together.

    For numbers $X_i \ge 0$ with mean $\mu$, each capital

    $$K_t(m) = \frac{1}{J} \sum_{j=1}^{J} \prod_{i \le t} \left(1 - f_j + f_j \frac{X_i}{m}\right)$$

    is a fair game if $m = \mu$, whatever the fractions $f_j$: with probability $1 - \delta$ it never reaches
    $1 / \delta$. So all $m$ with $\max_t K_t(m) \ge 1 / \delta$ are below the mean. No upper limit of $X$
    is needed.

    >>> anytime_lower(np.zeros(100))
    0.0
    >>> 0.8 < anytime_lower(np.ones(200)) < 1
    True

    Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting. JRSS B, 2024.
    """
    values, level = check_column(values), check_level(level)
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
    """Compute the logarithm of the highest capital at any time, if this were the mean."""
    gains = np.log1p(SMALL_FRACTIONS[:, None] * (values[times] / max(mean, 1e-300) - 1))  # [J, n]
    empty = (times - np.arange(times.size))[None] * np.log1p(-SMALL_FRACTIONS)[
        :, None
    ]  # rounds without anything
    each = np.cumsum(gains, axis=1) + empty
    highest = each.max(axis=0)
    total: FloatArray = highest + np.log(np.exp(each - highest).mean(axis=0))
    return float(total.max())
