"""Weights of a list's results in a hinge loss that stands in for a ranking measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from rankloop.errors import RankingError
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.types import Array, FloatArray

HIGHEST = 1000.0  # the highest grade whose gain 2^r - 1 is a number


class ListWeights(Protocol):
    """A ranking measure as a loss knows it: what each result of the ideal order counts."""

    def levels(self, grades: FloatArray) -> FloatArray:
        """Give the grades as far as the measure tells them apart, [n]."""
        ...

    def shares(self, ideal: FloatArray) -> FloatArray:
        """Say what results with these levels, best first, count: [n], 1 in all, or 0 if none is relevant."""
        ...

    def has_mistake(self, shown: FloatArray) -> bool:
        """Whether the measure of a list with these levels, from the top, is below its best."""
        ...


@dataclass(frozen=True)
class NDCGWeights(ListWeights):
    r"""Weights $v_i = (2^{R_i} - 1) / (Z_k \log_2(1 + i))$ of nDCG@k, 0 beyond rank $k$; `None`: no cutoff.

    $Z_k$ is the best DCG@k. Grades below 0 gain nothing.

    >>> NDCGWeights().shares(np.array([1.0, 1.0, 0.0])).round(3).tolist()
    [0.613, 0.387, 0.0]
    >>> shown = np.array([2.0, 0.0, 1.0])
    >>> NDCGWeights(1).has_mistake(shown), NDCGWeights(2).has_mistake(shown)
    (False, True)
    """

    k: int | None = 10

    def levels(self, grades: FloatArray) -> FloatArray:
        """All grades are told apart, as long as their gains are numbers."""
        if grades.max(initial=0.0) > HIGHEST:
            raise RankingError(
                f"grades of up to {HIGHEST:g} can be learned from, as a gain is 2^grade - 1, "
                f"found {grades.max():g}: give smaller ones, such as 0 to 4"
            )
        return grades

    def shares(self, ideal: FloatArray) -> FloatArray:
        """Shares of the best DCG."""
        terms = self._terms(ideal)
        total = terms.sum()
        return terms / total if total > 0 else terms

    def has_mistake(self, shown: FloatArray) -> bool:
        """Whether its DCG is below the best, by more than rounding."""
        got, best = self._terms(shown).sum(), self._terms(-np.sort(-shown)).sum()
        return bool(best - got > 1e-12 * best)

    def _terms(self, levels: FloatArray) -> FloatArray:
        gains = np.maximum(np.exp2(levels) - 1.0, 0.0)
        return gains * _discounts(levels.size, self.k)


@dataclass(frozen=True)
class APWeights(ListWeights):
    """Weights of average precision: the same for every relevant result, those of a grade above 0.

    >>> APWeights().shares(np.array([1.0, 1.0, 0.0])).tolist()
    [0.5, 0.5, 0.0]
    """

    def levels(self, grades: FloatArray) -> FloatArray:
        """Relevant or not."""
        return (grades > 0).astype(np.float64)

    def shares(self, ideal: FloatArray) -> FloatArray:
        """One over the number of relevant results."""
        return np.asarray(ideal / max(float(ideal.sum()), 1.0))

    def has_mistake(self, shown: FloatArray) -> bool:
        """Whether something relevant stands below something that is not."""
        return out_of_order(shown)


def out_of_order(shown: Array) -> bool:
    """Whether a list with these grades, from the top, has a better result below a worse one.

    >>> out_of_order(np.array([2, 1, 1, 0])), out_of_order(np.array([1, 0, 2]))
    (False, True)
    """
    return bool((shown[1:] > shown[:-1]).any())


@lru_cache(maxsize=1024)
def _discounts(length: int, k: int | None) -> FloatArray:
    ranks = np.arange(1, length + 1)
    discounts = np.where(ranks <= (k or length), rank_discounts(length), 0.0)
    discounts.setflags(write=False)
    return discounts
