"""Judged queries: queries with the grades of their candidates, for users, metrics and experiments.

Policies never see a label: they are given the `query` of a `JudgedQuery`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankloop._unchecked import unchecked
from rankloop.errors import DataError
from rankloop.types import NOBODY, Context, FloatArray, IntArray, Query, log_ranks, view_query

# The columns of a query set besides `offsets`: a set is taken apart and joined by these names alone.
ROW_COLUMNS = ("features", "relevance", "doc_ids", "groups", "caller_scores")  # one entry for each document
QUERY_COLUMNS = ("ids", "contexts")  # one entry for each query


@dataclass(frozen=True, slots=True, eq=False)
class JudgedQuery:
    """Query with the grade of every candidate; users and metrics may see it, policies may not."""

    query: Query
    relevance: IntArray  # [n_docs], 0 = not relevant


view_context, judge_query = unchecked(Context), unchecked(JudgedQuery)


@dataclass(frozen=True, slots=True, eq=False)
class QuerySet:
    """Many judged queries in one matrix; the items are views.

    Rows `offsets[i]:offsets[i + 1]` belong to query `i`, so a whole set is scored in one call.

    >>> queries = QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b"))
    >>> len(queries), queries[1].query.n_docs, queries.grades
    (2, 2, 3)
    """

    features: FloatArray  # [n_rows, n_features]
    offsets: IntArray  # [n_queries + 1]
    relevance: IntArray  # [n_rows]
    ids: Sequence[str]  # [n_queries]
    doc_ids: Sequence[str] = ()  # [n_rows] empty: documents are known by their features alone
    groups: Sequence[str] = ()  # [n_rows] whom each document belongs to; empty: to nobody
    contexts: FloatArray | None = None  # [n_queries, n_context] who asks; None: nothing is known of them
    caller_scores: FloatArray | None = None  # [n_rows] the caller's order of each query, higher first
    caller_log_ranks: FloatArray | None = field(init=False, default=None)  # [n_rows] what it says

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        rows = len(self.features)
        if self.features.ndim != 2 or self.relevance.shape != (rows,):
            raise DataError(
                f"features {self.features.shape} and relevance {self.relevance.shape} must have the same rows"
            )
        if not np.issubdtype(self.relevance.dtype, np.integer) or (rows and self.relevance.min() < 0):
            raise DataError("relevance must be whole numbers of 0 or more, 0 being not relevant")
        if len(self.offsets) != len(self.ids) + 1 or self.offsets[0] != 0 or self.offsets[-1] != rows:
            raise DataError(f"offsets must run from 0 to {rows} in {len(self.ids) + 1} steps")
        if (np.diff(self.offsets) < 1).any():
            raise DataError("every query needs at least one document")
        if self.doc_ids and len(self.doc_ids) != rows:
            raise DataError(f"doc_ids must name all {rows} documents or none, found {len(self.doc_ids)}")
        if self.groups and len(self.groups) != rows:
            raise DataError(
                f"groups must name those of all {rows} documents or none, found {len(self.groups)}"
            )
        if self.contexts is not None:
            _check_contexts(self.contexts, len(self.ids))
        scores = self.caller_scores
        if scores is not None:
            if scores.shape != (rows,) or not np.isfinite(scores).all():
                raise DataError(f"caller_scores must be {rows} finite scores, one for each document")
            parts = (log_ranks(part) for part in np.split(scores, self.offsets[1:-1]))
            object.__setattr__(self, "caller_log_ranks", np.concatenate(list(parts)))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> JudgedQuery:
        n = len(self.ids)
        if not -n <= index < n:
            raise IndexError(f"query {index} of {n}")
        index %= n
        rows = slice(*self.offsets[index : index + 2].tolist())  # plain numbers cut arrays in half the time
        query = view_query(
            self.ids[index],
            self.features[rows],
            self.doc_ids[rows] if self.doc_ids else (),
            self.groups[rows] if self.groups else (),
            NOBODY if self.contexts is None else view_context("", self.contexts[index]),
            None if self.caller_scores is None else self.caller_scores[rows],
            None if self.caller_log_ranks is None else self.caller_log_ranks[rows],
            None,
        )
        return judge_query(query, self.relevance[rows])

    def __iter__(self) -> Iterator[JudgedQuery]:
        return (self[index] for index in range(len(self)))

    def as_one_query(self) -> Query:
        """View all documents as the candidates of one query, each with its rank, to be scored in one call."""
        orders = self.caller_scores, self.caller_log_ranks
        return view_query("", self.features, self.doc_ids, self.groups, NOBODY, *orders, None)

    @property
    def n_features(self) -> int:
        """Width of the feature matrix."""
        return int(self.features.shape[1])

    @property
    def grades(self) -> int:
        """How many grades the labels use: one more than the highest."""
        return int(self.relevance.max()) + 1 if len(self.relevance) else 1


def _check_contexts(contexts: FloatArray, queries: int) -> None:
    if contexts.ndim != 2 or len(contexts) != queries or not np.isfinite(contexts).all():
        raise DataError(
            f"contexts must be a row of finite numbers for each of {queries} queries, found {contexts.shape}"
        )
