"""The facts about a query set that one wants to see before running anything on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.data.prepare import constant_features
from rankloop.types import QuerySet


@dataclass(frozen=True, slots=True)
class Description:
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


def describe(queries: QuerySet) -> Description:
    """Count what is in a query set.

    >>> facts = describe(QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([0, 2, 1]), ("a", "b")))
    >>> facts.queries, facts.documents, facts.most_documents, facts.queries_without_relevant
    (2, 3, 2, 1)
    """
    lengths = np.diff(queries.offsets)
    best = np.maximum.reduceat(queries.relevance, queries.offsets[:-1])
    shares = np.bincount(queries.relevance) / len(queries.relevance)
    return Description(
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
