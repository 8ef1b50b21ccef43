"""Average precision: the precision at every relevant document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.metrics.metric import BinaryMetric
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, repr=False, kw_only=True)
class AP(BinaryMetric):
    r"""The mean, over all relevant documents, of the precision down to each; one not shown has 0.

    $$\mathrm{AP} = \frac{1}{|R|} \sum_{i:\,\text{relevant}} \frac{\text{relevant in the first } i}{i}$$

    In `per_query`, tied documents give the exact mean over all their orders. Take a tie of $n$
    documents, $m$ relevant, below $c$ documents, $C$ relevant. Its $i$-th position is relevant with
    probability $m/n$ and then expects $(i-1)(m-1)/(n-1)$ relevant ones above it in the tie:

    $$\frac{1}{|R|} \sum_{i=1}^{n} \frac{m}{n} \cdot \frac{C + 1 + (i-1)\frac{m-1}{n-1}}{c + i}$$

    >>> AP()(np.array([2, 1, 0]), np.array([1, 0, 2]))  # (1/1 + 2/3) / 2
    0.8333...

    McSherry and Najork, "Computing information retrieval performance measures efficiently in the
    presence of tied scores", ECIR 2008.
    """

    label: ClassVar[str] = "AP"

    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Grade one shown list."""
        relevant = relevance >= self.relevant_from
        ranks = np.flatnonzero(relevant[order[: self.k]]) + 1
        return float((np.arange(1, len(ranks) + 1) / ranks).sum()) / max(int(relevant.sum()), 1)

    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Grade every query: [n_queries]."""
        ranked = RankedRows.of(scores, queries)
        relevant = (ranked.relevance >= self.relevant_from).astype(np.int64)
        in_query = ranked.query_sum(relevant)
        value = _expected_precision(ranked, relevant)
        if self.k is not None:
            value *= ranked.rank <= self.k
        return ranked.query_sum(value) / np.maximum(in_query, 1)


def _expected_precision(ranked: RankedRows, relevant: IntArray) -> FloatArray:
    """For every position, P(relevant) times the precision expected if it is."""
    before, inside, sizes = ranked.count_above(relevant), ranked.group_sum(relevant), ranked.group_sizes
    step = (inside - 1) / np.maximum(sizes - 1, 1)
    index = np.arange(len(relevant)) - ranked.spread(ranked.group_starts)  # i - 1
    above = ranked.spread(before) + 1 + index * ranked.spread(step)
    expected: FloatArray = ranked.spread(inside / sizes) * above / ranked.rank
    return expected
