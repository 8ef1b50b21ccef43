"""Discounted cumulative gain, plain and normalised by the best list possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.metrics.metric import CutMetric, Grader, ScoresGrader
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray


def gain(relevance: IntArray) -> FloatArray:
    """Say what a document of each grade is worth: $2^r - 1$.

    >>> gain(np.array([0, 1, 2, 4]))
    array([ 0.,  1.,  3., 15.])
    """
    # Asked for by name, because NumPy answers small integers in half precision.
    return np.exp2(relevance, dtype=np.float64) - 1.0


@dataclass(frozen=True, repr=False, kw_only=True)
class DCG(CutMetric):
    r"""Discounted cumulative gain: good documents count, and count more near the top.

    $$\mathrm{DCG@}k = \sum_{i=1}^{k} \frac{2^{r_i} - 1}{\log_2(1 + i)}$$

    In `per_query`, tied documents give the exact mean over all their orders, as in scikit-learn: each
    position of the tie expects the mean gain of the tie.

    >>> DCG(k=2)(np.array([2, 0, 1]), np.array([1, 0, 2]))  # 3 + 1 / log2(3)
    3.63092...

    Burges et al., "Learning to rank using gradient descent", ICML 2005 (this gain and discount);
    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002 (the idea).
    """

    label: ClassVar[str] = "DCG"
    unit: ClassVar[str] = "gain"

    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Grade one shown list."""
        shown = relevance[order[: self.k]]
        return float(gain(shown) @ rank_discounts(len(shown)))

    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Grade every query: [n_queries]."""
        ranked = RankedRows.of(scores, queries)
        return ranked.query_sum(ranked.group_mean(gain(ranked.relevance)) * self._discount_at(ranked.rank))

    def ideal(self, queries: QuerySet) -> FloatArray:
        """Find the highest value any list could have, for every query: [n_queries]."""
        return self.per_query(queries.relevance.astype(np.float64), queries)

    def _discount_at(self, rank: IntArray) -> FloatArray:
        discount = rank_discounts(int(rank.max())).copy()
        if self.k is not None:
            discount[self.k :] = 0.0
        return discount[rank - 1]


@dataclass(frozen=True, repr=False, kw_only=True)
class NDCG(CutMetric):
    r"""Normalised DCG: the share of the gain of the best possible list, between 0 and 1.

    $$\mathrm{nDCG@}k = \mathrm{DCG@}k \,/\, \max_{\text{lists}} \mathrm{DCG@}k$$

    The best list is made of all candidates, shown or not. Without a relevant document the value is 0.
    Who grades one list after the other asks for `ideal` once and then only for `given_ideal`; a `grader` is
    for many lists at once.

    >>> grades = np.array([1, 0, 2])
    >>> NDCG(k=2)(np.array([0, 2]), grades)  # (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    0.79670...
    >>> queries = QuerySet(np.eye(3), np.array([0, 3]), grades, ("q",))
    >>> NDCG(k=2).given_ideal(np.array([0, 2]), grades, NDCG(k=2).ideal(queries)[0])
    0.79670...

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002.
    """

    label: ClassVar[str] = "nDCG"

    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Grade one shown list."""
        best = np.sort(gain(relevance))[::-1][: self.k]
        return self.given_ideal(order, relevance, float(best @ rank_discounts(len(best))))

    def given_ideal(self, order: IntArray, relevance: IntArray, ideal: float) -> float:
        """Grade one shown list of a query whose `ideal` is known: a few microseconds."""
        if ideal <= 0.0:
            return 0.0
        shown = relevance[order[: self.k]]
        return float(gain(shown) @ rank_discounts(len(shown))) / float(ideal)

    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Grade every query: [n_queries]."""
        return self.scores_grader(queries)(scores)

    def grader(self, queries: QuerySet) -> Grader:
        """Grades lists of these queries with their gains and ideals, which are worked out once."""
        gains, ideals, starts = gain(queries.relevance), self.ideal(queries), queries.offsets[:-1]

        def grade(asked: IntArray, lists: IntArray) -> FloatArray:
            shown = gains[starts[asked][:, None] + lists[:, : self.k]]
            # a product of its own for each list: one of all of them might end in other bits
            got: FloatArray = np.matmul(shown[:, None, :], rank_discounts(shown.shape[1]))[:, 0]
            return _shares(got, ideals[asked])

        return grade

    def scores_grader(self, queries: QuerySet) -> ScoresGrader:
        """Grades every query with its ideal, which is worked out once."""
        dcg, ideal = DCG(k=self.k), self.ideal(queries)
        return lambda scores: _shares(dcg.per_query(scores, queries), ideal)

    def ideal(self, queries: QuerySet) -> FloatArray:
        """Compute the DCG of the best list of every query, for `given_ideal`: [n_queries]."""
        return DCG(k=self.k).ideal(queries)


def _shares(got: FloatArray, ideal: FloatArray) -> FloatArray:
    """Of the best that there is; 0 where there is nothing."""
    return np.divide(got, ideal, out=np.zeros_like(got), where=ideal > 0.0)
