"""Constants of losses: never exceeded, and nearly reached, on all small lists."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankloop.lab.theory import ListNetLoss, RankSVMLoss, SmoothDCGLoss, Surrogate
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

LOSSES: tuple[Surrogate, ...] = (ListNetLoss(), SmoothDCGLoss(top_grade=2, smoothing=0.7), RankSVMLoss())


def lists(m: int, scores: tuple[float, ...]) -> tuple[QuerySet, FloatArray]:
    """All lists of m documents with grades 0 to 2 and these scores."""
    grades = np.array(list(product(range(3), repeat=m)))
    drawn = np.array(list(product(scores, repeat=m)))
    relevance, values = np.repeat(grades, len(drawn), axis=0), np.tile(drawn, (len(grades), 1))
    ids = tuple(map(str, range(len(relevance))))
    queries = QuerySet(np.zeros((relevance.size, 0)), np.arange(len(ids) + 1) * m, relevance.ravel(), ids)
    return queries, values.ravel()


def largest_slope(loss: Surrogate, m: int, scores: tuple[float, ...]) -> float:
    queries, values = lists(m, scores)
    return float(np.abs(loss.slopes(values, queries)).reshape(-1, m).sum(axis=1).max())


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.label)
def test_no_slope_is_beyond_the_lipschitz_constant(loss: Surrogate, m: int) -> None:
    found = largest_slope(loss, m, (-9.0, -0.5, 0.0, 0.5, 9.0))
    assert found <= loss.constants(9.0, m).lipschitz + 1e-12


def test_the_lipschitz_constants_are_the_smallest() -> None:
    """ListNet's is approached where the grades are far apart, the others' are reached."""
    far = QuerySet(np.zeros((2, 0)), np.array([0, 2]), np.array([20, 0]), ("q",))
    assert np.abs(ListNetLoss().slopes(np.array([-20.0, 20.0]), far)).sum() == pytest.approx(2)
    smooth = LOSSES[1]
    assert largest_slope(smooth, 2, (0.0,)) == pytest.approx(smooth.constants(1.0, 2).lipschitz)
    assert smooth.as_printed(1.0, 2).lipschitz == pytest.approx(4 * smooth.constants(1.0, 2).lipschitz)
    for m in (2, 3, 4, 5):
        assert largest_slope(RankSVMLoss(), m, (0.0,)) == 2 * (m * m // 4)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_listnet_is_as_smooth_as_its_constant_and_no_smoother(m: int) -> None:
    """The Hessian as finite differences, its norm over all signs."""
    rng = np.random.default_rng(0)
    signs = np.array(list(product((-1.0, 1.0), repeat=m)))
    even = np.array([0.0, 0.0, *[-40.0] * (m - 2)])  # half and half
    norms = []
    for scores in (even, *rng.normal(0, 2, (200, m))):
        queries = QuerySet(np.zeros((m, 0)), np.array([0, m]), rng.integers(0, 3, m), ("q",))
        step = 1e-5 * np.eye(m)
        ahead = np.array([ListNetLoss().slopes(scores + row, queries) for row in step])
        behind = np.array([ListNetLoss().slopes(scores - row, queries) for row in step])
        norms.append(float((signs @ ((ahead - behind) / 2e-5) @ signs.T).max()))
    smoothness = ListNetLoss().constants(1.0, m).smoothness
    assert smoothness is not None
    assert max(norms) == pytest.approx(smoothness, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.label)
def test_a_slope_is_that_of_the_loss_and_no_loss_is_above_the_largest(loss: Surrogate) -> None:
    queries, values = lists(3, (-1.3, 0.1, 0.7))
    assert (loss.losses(values, queries) >= -1e-12).all()
    assert loss.losses(values, queries).max() <= loss.constants(1.3, 3).largest + 1e-12
    slopes = loss.slopes(values, queries).reshape(-1, 3)
    for document in range(3):
        step = np.tile(1e-6 * np.eye(3)[document], len(queries))
        change = (loss.losses(values + step, queries) - loss.losses(values - step, queries)) / 2e-6
        np.testing.assert_allclose(change, slopes[:, document], atol=1e-6)
