import numpy as np
import pytest

from rankloop.lab.data import QuerySetSummary, effective_rank, summarise_queries
from rankloop.query_set import QuerySet


def test_a_description_counts() -> None:
    features = np.zeros((5, 3), np.float32)
    features[:, 1] = np.arange(5)
    queries = QuerySet(features, np.array([0, 1, 3, 5]), np.array([0, 2, 0, 0, 0]), ("a", "b", "c"))
    assert summarise_queries(queries) == QuerySetSummary(
        queries=3,
        documents=5,
        fewest_documents=1,
        median_documents=2.0,
        most_documents=2,
        features=3,
        constant_features=2,
        grade_shares=(4 / 5, 0.0, 1 / 5),
        queries_without_relevant=2,
        megabytes=5 * 3 * 4 / 1e6,
    )


def test_the_effective_rank_is_that_of_the_eigenvalues() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 4)) + 100
    queries = QuerySet(features, np.array([0, 10, 30]), np.zeros(30, dtype=np.int64), ("a", "b"))
    mean = sum(np.cov(features[rows].T, bias=True) for rows in (slice(10), slice(10, 30)))
    eigenvalues = np.linalg.eigvalsh(mean)
    assert effective_rank(queries) == pytest.approx(eigenvalues.sum() ** 2 / np.square(eigenvalues).sum())


def test_documents_that_are_all_alike_differ_in_nothing() -> None:
    queries = QuerySet(np.ones((3, 2)), np.array([0, 3]), np.zeros(3, dtype=np.int64), ("a",))
    assert effective_rank(queries) == 0
