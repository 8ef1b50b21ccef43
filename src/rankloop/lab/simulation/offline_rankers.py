"""Offline RankNet and LambdaRank: what the true labels teach a linear ranker, to compare with."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import expit

from rankloop.learning import logistic
from rankloop.metrics import NDCG
from rankloop.metrics.dcg import gain
from rankloop.metrics.rank_discounts import rank_discounts
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

STEPS = 20  # of LambdaRank; another forty turn the direction by less than 0.001 of a cosine on all data tried


@lru_cache(maxsize=2)  # solving takes seconds; every run on the same data needs the same solution
def train_ranknet(
    train: QuerySet, *, pairs: int = 50_000, seed: int = 0, regularisation: float = 1.0
) -> FloatArray:
    r"""Train an L2-regularised logistic regression on pairs of documents with different grades.

    The loss is that of `learning.logistic`, over all pairs of each training query or, where there are more,
    over `pairs` of them drawn at random.

    >>> queries = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> train_ranknet(queries).round(3).tolist()  # the second feature speaks for relevance
    [-0.337, 0.337]
    """
    better, worse = graded_pairs(train, pairs, np.random.default_rng(seed))
    features = train.features.astype(np.float64, copy=False)
    return logistic.fit(features[better] - features[worse], regularisation, np.zeros(train.n_features))


@lru_cache(maxsize=2)  # as for the offline RankNet: every run on the same data needs the same solution
def train_lambdarank(
    train: QuerySet, *, pairs: int = 50_000, seed: int = 0, regularisation: float = 1.0
) -> FloatArray:
    r"""Train a LambdaRank without hidden layers until it comes to rest.

    The pairs and the loss are those of `train_ranknet`, where it starts, but each pair counts by how much
    nDCG would change if its two documents swapped places,

    $$\lambda_{ij} = |\Delta \text{nDCG}_{ij}| \, \sigma(s_j - s_i),$$

    scaled so that pairs count 1 on average. The ranks change with the weights: every Newton step counts the
    pairs anew, and steps become shorter so that the ranks settle.

    >>> queries = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> train_lambdarank(queries).round(3).tolist()  # a single pair: the offline RankNet
    [-0.337, 0.337]

    Burges, Ragno, Le: Learning to rank with nonsmooth cost functions. NIPS 2006.
    """
    here = train_ranknet(train, pairs=pairs, seed=seed, regularisation=regularisation)
    better, worse = graded_pairs(train, pairs, np.random.default_rng(seed))
    features = train.features.astype(np.float64, copy=False)
    differences = features[better] - features[worse]
    for number in range(STEPS if len(better) else 0):
        counts = swap_changes(features @ here, train, better, worse)
        counts /= counts.mean()
        margins = differences @ here
        descent = differences.T @ (counts * expit(-margins)) - regularisation * here
        bend = differences.T @ (differences * (counts * logistic.slopes(margins))[:, None])
        step = np.linalg.solve(bend + regularisation * np.eye(len(here)), descent)
        here = here + step * 2 / (2 + number)
    return here


def swap_changes(scores: FloatArray, train: QuerySet, better: IntArray, worse: IntArray) -> FloatArray:
    r"""Compute by how much nDCG would change if the two documents of a pair of rows swapped ranks, [n_pairs].

    With grades $r$ and ranks $k$ it is $|2^{r_i} - 2^{r_j}| \, |1/\log_2(1 + k_i) - 1/\log_2(1 + k_j)|$ over
    the ideal DCG of the query.

    >>> queries = QuerySet(np.eye(3), np.array([0, 3]), np.array([0, 0, 1]), ("q",))
    >>> swap_changes(np.array([3.0, 2.0, 1.0]), queries, np.array([2, 2]), np.array([0, 1])).round(3).tolist()
    [0.5, 0.131]
    """
    ranked = RankedRows.of(scores, train)
    discounts = np.empty(len(scores))
    discounts[ranked.rows] = rank_discounts(int(ranked.rank.max()))[ranked.rank - 1]
    gains, ideal = gain(train.relevance), np.repeat(NDCG(k=None).ideal(train), np.diff(train.offsets))
    changes: FloatArray = (gains[better] - gains[worse]) * (discounts[better] - discounts[worse])
    return np.abs(changes) / ideal[better]


def graded_pairs(train: QuerySet, most: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Find the rows of the better and of the worse documents: all pairs, or `most` of them at random.

    >>> queries = QuerySet(np.eye(5), np.array([0, 3, 5]), np.array([0, 2, 1, 1, 1]), ("a", "b"))
    >>> [rows.tolist() for rows in graded_pairs(queries, 9, np.random.default_rng(0))]
    [[1, 1, 2], [0, 2, 0]]
    """
    ends = np.concatenate(([0], np.cumsum([_count_pairs(judged.relevance) for judged in train])))
    chosen = np.sort(rng.choice(ends[-1], size=min(most, ends[-1]), replace=False, shuffle=False))
    parts = np.split(chosen, np.searchsorted(chosen, ends[1:-1]))
    rows = [np.empty((2, 0), dtype=np.int64)]
    for judged, part, start, offset in zip(train, parts, ends[:-1], train.offsets[:-1], strict=True):
        if part.size:
            unequal = np.array(np.nonzero(judged.relevance[:, None] > judged.relevance))
            rows.append(unequal[:, part - start] + offset)
    better, worse = np.concatenate(rows, axis=1)
    return better, worse


def _count_pairs(relevance: IntArray) -> int:
    """Count the pairs of different grades, without listing them."""
    counts = np.bincount(relevance)
    return int(len(relevance) ** 2 - counts @ counts) // 2
