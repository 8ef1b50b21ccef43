"""The mean over queries says what it does with queries nobody can rank."""

from __future__ import annotations

import numpy as np
import pytest

from rankloop.errors import DataError, SettingError
from rankloop.metrics import NDCG, Precision, has_relevant, mean_over_queries
from rankloop.query_set import QuerySet

# A query ranked perfectly, one without a relevant document, one with its relevant document second.
QUERIES = QuerySet(np.zeros((5, 1)), np.array([0, 2, 3, 5]), np.array([2, 0, 0, 0, 1]), ("a", "b", "c"))
SCORES = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
SECOND = 1 / np.log2(3)


def test_they_are_left_out_unless_asked_for() -> None:
    assert mean_over_queries(NDCG(k=10), SCORES, QUERIES) == pytest.approx((1 + SECOND) / 2)


def test_they_count_zero_or_one_when_asked() -> None:
    zero = mean_over_queries(NDCG(k=10), SCORES, QUERIES, without_relevant="zero")
    one = mean_over_queries(NDCG(k=10), SCORES, QUERIES, without_relevant="one")
    assert zero == pytest.approx((1 + 0 + SECOND) / 3)
    assert one == pytest.approx((1 + 1 + SECOND) / 3)


def test_relevant_means_what_the_metric_says() -> None:
    assert has_relevant(QUERIES).tolist() == [True, False, True]
    assert mean_over_queries(Precision(k=1, relevant_from=2), SCORES, QUERIES) == 1.0


def test_a_mean_of_nothing_is_refused() -> None:
    hopeless = QuerySet(np.zeros((1, 1)), np.array([0, 1]), np.array([0]), ("a",))
    with pytest.raises(DataError, match="none of the 1 queries"):
        mean_over_queries(NDCG(), np.zeros(1), hopeless)


def test_an_unknown_convention_is_refused() -> None:
    with pytest.raises(SettingError, match="found 'drop'"):
        mean_over_queries(NDCG(), SCORES, QUERIES, without_relevant="drop")  # type: ignore[arg-type]
