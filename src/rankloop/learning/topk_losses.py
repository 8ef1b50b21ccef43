r"""Losses whose gradient can be estimated from the grades of the top k alone.

The gradient over the scores $s$ of all $m$ candidates must be a sum of terms, each of which depends on one
grade or on two. A term that was seen counts $1/q$, where $q$ is the probability that it would be; then the
expectation of the estimate is the gradient. What a term counts is given as `weights`, $[r]$ for single grades
and $[r, r]$ for pairs, so that the same losses serve exact weights and capped ones.

Each function takes the scores of all candidates, the rows that were rated, their grades and these weights.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
2016, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from rankloop.types import FloatArray, IntArray

LARGEST = 30.0  # scores beyond count as this in an exponential: e^30 is 10^13
LossName: TypeAlias = Literal["ranksvm", "squared", "observed-squared", "unnormalised-kl", "smooth-dcg"]


def estimate_ranksvm(
    scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
) -> FloatArray:
    r"""Estimate the slope of the hinges of pairs, $\sum_{R_i > R_j} \max(0, 1 + s_j - s_i)$.

    It is $\sum_{i, j \text{ seen},\, R_i > R_j,\, 1 + s_j > s_i} (e_j - e_i) / q_{ij}$.

    >>> both = np.array([0, 1])
    >>> estimate_ranksvm(np.zeros(3), both, np.array([0.0, 2.0]), np.full((2, 2), 3.0)).tolist()
    [3.0, -3.0, 0.0]
    """
    seen = scores[rows]
    violated = (grades[:, None] > grades) & (1.0 + seen > seen[:, None])
    counts = violated * weights
    return _at(rows, counts.sum(axis=0) - counts.sum(axis=1), scores.size)


def estimate_squared(
    scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
) -> FloatArray:
    r"""Estimate the slope of the squared error, $2(s - R)$.

    It is $2s - 2 \sum_{i \text{ seen}} R_i / q_i \, e_i$. The scores of all candidates are pulled
    to 0 in every round, and only what is seen is pulled up.

    >>> one = np.ones(1)
    >>> estimate_squared(np.array([0.5, 1.0]), np.array([0]), one, 2 * one).tolist()
    [-3.0, 2.0]
    """
    slope = 2.0 * scores
    slope[rows] -= 2.0 * weights * grades
    return slope


def estimate_observed_squared(
    scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
) -> FloatArray:
    r"""Estimate the slope of the squared error as $\sum_{i \text{ seen}} 2 (s_i - R_i) / q_i \, e_i$.

    The expectation is that of `estimate_squared`; the noise vanishes where the scores are right.

    >>> one = np.ones(1)
    >>> estimate_observed_squared(np.array([0.5, 1.0]), np.array([0]), one, 2 * one).tolist()
    [-2.0, 0.0]
    """
    return _at(rows, 2.0 * weights * (scores[rows] - grades), scores.size)


def estimate_unnormalised_kl(
    scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray, *, top_grade: float
) -> FloatArray:
    r"""Estimate the slope of ListNet without its denominators.

    It is $\sum_{i \text{ seen}} (e^{s_i} - e^{R_i}) / q_i \, e_i$. Grades are divided by `top_grade`, the
    highest there is, so that $e^R$ is at most $e$.

    >>> one, scores = np.ones(1), np.array([1.0, 0.0])
    >>> estimate_unnormalised_kl(scores, np.array([0]), 4 * one, 2 * one, top_grade=4).tolist()
    [0.0, 0.0]
    """
    lifts = np.exp(np.minimum((scores[rows], grades / top_grade), LARGEST))
    return _at(rows, weights * (lifts[0] - lifts[1]), scores.size)


def estimate_smooth_dcg(
    scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray, *, smoothing: float
) -> FloatArray:
    r"""Estimate the slope of $-\sum_i G(R_i) p_i$ with $p = \text{softmax}(s / \varepsilon)$.

    SmoothDCG@1 is a gain, so its loss has a minus: to descend it is to ascend the gain. The slope is
    $-\sum_{i \text{ seen}} G(R_i) \, p_i / (\varepsilon q_i) \, (e_i - p)$ with $G(r) = 2^r - 1$, and
    `smoothing` is $\varepsilon$. Not convex.

    >>> one = np.ones(1)
    >>> estimate_smooth_dcg(np.zeros(2), np.array([0]), one, 2 * one, smoothing=1.0).tolist()
    [-0.5, 0.5]
    """
    lifts = np.exp((scores - scores.max()) / smoothing)
    chances = lifts / lifts.sum()
    pulls = weights * (np.exp2(grades) - 1.0) * chances[rows] / smoothing
    slope: FloatArray = pulls.sum() * chances
    slope[rows] -= pulls
    return slope


@dataclass(frozen=True, slots=True)
class TopKLoss:
    """A loss to descend, estimated from some rated candidates."""

    needs: int  # how many grades a term depends on: 1, or 2 for pairs
    estimate: Callable[..., FloatArray]  # of the gradient over the scores, [m]
    settings: tuple[str, ...] = ()  # that the estimate asks for


LOSSES: Mapping[str, TopKLoss] = MappingProxyType(
    {
        "ranksvm": TopKLoss(2, estimate_ranksvm),
        "squared": TopKLoss(1, estimate_squared),
        "observed-squared": TopKLoss(1, estimate_observed_squared),
        "unnormalised-kl": TopKLoss(1, estimate_unnormalised_kl, ("top_grade",)),
        "smooth-dcg": TopKLoss(1, estimate_smooth_dcg, ("smoothing",)),
    }
)


def _at(rows: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Put these values at these rows, 0 elsewhere."""
    spread = np.zeros(size)
    spread[rows] = values
    return spread
