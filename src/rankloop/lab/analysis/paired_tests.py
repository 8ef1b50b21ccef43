"""Intervals over runs, paired tests between policies, and Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import special

from rankloop.types import FloatArray

RunKey: TypeAlias = tuple[str, int]  # fold and seed
RunValues: TypeAlias = Mapping[RunKey, float]

CONFIDENCE = 0.95


class MeanInterval(NamedTuple):
    """Mean over runs and the ends of its 95 % interval, which are None for a single run."""

    mean: float
    low: float | None
    high: float | None
    half_width: float | None


def mean_interval(runs: RunValues) -> MeanInterval:
    r"""Compute the mean over runs and its 95 % Student-t interval, $\bar v \pm t_{n-1} s / \sqrt n$.

    Runs have keys, not only values: two runs of one fold, or of one seed, are not independent, and this
    function is where an interval would allow for that.

    >>> interval = mean_interval({("1", 0): 0.1, ("1", 1): 0.2})
    >>> round(interval.mean, 3), round(interval.half_width, 3)  # t = 12.7, error = 0.05
    (0.15, 0.635)
    """
    values = np.array([runs[run] for run in sorted(runs)])  # sorted: the same sum for any order of rows
    mean = float(values.mean())
    if values.size < 2:
        return MeanInterval(mean, None, None, None)
    half = float(values.std(ddof=1)) * find_t_factor(values.size)
    return MeanInterval(mean, mean - half, mean + half, half)


def find_t_factor(runs: int) -> float:
    """Find what a standard deviation over so many runs is multiplied by to get half of the interval."""
    quantile = float(special.stdtrit(runs - 1, (1 + CONFIDENCE) / 2))
    return quantile / float(np.sqrt(runs)) if runs > 1 else float("nan")


def paired_difference(first: RunValues, second: RunValues) -> dict[RunKey, float]:
    """Subtract the second from the first on every run that both have."""
    return {run: first[run] - second[run] for run in sorted(first.keys() & second.keys())}


def paired_p_value(first: RunValues, second: RunValues) -> float | None:
    """Compute the p-value of a two-sided paired t-test over the runs both have; None for fewer than two.

    Without any spread the test has its limits: 1 if the values are the same, 0 if one is always ahead
    by the same amount.
    """
    difference = np.array([*paired_difference(first, second).values()])
    if difference.size < 2:
        return None
    scale = max(abs(values[run]) for values in (first, second) for run in first.keys() & second.keys())
    difference[np.abs(difference) <= 1e-12 * scale] = 0.0  # rounding is not a difference
    error = float(difference.std(ddof=1)) / np.sqrt(difference.size)
    if error <= 1e-15 * scale:
        return 1.0 if not difference.any() else 0.0
    return float(2.0 * special.stdtr(difference.size - 1, -abs(float(difference.mean())) / error))


def correct_holm(p_values: FloatArray) -> FloatArray:
    """Correct p-values after Holm: the i-th smallest of m is multiplied by m - i + 1, kept in order.

    >>> correct_holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])

    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 1979.
    """
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(order))
    corrected[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    return np.minimum(corrected, 1.0)
