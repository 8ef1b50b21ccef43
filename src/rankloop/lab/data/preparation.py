"""Normalise features, drop constant ones and scale documents: each step a function of query sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from rankloop.errors import DataError
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, FloatArray, IntArray

CHUNK_ROWS = 8192  # bounds the double-precision copies


def normalise_per_query(queries: QuerySet) -> QuerySet:
    r"""Scale every feature to [0, 1] within each query, $(x - \min_q) / (\max_q - \min_q)$.

    A feature that is constant within a query becomes 0 there: it cannot order that query's documents.

    >>> raw = QuerySet(np.array([[2.0, 5], [4, 5], [3, 5]]), np.array([0, 3]), np.array([0, 1, 0]), ("q",))
    >>> normalise_per_query(raw).features.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]
    """
    scaled = np.empty(queries.features.shape, np.float32)
    for first, last in _chunks(queries):
        rows = slice(queries.offsets[first], queries.offsets[last])
        lengths = np.diff(queries.offsets[first : last + 1])
        scaled[rows] = _scaled(queries.features[rows].astype(np.float64), lengths)
    return replace(queries, features=scaled)


def scale_to_unit_length(queries: QuerySet) -> QuerySet:
    r"""Scale every document's features to length 1, $x / \lVert x \rVert$; a document of zeros stays one.

    What the papers' analyses assume of features.

    >>> raw = QuerySet(np.array([[3.0, 4], [0, 0]]), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> scale_to_unit_length(raw).features.round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.sqrt(np.square(queries.features, dtype=np.float64).sum(axis=1, keepdims=True))
    features = queries.features / np.where(lengths > 0, lengths, 1)
    return replace(queries, features=features.astype(queries.features.dtype))


def drop_constant_features(train: QuerySet, *others: QuerySet) -> tuple[QuerySet, ...]:
    """Drop the features with one value in all of `train`, from it and from the other sets.

    >>> train = QuerySet(np.array([[0.0, 5], [1, 5]]), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> [part.features.tolist() for part in drop_constant_features(train, train)]
    [[[0.0], [1.0]], [[0.0], [1.0]]]
    """
    keep = ~constant_features(train)
    if not keep.any():
        raise DataError(
            "expected a feature that varies over the training set, found none: nothing to learn from"
        )
    if any(part.n_features != train.n_features for part in others):
        widths = [part.n_features for part in (train, *others)]
        raise DataError(f"expected sets of the same features, found widths {widths}; use pad_features first")
    if keep.all():
        return (train, *others)
    return tuple(replace(part, features=part.features[:, keep]) for part in (train, *others))


def constant_features(queries: QuerySet) -> BoolArray:
    """Which features have the same value in every row."""
    return np.asarray(queries.features.min(axis=0) == queries.features.max(axis=0))


def _chunks(queries: QuerySet) -> list[tuple[int, int]]:
    """Ranges of whole queries, each just long enough to reach CHUNK_ROWS rows."""
    steps = np.searchsorted(queries.offsets, np.arange(CHUNK_ROWS, queries.offsets[-1], CHUNK_ROWS))
    bounds = np.unique([0, *steps, len(queries)]).tolist()
    return list(pairwise(bounds))


def _scaled(features: FloatArray, lengths: IntArray) -> FloatArray:
    starts = np.cumsum(lengths) - lengths
    lowest = np.minimum.reduceat(features, starts, axis=0)
    spread = np.maximum.reduceat(features, starts, axis=0) - lowest
    features -= np.repeat(lowest, lengths, axis=0)
    features /= np.repeat(np.where(spread > 0, spread, 1.0), lengths, axis=0)
    return features
