"""All queries of a set sorted by score in one go, with tied documents kept together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankloop.errors import RankingError
from rankloop.query_set import QuerySet
from rankloop.types import Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RankedRows:
    """The rows of a set in ranked order, query after query; every array below has this order.

    Documents of one query with equal scores form a *group*. A metric that gives its expected value
    over the orders of a group needs only the group's totals, spread back over its positions.

    >>> queries = QuerySet(np.eye(4), np.array([0, 1, 4]), np.array([1, 0, 2, 1]), ("a", "b"))
    >>> ranked = RankedRows.of(np.array([0.0, 0.5, 0.9, 0.5]), queries)
    >>> ranked.rows, ranked.rank, ranked.relevance
    (array([0, 2, 1, 3]), array([1, 1, 2, 3]), array([1, 2, 0, 1]))
    >>> ranked.group_mean(ranked.relevance)
    array([1. , 2. , 0.5, 0.5])
    """

    rows: IntArray  # [n_rows] rows of the set, the best of every query first
    relevance: IntArray  # [n_rows]
    offsets: IntArray  # [n_queries + 1]
    group_starts: IntArray  # [n_groups]

    @classmethod
    def of(cls, scores: FloatArray, queries: QuerySet) -> RankedRows:
        """Sort every query by falling score; equal scores keep the order of the set."""
        _check(scores, queries)
        costs, bounds = -scores, queries.offsets.tolist()
        query = np.repeat(np.arange(len(queries)), np.diff(queries.offsets))  # of every row
        # The plain sort is three times as fast, but leaves ties in any order: who has some is sorted again.
        apart = [costs[start:end].argsort() for start, end in pairwise(bounds)]
        rows = np.concatenate(apart) + queries.offsets[query]
        ranked = costs[rows]
        tied = (ranked[1:] == ranked[:-1]) & (query[1:] == query[:-1])
        for index in np.unique(query[1:][tied]).tolist():
            start, end = bounds[index : index + 2]
            rows[start:end] = start + costs[start:end].argsort(kind="stable")
        return cls(rows, queries.relevance[rows], queries.offsets, np.flatnonzero(np.append(True, ~tied)))

    @cached_property
    def rank(self) -> IntArray:
        """The rank of every row within its query, from 1."""
        return np.arange(1, len(self.rows) + 1) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    @cached_property
    def group_sizes(self) -> IntArray:
        """How many documents share a score."""
        return np.diff(self.group_starts, append=len(self.rows))

    @property
    def has_ties(self) -> bool:
        """Whether any two documents of a query have the same score."""
        return len(self.group_starts) < len(self.rows)

    def spread(self, per_group: Array) -> Array:
        """One value per group, repeated for each of its rows."""
        return np.repeat(per_group, self.group_sizes) if self.has_ties else per_group

    def group_sum(self, values: Array) -> Array:
        """Sum the values of every group: [n_groups]."""
        return np.add.reduceat(values, self.group_starts) if self.has_ties else values

    def group_mean(self, values: Array) -> FloatArray:
        """Say what every position expects when the documents of its group are in random order."""
        return self.spread(self.group_sum(values) / self.group_sizes)

    def count_above(self, chosen: IntArray) -> IntArray:
        """How many chosen (1, not 0) documents of the same query are above every group: [n_groups]."""
        above = np.concatenate([[0], np.cumsum(chosen)])  # whole numbers: subtracting them is exact
        query_starts = self.group_starts - self.rank[self.group_starts] + 1
        count: IntArray = above[self.group_starts] - above[query_starts]
        return count

    def query_sum(self, values: Array) -> FloatArray:
        """Sum the values of every query: [n_queries]."""
        return np.add.reduceat(values, self.offsets[:-1])


def _check(scores: FloatArray, queries: QuerySet) -> None:
    if scores.shape != queries.relevance.shape:
        raise RankingError(
            f"expected one score for each of the {len(queries.relevance)} documents, "
            f"found scores of shape {scores.shape}"
        )
    if np.isnan(scores).any():
        raise RankingError(
            f"{np.isnan(scores).sum()} of {len(scores)} scores are NaN and cannot be ranked; "
            "look for a diverging learning rate or non-finite features"
        )
