r"""Losses whose gradient can be estimated from the grades of the top k alone.

The gradient over the scores $s$ of all $m$ candidates must be a sum of terms, each of which depends on one
grade or on two. A term that was seen counts $1/q$, where $q$ is the probability that it would be; then the
expectation of the estimate is the gradient. What a term counts is given as `weights`, $[r]$ for single grades
and $[r, r]$ for pairs, so that the same losses serve exact weights and capped ones.

Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
2016, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rankloop.errors import SettingError
from rankloop.types import FloatArray, IntArray

LARGEST = 30.0  # scores beyond count as this in an exponential: e^30 is 10^13


class TopKLoss(Protocol):
    """A loss to descend, estimated from some rated candidates."""

    @property
    def needs(self) -> int:
        """How many grades a term depends on: 1, or 2 for pairs."""
        ...

    def gradient(
        self, scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Estimate of the gradient over the scores [m], from the grades [r] of these rows."""
        ...


@dataclass(frozen=True)
class Squared(TopKLoss):
    r"""Squared error, by the document's estimate $2s - 2 \sum_{i \text{ seen}} R_i / q_i \, e_i$.

    The scores of all candidates are pulled to 0 in every round, and only what is seen is pulled up.

    >>> one = np.ones(1)
    >>> Squared().gradient(np.array([0.5, 1.0]), np.array([0]), one, weights=2 * one).tolist()
    [-3.0, 2.0]
    """

    needs: ClassVar[int] = 1

    def gradient(
        self, scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Estimate of $2(s - R)$."""
        slope = 2.0 * scores
        slope[rows] -= 2.0 * weights * grades
        return slope


@dataclass(frozen=True)
class ObservedSquared(TopKLoss):
    r"""The squared error of what was seen: $\sum_{i \text{ seen}} 2 (s_i - R_i) / q_i \, e_i$.

    The expectation is that of `Squared`; the noise vanishes where the scores are right.

    >>> one = np.ones(1)
    >>> ObservedSquared().gradient(np.array([0.5, 1.0]), np.array([0]), one, weights=2 * one).tolist()
    [-2.0, 0.0]
    """

    needs: ClassVar[int] = 1

    def gradient(
        self, scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Estimate of $2(s - R)$."""
        return _at(rows, 2.0 * weights * (scores[rows] - grades), scores.size)


@dataclass(frozen=True)
class UnnormalisedKL(TopKLoss):
    r"""ListNet without its denominators: $\sum_{i \text{ seen}} (e^{s_i} - e^{R_i}) / q_i \, e_i$.

    Grades are divided by `top_grade`, the highest there is, so that $e^R$ is at most $e$.

    >>> one = np.ones(1)
    >>> loss = UnnormalisedKL(top_grade=4)
    >>> loss.gradient(np.array([1.0, 0.0]), np.array([0]), 4 * one, weights=2 * one).tolist()
    [0.0, 0.0]
    """

    top_grade: float = 1.0

    needs: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Refuse to divide by nothing."""
        if not 0 < self.top_grade < np.inf:
            raise SettingError(f"top_grade must be positive, found {self.top_grade}")

    def gradient(
        self, scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Estimate of $e^s - e^R$."""
        lifts = np.exp(np.minimum((scores[rows], grades / self.top_grade), LARGEST))
        return _at(rows, weights * (lifts[0] - lifts[1]), scores.size)


@dataclass(frozen=True)
class RankSVM(TopKLoss):
    r"""Hinge of pairs: $\sum_{i, j \text{ seen},\, R_i > R_j,\, 1 + s_j > s_i} (e_j - e_i) / q_{ij}$.

    >>> both = np.array([0, 1])
    >>> RankSVM().gradient(np.zeros(3), both, np.array([0.0, 2.0]), weights=np.full((2, 2), 3.0)).tolist()
    [3.0, -3.0, 0.0]
    """

    needs: ClassVar[int] = 2

    def gradient(
        self, scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
    ) -> FloatArray:
        r"""Estimate of the slope of $\sum_{R_i > R_j} \max(0, 1 + s_j - s_i)$."""
        seen = scores[rows]
        violated = (grades[:, None] > grades) & (1.0 + seen > seen[:, None])
        counts = violated * weights
        return _at(rows, counts.sum(axis=0) - counts.sum(axis=1), scores.size)


@dataclass(frozen=True)
class SmoothDCG(TopKLoss):
    r"""SmoothDCG@1, a gain, as the loss $-\sum_i G(R_i) p_i$ with $p = \text{softmax}(s / \varepsilon)$.

    Its slope is estimated by $-\sum_{i \text{ seen}} G(R_i) \, p_i / (\varepsilon q_i) \, (e_i - p)$ with
    $G(r) = 2^r - 1$: to descend the loss is to ascend the gain. `smoothing` is $\varepsilon$. Not convex.

    >>> one = np.ones(1)
    >>> SmoothDCG(smoothing=1.0).gradient(np.zeros(2), np.array([0]), one, weights=2 * one).tolist()
    [-0.5, 0.5]
    """

    smoothing: float = 0.01

    needs: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Refuse a step function."""
        if not 0 < self.smoothing < np.inf:
            raise SettingError(f"smoothing must be positive, found {self.smoothing}")

    def gradient(
        self, scores: FloatArray, rows: IntArray, grades: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Estimate of the slope of the loss, downhill where the gain rises."""
        lifts = np.exp((scores - scores.max()) / self.smoothing)
        chances = lifts / lifts.sum()
        pulls = weights * (np.exp2(grades) - 1.0) * chances[rows] / self.smoothing
        slope: FloatArray = pulls.sum() * chances
        slope[rows] -= pulls
        return slope


def _at(rows: IntArray, values: FloatArray, size: int) -> FloatArray:
    """These values at these rows, 0 elsewhere."""
    spread = np.zeros(size)
    spread[rows] = values
    return spread
