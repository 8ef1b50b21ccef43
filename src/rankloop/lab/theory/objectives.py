"""Objectives for fixed items: what a list of graded items is worth, as a function of ranks and grades."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.types import Array, FloatArray, IntArray


@dataclass(frozen=True)
class Objective(ABC):
    """A loss or a gain of a whole list, of which every item has a rank (from 1) and a grade."""

    label: ClassVar[str]
    is_loss: ClassVar[bool] = False

    @abstractmethod
    def values(self, ranks: IntArray, grades: Array) -> FloatArray:
        """Of every list of ranks [n_lists, n_items], under every row of grades: [n_lists, n_rows]."""

    @property
    def name(self) -> str:
        """The objective as people write it."""
        return self.label


@dataclass(frozen=True)
class AdditiveObjective(Objective):
    r"""An objective $\sum_i f(\text{rank}_i)\, g(r_i)$: an item is worth something, whatever the others are.

    Its best list sorts the items by what they are worth on average, so it can be learned item by item.
    """

    @abstractmethod
    def weights(self, items: int) -> FloatArray:
        """What each rank counts, $f$: [n_items]."""

    def worth(self, grades: Array) -> FloatArray:
        """What an item of each grade is worth, $g$."""
        return np.asarray(grades, dtype=np.float64)

    def values(self, ranks: IntArray, grades: Array) -> FloatArray:
        """Sums over the items."""
        return self.weights(ranks.shape[1])[ranks - 1] @ self.worth(grades).T


@dataclass(frozen=True)
class SumLoss(AdditiveObjective):
    r"""The sum of the ranks of the relevant items, $\sum_i \text{rank}_i\, r_i$.

    >>> SumLoss().values(np.array([[2, 1, 3]]), np.array([[0, 1, 1]]))
    array([[4.]])
    """

    label: ClassVar[str] = "SumLoss"
    is_loss: ClassVar[bool] = True

    def weights(self, items: int) -> FloatArray:
        """The rank itself."""
        return np.arange(1.0, items + 1)


@dataclass(frozen=True)
class PairwiseLoss(SumLoss):
    r"""How many pairs stand the wrong way round, $\sum_{ij} [\text{rank}_i < \text{rank}_j][r_i < r_j]$.

    For binary grades it differs from SumLoss by something that no order changes, so it is learned as that.

    >>> PairwiseLoss().values(np.array([[2, 1, 3]]), np.array([[0, 1, 1]]))
    array([[1.]])

    Ailon: Improved bounds for online learning over the permutahedron and other ranking polytopes.
    AISTATS 2014.
    """

    label: ClassVar[str] = "PairwiseLoss"

    def values(self, ranks: IntArray, grades: Array) -> FloatArray:
        """Count the pairs."""
        return _wrong_pairs(ranks, grades)


@dataclass(frozen=True)
class DCGGain(AdditiveObjective):
    r"""Discounted cumulative gain of the whole list, $\sum_i (2^{r_i} - 1) / \log_2(1 + \text{rank}_i)$.

    >>> DCGGain().values(np.array([[3, 1, 2]]), np.array([[0, 2, 0]]))
    array([[3.]])
    """

    label: ClassVar[str] = "DCG"

    def weights(self, items: int) -> FloatArray:
        """The discount."""
        return rank_discounts(items)

    def worth(self, grades: Array) -> FloatArray:
        """The gain."""
        return np.exp2(grades, dtype=np.float64) - 1


@dataclass(frozen=True)
class PrecisionGain(AdditiveObjective):
    r"""How many of the first `n` are relevant, $\sum_i [\text{rank}_i \le n]\, r_i$.

    >>> PrecisionGain(2).values(np.array([[1, 2, 3]]), np.array([[0, 1, 1]]))
    array([[1.]])
    """

    label: ClassVar[str] = "Precision"

    n: int = 10

    def __post_init__(self) -> None:
        """Refuse to look at nothing."""
        if type(self.n) is not int or self.n < 1:
            raise SettingError(f"n must be a whole number of at least 1, found {self.n}")

    @property
    def name(self) -> str:
        """With its cutoff."""
        return f"Precision@{self.n}"

    def weights(self, items: int) -> FloatArray:
        """1 for the first `n` ranks."""
        return (np.arange(items) < self.n).astype(np.float64)


@dataclass(frozen=True)
class NDCGGain(Objective):
    """DCG as a share of the best possible, which depends on all grades at once; 1 if nothing is relevant.

    >>> NDCGGain().values(np.array([[3, 1, 2]]), np.array([[0, 1, 0], [0, 0, 0]]))
    array([[1., 1.]])
    """

    label: ClassVar[str] = "NDCG"

    def values(self, ranks: IntArray, grades: Array) -> FloatArray:
        """DCG over its best."""
        dcg = DCGGain()
        best = best_dcg(grades)
        return np.where(best > 0, dcg.values(ranks, grades) / np.where(best > 0, best, 1.0), 1.0)


@dataclass(frozen=True)
class APGain(Objective):
    """Average precision: the mean over the relevant items of the precision at their rank; 1 without any.

    >>> APGain().values(np.array([[1, 2, 3]]), np.array([[0, 1, 1]])).round(4)
    array([[0.5833]])
    """

    label: ClassVar[str] = "AP"

    def values(self, ranks: IntArray, grades: Array) -> FloatArray:
        """List by list: [n_rows, n_items] grades in the order of the list, their running share, the mean."""
        relevant = np.asarray(grades) > 0
        count = relevant.sum(axis=1)
        total = np.empty((len(ranks), len(relevant)))
        for row, shown in enumerate(np.argsort(ranks, axis=1)):
            hits = relevant[:, shown]
            total[row] = (hits * np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)).sum(axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), 1.0)


@dataclass(frozen=True)
class AUCLoss(Objective):
    """The share of the pairs of different grade that stand the wrong way round; 0 if there are none.

    >>> AUCLoss().values(np.array([[1, 2, 3]]), np.array([[0, 1, 1], [1, 0, 1]]))
    array([[1. , 0.5]])
    """

    label: ClassVar[str] = "AUC"
    is_loss: ClassVar[bool] = True

    def values(self, ranks: IntArray, grades: Array) -> FloatArray:
        """Wrong pairs over all that could be."""
        relevant = (np.asarray(grades) > 0).sum(axis=1)
        pairs = relevant * (grades.shape[1] - relevant)
        return np.asarray(_wrong_pairs(ranks, grades) / np.maximum(pairs, 1))


def best_dcg(grades: Array) -> FloatArray:
    """The DCG of the best order of every row of grades, $Z(r)$: [n_rows].

    >>> best_dcg(np.array([[0, 1, 0], [0, 0, 0]])).tolist()
    [1.0, 0.0]
    """
    dcg = DCGGain()
    best: FloatArray = np.sort(dcg.worth(grades), axis=1)[:, ::-1] @ dcg.weights(np.shape(grades)[1])
    return best


def _wrong_pairs(ranks: IntArray, grades: Array) -> FloatArray:
    above = ranks[:, :, None] < ranks[:, None, :]  # [n_lists, i, j]
    worse = grades[:, :, None] < grades[:, None, :]  # [n_rows, i, j]
    return np.asarray(np.einsum("aij,bij->ab", above.astype(np.float64), worse.astype(np.float64)))
