"""What cannot be learned: the tables of the thesis, and the test that tells."""

from __future__ import annotations

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.lab.theory.indistinguishable import FIRST, SECOND, least_regret
from rankloop.lab.theory.objectives import (
    APGain,
    AUCLoss,
    DCGGain,
    NDCGGain,
    Objective,
    PairwiseLoss,
    PrecisionGain,
    SumLoss,
)
from rankloop.lab.theory.observability import (
    all_grades,
    all_ranks,
    feedback_matrix,
    globally_observable,
    observability,
    value_matrix,
)
from rankloop.metrics import AP, DCG, NDCG, PairwiseRegret, Precision

SMALL = (3, 4, 5)
ADDITIVE = (SumLoss(), PairwiseLoss(), DCGGain())
ALL = (*ADDITIVE, PrecisionGain(1), PrecisionGain(2), NDCGGain(), APGain(), AUCLoss())


def test_table_3_1_the_losses_of_three_items() -> None:
    assert value_matrix(SumLoss(), 3).tolist() == [
        [0, 3, 2, 5, 1, 4, 3, 6],
        [0, 2, 3, 5, 1, 3, 4, 6],
        [0, 3, 1, 4, 2, 5, 3, 6],
        [0, 1, 3, 4, 2, 3, 5, 6],  # the third item first: its rank is 1 ...
        [0, 2, 1, 3, 3, 5, 4, 6],
        [0, 1, 2, 3, 3, 4, 5, 6],
    ]


def test_table_3_2_the_feedback_of_three_items() -> None:
    first, second, third = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1]
    assert feedback_matrix(3).tolist() == [first, first, second, third, second, third]


def test_table_b_1_two_worlds_that_look_alike_and_want_different_orders() -> None:
    for world in (FIRST, SECOND):
        assert world.probabilities.sum() == pytest.approx(1)
        assert world.mean_grades == pytest.approx([0.45, 0.45, 0.40])
    assert FIRST.mean_normalised_gains.round(4).tolist() == [0.3533, 0.3920, 0.3226]
    assert SECOND.mean_normalised_gains.round(4).tolist() == [0.3339, 0.3339, 0.4000]
    best = [all_ranks(3)[world.regrets(NDCGGain()) < 1e-12].tolist() for world in (FIRST, SECOND)]
    assert best == [[[2, 1, 3]], [[2, 3, 1], [3, 2, 1]]]
    assert least_regret(NDCGGain()) == pytest.approx(0.0142, abs=5e-5)
    assert all(least_regret(objective) == pytest.approx(0) for objective in ADDITIVE)


@pytest.mark.parametrize("items", SMALL)
@pytest.mark.parametrize("objective", ALL, ids=lambda objective: objective.name)
def test_the_table_of_what_is_observable(objective: Objective, items: int) -> None:
    found = observability(objective, k=1, items=items)
    if isinstance(objective, PrecisionGain):
        assert (found.smallest_k, found.smallest_local_k) == (1, 1)
    elif objective in ADDITIVE:
        assert (found.smallest_k, found.smallest_local_k) == (1, items - 1)
    elif isinstance(objective, AUCLoss):
        assert found.smallest_k == {3: 1, 4: 3, 5: 3}[items]
    else:
        assert found.smallest_k == items - 1


@pytest.mark.parametrize("items", SMALL)
@pytest.mark.parametrize("objective", ALL, ids=lambda objective: objective.name)
def test_the_rank_test_is_a_question_of_degree(objective: Objective, items: int) -> None:
    """What k grades show are the polynomials of degree k in the grades: the differences must be such."""
    grades = all_grades(items)
    inside = (grades[:, None] >= grades).all(axis=2)  # [row, subset] whether the subset's items are all there
    values = value_matrix(objective, items)
    coefficients = np.linalg.solve(inside.astype(float), (values - values[0]).T)  # [subset, order]
    degrees = grades.sum(axis=1)[np.abs(coefficients).max(axis=1) > 1e-9]
    for k in range(1, items + 1):
        assert globally_observable(objective, k=k, items=items) == (degrees.max() <= k)


def test_pairwise_loss_and_sum_loss_differ_by_what_no_order_changes() -> None:
    for items in SMALL:
        difference = value_matrix(PairwiseLoss(), items) - value_matrix(SumLoss(), items)
        assert np.abs(difference - difference[0]).max() == 0


@pytest.mark.parametrize(
    ("objective", "metric", "scale"),
    [
        (DCGGain(), DCG(), 1),
        (NDCGGain(), NDCG(), 1),
        (APGain(), AP(), 1),
        (PairwiseLoss(), PairwiseRegret(), 1),
        (PrecisionGain(2), Precision(k=2), 2),
    ],
    ids=str,
)
def test_an_objective_is_the_metric_of_its_name(objective: Objective, metric: DCG, scale: int) -> None:
    ranks, grades = all_ranks(4), all_grades(4)[1:]  # without relevant items metrics say 0
    found = objective.values(ranks, grades)
    expected = [[scale * metric(order, row) for row in grades] for order in np.argsort(ranks, axis=1)]
    assert np.allclose(found, expected)


@pytest.mark.parametrize(("items", "k"), [(6, 1), (1, 1), (4, 0), (4, 5)])
def test_games_that_are_none_or_too_large_are_refused(items: int, k: int) -> None:
    with pytest.raises(SettingError, match=r"items must be 2 to 5|k must be from 1"):
        observability(SumLoss(), k=k, items=items)
