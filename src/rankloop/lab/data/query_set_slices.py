"""Take, join and widen query sets, with all their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from rankloop.errors import DataError
from rankloop.query_set import QUERY_COLUMNS, ROW_COLUMNS, QuerySet


def take_queries(queries: QuerySet, start: int = 0, stop: int | None = None) -> QuerySet:
    """Take the queries from `start` up to, not including, `stop`, as slices do, without copying features.

    >>> both = QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b"))
    >>> take_queries(both, 1).ids, take_queries(both, 0, 9).ids
    (('b',), ('a', 'b'))
    """
    start, stop, _ = slice(start, stop).indices(len(queries))
    offsets = queries.offsets[start : max(start, stop) + 1]
    columns = {name: _cut(queries, name, start, stop) for name in QUERY_COLUMNS}
    columns |= {name: _cut(queries, name, int(offsets[0]), int(offsets[-1])) for name in ROW_COLUMNS}
    return replace(queries, offsets=offsets - offsets[0], **columns)


def concatenate(*query_sets: QuerySet) -> QuerySet:
    """One set with the queries of all, in order; narrower sets are padded, a single one is returned as it is.

    A column that one of the sets lacks, such as ids of documents, is left out.

    >>> one = QuerySet(np.array([[1.0]]), np.array([0, 1]), np.array([2]), ("q",))
    >>> concatenate(one, one).offsets.tolist()
    [0, 1, 2]
    """
    if not query_sets:
        raise DataError("expected at least one set to concatenate, found none")
    parts = pad_features(*([each for each in query_sets if len(each)] or query_sets))
    if len(parts) == 1:
        return parts[0]
    widths = {part.contexts.shape[1] for part in parts if part.contexts is not None}
    if len(widths) > 1:
        raise DataError(f"expected contexts of the same width, found widths {sorted(widths)}")
    offsets = np.append(0, np.cumsum(np.concatenate([np.diff(part.offsets) for part in parts])))
    columns = {name: _join([getattr(part, name) for part in parts]) for name in ROW_COLUMNS + QUERY_COLUMNS}
    return replace(parts[0], offsets=offsets, **columns)


def pad_features(*query_sets: QuerySet, n_features: int = 0) -> tuple[QuerySet, ...]:
    """Append zeros until all sets are as wide as the widest, or as `n_features`.

    Files are sparse: one that never mentions the last features is read narrower than its neighbours.

    >>> narrow = QuerySet(np.array([[1.0]]), np.array([0, 1]), np.array([0]), ("q",))
    >>> pad_features(narrow, n_features=3)[0].features.tolist()
    [[1.0, 0.0, 0.0]]
    """
    width = max(n_features, *(queries.n_features for queries in query_sets), 0)
    return tuple(_widen(queries, width) for queries in query_sets)


def _widen(queries: QuerySet, width: int) -> QuerySet:
    if queries.n_features == width:
        return queries
    features = np.zeros((len(queries.features), width), queries.features.dtype)
    features[:, : queries.n_features] = queries.features
    return replace(queries, features=features)


def _cut(queries: QuerySet, name: str, start: int, stop: int) -> Any:
    column = getattr(queries, name)
    return None if column is None else column[start:stop]


def _join(columns: Sequence[Any]) -> Any:
    for column in columns:
        if column is None or not len(column):
            return column
    return np.concatenate(columns) if isinstance(columns[0], np.ndarray) else tuple(chain(*columns))
