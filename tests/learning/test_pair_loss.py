"""The descent of the pairwise cross-entropy is that of its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from rankloop.learning.pair_loss import loss_direction, pair_residuals
from rankloop.scorers import MLP, Linear, Scorer
from rankloop.types import BoolArray, FloatArray


def loss(scorer: Scorer, parameters: FloatArray, documents: FloatArray, wins: BoolArray) -> float:
    """-Σ log σ(s_i - s_j) over all wins of all lists, as a mean over the lists."""
    total = 0.0
    for rows, won in zip(documents, wins, strict=True):
        scores = scorer.score(parameters, rows)
        total += sum(np.logaddexp(0, scores[j] - scores[i]) for i, j in np.argwhere(won))
    return total / len(documents)


def some_lists(seed: int) -> tuple[FloatArray, BoolArray]:
    rng = np.random.default_rng(seed)
    wins = (rng.random((3, 5, 5)) < 0.3) & ~np.eye(5, dtype=bool)
    wins[0, 3:] = wins[0, :, 3:] = False  # a shorter list
    return rng.random((3, 5, 4)), wins


@pytest.mark.parametrize("scorer", [Linear(), MLP((6, 4), scale=0.5)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_slope_of_the_loss(scorer: Scorer, seed: int) -> None:
    documents, wins = some_lists(seed)
    here = scorer.start(4) + 0.1 * np.random.default_rng(seed).standard_normal(scorer.start(4).size)
    slope = approx_fprime(here, lambda point: loss(scorer, point, documents, wins), 1e-7)
    np.testing.assert_allclose(loss_direction(scorer, here, documents, wins), -slope, rtol=1e-3, atol=1e-4)


def test_a_stack_descends_together() -> None:
    documents, wins = some_lists(0)
    scorer = MLP((6, 4))
    stack = scorer.start(4) + 0.1 * np.random.default_rng(0).standard_normal((3, scorer.start(4).size))
    together = loss_direction(scorer, stack, documents, wins)
    for parameters, direction in zip(stack, together, strict=True):
        np.testing.assert_allclose(direction, loss_direction(scorer, parameters, documents, wins), atol=1e-12)


def test_what_a_win_counts_can_be_changed() -> None:
    documents, wins = some_lists(0)
    twice = loss_direction(Linear(), np.zeros(4), documents, wins, lambda s, w: 2 * pair_residuals(s, w))
    np.testing.assert_allclose(twice, 2 * loss_direction(Linear(), np.zeros(4), documents, wins))
