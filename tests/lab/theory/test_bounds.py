"""Bounds are their formulas, and hold in what they can be tried on."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import pytest

from rankloop.errors import SettingError
from rankloop.lab.theory import (
    LinearClass,
    ListNetLoss,
    bound_lipschitz_complexity,
    bound_ogd_excess,
    bound_optimistic_loss,
    bound_regularised_excess,
    bound_smooth_complexity,
    find_regularisation,
)

RATE = 0.01  # of a class with log2(3mn) / n = 24 / 240,000
BALL = LinearClass(norm=2.0, radius=0.5, queries=240_000, documents=2**24 // 3)


def test_bounds_are_their_formulas() -> None:
    n = 240_000
    assert bound_ogd_excess(BALL, 3.0) == pytest.approx(3 * sqrt(2 / n))
    assert bound_regularised_excess(BALL, 3.0) == pytest.approx(6 * (8 / n + sqrt(2 / n)))
    assert bound_lipschitz_complexity(BALL, 3.0, 1.0) == pytest.approx(0.3 * log(6 / (5 * 0.03)), rel=1e-6)
    scale = 5 * sqrt(3) * sqrt(2) * RATE
    expected = 4 * 0.5 * scale * log(3 * 2 / scale)
    assert bound_smooth_complexity(BALL, 2.0, 4.0, loss=0.25) == pytest.approx(expected, rel=1e-6)


def test_the_weight_of_regularisation_is_the_best_for_its_proof() -> None:
    """The proof bounds the excess by λW²/2 + 4(λW + G R_X)²/(λn), and takes the smallest."""

    def proof(weight: float) -> float:
        return weight * 2 + 4 * (2 * weight + 1.5) ** 2 / (weight * 240_000)

    chosen = find_regularisation(BALL, 3.0)
    assert proof(chosen) < min(proof(chosen * 1.01), proof(chosen / 1.01))
    assert proof(chosen) <= bound_regularised_excess(BALL, 3.0)


def test_an_optimistic_loss_solves_its_inequality() -> None:
    n, largest, seen = 240_000, 40.0, 0.2
    scale = 5 * sqrt(3 * 0.01) * RATE
    fixed = (4 * scale * log(3 * sqrt(largest) / scale)) ** 2
    rare = largest * (log(1 / 0.05) + log(log(n))) / n
    found = bound_optimistic_loss(BALL, 0.01, largest, seen)
    right = seen + 45 * fixed + 20 * rare + sqrt(8 * fixed * found) + sqrt(4 * rare * found)
    assert found == pytest.approx(right, rel=1e-5)
    assert seen < found < largest
    assert bound_optimistic_loss(BALL, 1.0, 0.5, seen) == 0.5  # no loss is above the largest


@pytest.mark.parametrize("reach", [1e4, 1e8])
def test_a_class_too_rich_for_its_sample_gets_what_holds_for_any_loss(reach: float) -> None:
    rich = LinearClass(norm=reach, radius=1.0, queries=100, documents=1000)
    assert bound_lipschitz_complexity(rich, 1.0, 3.0) == 3.0
    assert bound_smooth_complexity(rich, 1.0, 4.0, loss=1.0) == 2.0
    assert bound_optimistic_loss(rich, 1.0, 3.0, 1.0) == 3.0


def test_more_queries_and_smaller_balls_give_smaller_bounds() -> None:
    more = replace(BALL, queries=4 * BALL.queries, documents=4 * BALL.documents)
    small = replace(BALL, norm=1.0)
    for other in (more, small):
        assert bound_ogd_excess(other, 1.0) == pytest.approx(bound_ogd_excess(BALL, 1.0) / 2)
        assert bound_regularised_excess(other, 1.0) < bound_regularised_excess(BALL, 1.0)
        assert bound_lipschitz_complexity(other, 1.0, 9.0) < bound_lipschitz_complexity(BALL, 1.0, 9.0)
        assert bound_optimistic_loss(other, 0.01, 40.0, 0.2) < bound_optimistic_loss(BALL, 0.01, 40.0, 0.2)


def test_a_collection_of_search_results_has_the_known_bounds() -> None:
    """The first 1000 training queries of MQ2007, fold 5, as read: rows are at most 5.53 long."""
    ball = LinearClass(norm=5.0, radius=5.53, queries=1000, documents=35_141)
    printed = ListNetLoss().as_printed(ball.reach, longest=147)
    assert bound_ogd_excess(ball, printed.lipschitz) == pytest.approx(2.47, abs=0.005)
    assert bound_regularised_excess(ball, printed.lipschitz) == pytest.approx(5.83, abs=0.005)
    assert bound_lipschitz_complexity(ball, printed.lipschitz, printed.largest) == pytest.approx(209, abs=0.5)


def test_balls_and_samples_that_are_none_are_refused() -> None:
    with pytest.raises(SettingError, match="norm must be a finite number above 0"):
        replace(BALL, norm=0.0)
    with pytest.raises(SettingError, match="a document for each query, found 5 queries and 4 documents"):
        replace(BALL, queries=5, documents=4)
    with pytest.raises(SettingError, match="delta between 0 and 1"):
        bound_optimistic_loss(BALL, 1.0, 1.0, 0.1, delta=1.0)
