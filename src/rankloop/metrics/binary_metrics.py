"""Metrics for which a document is relevant or not: average precision, reciprocal rank, precision."""

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
