"""Reciprocal rank: how far down the first relevant document is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from rankloop.metrics.metric import BinaryMetric
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, repr=False, kw_only=True)
class MRR(BinaryMetric):
    r"""One over the rank of the first relevant document; 0 if none is shown. The mean gives it the M.

    In `per_query`, tied documents give the exact mean over all their orders. If the first tie with a
    relevant document has $n$ documents, $m$ relevant, below $c$ others, the first relevant one is at
    its $i$-th position with a probability that counts where the other $m-1$ may be:

    $$\sum_{i=1}^{n-m+1} \frac{\binom{n-i}{m-1}}{\binom{n}{m}} \cdot \frac{1}{c + i}$$

    >>> MRR()(np.array([1, 0, 2]), np.array([1, 0, 2]))
    0.5

    McSherry and Najork, "Computing information retrieval performance measures efficiently in the
    presence of tied scores", ECIR 2008.
    """

    label: ClassVar[str] = "MRR"
    unit: ClassVar[str] = "1/rank"

    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Grade one shown list."""
        hits = np.flatnonzero(relevance[order[: self.k]] >= self.relevant_from)
        return 1.0 / (int(hits[0]) + 1) if len(hits) else 0.0

    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Grade every query: [n_queries]."""
        ranked = RankedRows.of(scores, queries)
        value = _probability_of_first(ranked, self.relevant_from) / ranked.rank
        if self.k is not None:
            value *= ranked.rank <= self.k
        return ranked.query_sum(value)


def _probability_of_first(ranked: RankedRows, relevant_from: int) -> FloatArray:
    """For every position, the probability that it holds the first relevant document of its query."""
    relevant = (ranked.relevance >= relevant_from).astype(np.int64)
    inside = ranked.group_sum(relevant)
    decides = (inside > 0) & (ranked.count_above(relevant) == 0)
    i = np.arange(1, len(relevant) + 1) - ranked.spread(ranked.group_starts)
    n, m = ranked.spread(ranked.group_sizes), ranked.spread(inside)
    probability = np.zeros(len(relevant))
    at = np.flatnonzero(ranked.spread(decides) & (i <= n - m + 1))
    probability[at] = _first_at(i[at], n[at], m[at])
    return probability


def _first_at(i: IntArray, n: IntArray, m: IntArray) -> FloatArray:
    """C(n - i, m - 1) / C(n, m), in logarithms because the binomials overflow."""
    log_probability = gammaln(n - i + 1) + gammaln(n - m + 1) - gammaln(n - i - m + 2) - gammaln(n + 1)
    result: FloatArray = m * np.exp(log_probability)
    return result
