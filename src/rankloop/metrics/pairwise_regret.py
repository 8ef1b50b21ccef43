"""Pairwise regret: how many pairs the shown list has the wrong way round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from rankloop.metrics.metric import Grader, Metric
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, FloatArray, IntArray

CELLS = 10_000_000  # comparisons of results in memory at a time


@dataclass(frozen=True, repr=False, kw_only=True)
class PairwiseRegret(Metric):
    r"""Kendall-tau distance between the shown list and the ideal one; lower is better.

    $$\left|\{(i, j) : r_i > r_j,\ j \text{ is above } i\}\right|$$

    A document that was not shown is below all that were, and two documents that were not shown are
    not compared: the list says nothing about them. In `per_query` the whole list counts as shown,
    and a tied pair counts one half, which is its mean over both orders.

    >>> PairwiseRegret()(np.array([1, 0]), np.array([1, 0, 2]))  # 1 above 0, 1 above 2, 0 above 2
    3.0

    Jia et al., "PairRank: online pairwise learning to rank by divide-and-conquer", WWW 2021.
    """

    label: ClassVar[str] = "pairwise regret"
    higher_is_better: ClassVar[bool] = False
    unit: ClassVar[str] = "pairs"

    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Count the wrong pairs of one shown list."""
        shown = relevance[order]
        better = np.count_nonzero(relevance > shown[:, None])  # better documents, wherever they are ...
        return float(better - _rightly_above(shown[None])[0])  # ... but rightly above

    def grader(self, queries: QuerySet) -> Grader:
        """Count the wrong pairs of lists of these queries; the better documents of each are counted once."""
        relevance, starts = queries.relevance, queries.offsets[:-1]
        ideal = RankedRows.of(relevance.astype(np.float64), queries)
        better = np.empty_like(ideal.rows)
        better[ideal.rows] = ideal.spread(ideal.rank[ideal.group_starts] - 1)

        def grade(asked: IntArray, lists: IntArray) -> FloatArray:
            rows = starts[asked][:, None] + lists
            wrong = better[rows].sum(axis=1) - _rightly_above(relevance[rows])
            return np.asarray(wrong, dtype=np.float64)

        return grade

    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Count the wrong pairs of every query: [n_queries]."""
        ranked = RankedRows.of(scores, queries)
        wrong = np.zeros(len(ranked.rows))
        for grade in np.unique(ranked.relevance)[:-1]:
            worse = (ranked.relevance == grade).astype(np.int64)
            worse_above = ranked.count_above(worse) + ranked.group_sum(worse) / 2
            wrong += ranked.spread(worse_above) * (ranked.relevance > grade)
        return ranked.query_sum(wrong)


def _rightly_above(shown: IntArray) -> IntArray:
    """In how many pairs of each list the better result is above the other, from their grades [n, k]: [n]."""
    n, k = shown.shape
    above, step = np.empty(n, dtype=np.int64), max(CELLS // max(k, 1) ** 2, 1)
    for start in range(0, n, step):
        part = shown[start : start + step]
        better = part[:, :, None] > part[:, None, :]
        above[start : start + step] = np.count_nonzero(better & _above(k), axis=(1, 2))
    return above


@lru_cache(maxsize=64)
def _above(n: int) -> BoolArray:
    """Whether position `row` is above position `column`."""
    return np.triu(np.ones((n, n), dtype=np.bool_), 1)
