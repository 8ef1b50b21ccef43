"""The facts about a query set that one wants to see before running anything on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.lab.data.preparation import constant_features
from rankloop.query_set import QuerySet


@dataclass(frozen=True, slots=True)
class QuerySetSummary:
    """Size and shape of a query set."""

    queries: int
    documents: int
    fewest_documents: int  # in a query
    median_documents: float
    most_documents: int
    features: int
    constant_features: int
    grade_shares: tuple[float, ...]  # [grades] share of the documents, sums to 1
    queries_without_relevant: int
    megabytes: float  # of the feature matrix


def summarise_queries(queries: QuerySet) -> QuerySetSummary:
    """Count what is in a query set.

    >>> facts = summarise_queries(QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b")))
    >>> facts.queries, facts.documents, facts.most_documents, facts.queries_without_relevant
    (2, 3, 2, 1)
    """
    lengths = np.diff(queries.offsets)
    best = np.maximum.reduceat(queries.relevance, queries.offsets[:-1])
    shares = np.bincount(queries.relevance) / len(queries.relevance)
    return QuerySetSummary(
        queries=len(queries),
        documents=len(queries.features),
        fewest_documents=int(lengths.min()),
        median_documents=float(np.median(lengths)),
        most_documents=int(lengths.max()),
        features=queries.n_features,
        constant_features=int(constant_features(queries).sum()),
        grade_shares=tuple(shares.tolist()),
        queries_without_relevant=int((best == 0).sum()),
        megabytes=queries.features.nbytes / 1e6,
    )


def effective_rank(queries: QuerySet) -> float:
    r"""How many equally strong, unrelated features the documents of a query differ in, in effect.

    $(\sum_k \lambda_k)^2 / \sum_k \lambda_k^2$ with the eigenvalues $\lambda$ of the covariance of the
    features within queries, the mean over the queries: `n_features` if all differ alike and independently, 1
    if all say the same. The smaller it is, the longer gradient descent takes.

    >>> square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> one = QuerySet(square, np.array([0, 4]), np.zeros(4, dtype=np.int64), ("a",))
    >>> twice = QuerySet(square[:, [0, 0]], np.array([0, 4]), np.zeros(4, dtype=np.int64), ("a",))
    >>> round(effective_rank(one), 6), round(effective_rank(twice), 6)
    (2.0, 1.0)
    """
    covariance = np.zeros((queries.n_features, queries.n_features))
    for judged in queries:
        centred = judged.query.features - judged.query.features.mean(axis=0)
        covariance += centred.T @ centred / len(centred)
    total = float(np.trace(covariance))
    return total**2 / float(np.square(covariance).sum()) if total else 0.0
