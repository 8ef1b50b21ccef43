"""DCG and nDCG, from their formulas."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.metrics import DCG, NDCG
from rankloop.query_set import QuerySet

GRADES = np.array([0, 3, 1, 2])
BEST = 7 + 3 / log2(3) + 1 / log2(4)


def test_dcg_sums_discounted_gains() -> None:
    assert DCG()(np.array([2, 0, 3, 1]), GRADES) == pytest.approx(1 + 3 / log2(4) + 7 / log2(5))
    assert DCG(k=2)(np.array([2, 0, 3, 1]), GRADES) == pytest.approx(1)


def test_the_ideal_is_made_of_documents_that_were_not_shown_too() -> None:
    assert NDCG(k=10)(np.array([2]), GRADES) == pytest.approx(1 / BEST)
    assert NDCG(k=1)(np.array([2]), GRADES) == pytest.approx(1 / 7)


def test_the_best_list_has_ndcg_one() -> None:
    assert NDCG()(np.array([1, 3, 2, 0]), GRADES) == 1.0


def test_a_known_ideal_changes_nothing() -> None:
    queries = QuerySet(np.zeros((5, 1)), np.array([0, 4, 5]), np.append(GRADES, 0), ("judged", "hopeless"))
    metric, shown = NDCG(k=2), np.array([3, 1])
    ideal = metric.ideal(queries)
    assert ideal.tolist() == pytest.approx([7 + 3 / log2(3), 0.0])
    assert metric.given_ideal(shown, GRADES, ideal[0]) == pytest.approx(metric(shown, GRADES))
    assert metric.given_ideal(np.array([0]), np.array([0]), ideal[1]) == 0.0


def test_a_cutoff_that_shows_nothing_is_refused() -> None:
    with pytest.raises(SettingError, match="NDCG: k must be a whole number of at least 1 or None, found 0"):
        NDCG(k=0)
