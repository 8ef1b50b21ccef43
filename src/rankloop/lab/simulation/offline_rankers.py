"""The offline RankNet: what the true labels teach a linear ranker, as a direction to compare with."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rankloop.learning import logistic
from rankloop.types import FloatArray, IntArray, QuerySet


@lru_cache(maxsize=2)  # solving takes seconds; every run on the same data needs the same solution
def offline_ranknet(
    train: QuerySet, *, pairs: int = 50_000, seed: int = 0, regularisation: float = 1.0
) -> FloatArray:
    r"""The weights of an L2-regularised logistic regression on pairs of documents with different grades.

    The loss is that of `learning.logistic`, over all pairs of each training query or, where there are more,
    over `pairs` of them drawn at random.

    >>> queries = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> offline_ranknet(queries).round(3).tolist()  # the second feature speaks for relevance
    [-0.337, 0.337]
    """
    better, worse = graded_pairs(train, pairs, np.random.default_rng(seed))
    features = train.features.astype(np.float64, copy=False)
    return logistic.fit(features[better] - features[worse], regularisation, np.zeros(train.n_features))


def graded_pairs(train: QuerySet, most: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """The rows of the better and of the worse documents: all pairs, or `most` of them at random.

    >>> queries = QuerySet(np.eye(5), np.array([0, 3, 5]), np.array([0, 2, 1, 1, 1]), ("a", "b"))
    >>> [rows.tolist() for rows in graded_pairs(queries, 9, np.random.default_rng(0))]
    [[1, 1, 2], [0, 2, 0]]
    """
    ends = np.concatenate(([0], np.cumsum([_pairs(judged.relevance) for judged in train])))
    chosen = np.sort(rng.choice(ends[-1], size=min(most, ends[-1]), replace=False, shuffle=False))
    parts = np.split(chosen, np.searchsorted(chosen, ends[1:-1]))
    rows = [np.empty((2, 0), dtype=np.int64)]
    for judged, part, start, offset in zip(train, parts, ends[:-1], train.offsets[:-1], strict=True):
        if part.size:
            unequal = np.array(np.nonzero(judged.relevance[:, None] > judged.relevance))
            rows.append(unequal[:, part - start] + offset)
    better, worse = np.concatenate(rows, axis=1)
    return better, worse


def _pairs(relevance: IntArray) -> int:
    """How many pairs have different grades, without listing them."""
    counts = np.bincount(relevance)
    return int(len(relevance) ** 2 - counts @ counts) // 2
