"""Precision: how much of the list is relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.metrics.metric import BinaryMetric
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, repr=False, kw_only=True)
class Precision(BinaryMetric):
    r"""The share of the first `k` positions that hold a relevant document.

    $$\mathrm{Precision@}k = \frac{1}{k} \sum_{i=1}^{k} [r_i \ge \text{relevant\_from}]$$

    A list shorter than `k` is still divided by `k`, as in trec_eval: an empty position is no hit.
    In `per_query`, tied documents give the exact mean over all their orders.

    >>> Precision(k=5)(np.array([2, 0, 1]), np.array([1, 0, 2]))
    0.4
    """

    label: ClassVar[str] = "Precision"

    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Grade one shown list."""
        shown = relevance[order[: self.k]]
        return int(np.count_nonzero(shown >= self.relevant_from)) / (self.k or max(len(shown), 1))

    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Grade every query: [n_queries]."""
        ranked = RankedRows.of(scores, queries)
        hits = ranked.group_mean((ranked.relevance >= self.relevant_from).astype(np.float64))
        if self.k is None:
            return ranked.query_sum(hits) / np.diff(queries.offsets)
        return ranked.query_sum(hits * (ranked.rank <= self.k)) / self.k
