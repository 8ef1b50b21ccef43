"""The network is the papers', its gradients are right, and stacks are many networks in one call."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError, SettingError
from rankloop.scorers import MLP, Linear, Scorer
from rankloop.types import FloatArray

HIDDEN = st.lists(st.sampled_from([2, 4, 6]), min_size=1, max_size=3).map(tuple)


def moved(scorer: MLP, n_features: int, seed: int) -> FloatArray:
    """Parameters some way from the start, where twins differ."""
    start = scorer.start(n_features)
    size = 0.3 * float(np.abs(start).mean())
    return start + size * np.random.default_rng(seed).standard_normal(start.size)


def numerical(scorer: MLP, parameters: FloatArray, features: FloatArray) -> FloatArray:
    """Every document's gradient by finite differences, [n_docs, n_parameters]."""
    step = 1e-6
    columns = [
        scorer.score(parameters + step * unit, features) - scorer.score(parameters - step * unit, features)
        for unit in np.eye(parameters.size)
    ]
    return np.array(columns).T / (2 * step)


# The papers' network


def paper_network(blocks: list[FloatArray], x: FloatArray) -> float:
    """√m W_L φ(W_{L-1} ... φ(W_1 [x; x] / √2)), as it is written."""
    h = np.concatenate((x, x)) / np.sqrt(2)
    for block in blocks[:-1]:
        h = np.maximum(block @ h, 0)
    return float(np.sqrt(len(h)) * (blocks[-1] @ h)[0])


def paper_start(m: int, n_features: int, seed: int) -> list[FloatArray]:
    """Blocks (W, 0; 0, W) of N(0, 4/m), and (w, -w) of N(0, 2/m), of two hidden layers."""
    rng = np.random.default_rng(seed)
    first, second = (rng.normal(0, np.sqrt(4 / m), (m // 2, n)) for n in (n_features, m // 2))
    last = rng.normal(0, np.sqrt(2 / m), m // 2)
    return [np.kron(np.eye(2), first), np.kron(np.eye(2), second), np.concatenate((last, -last))[None]]


def paper_gradient(blocks: list[FloatArray], x: FloatArray) -> FloatArray:
    """By finite differences, over every entry of every block, zeros too."""
    flat, step = np.concatenate([block.ravel() for block in blocks]), 1e-6
    ends = np.cumsum([block.size for block in blocks])[:-1]

    def value(at: FloatArray) -> float:
        parts = zip(np.split(at, ends), blocks, strict=True)
        return paper_network([part.reshape(block.shape) for part, block in parts], x)

    return np.array([value(flat + step * e) - value(flat - step * e) for e in np.eye(flat.size)]) / (2 * step)


def test_at_scale_1_it_is_the_papers_network() -> None:
    """The same draws give the same kernel g·g'/m, which decides widths and gradient descent."""
    m, n_features = 6, 3
    features = np.random.default_rng(1).random((4, n_features))
    blocks = paper_start(m, n_features, seed=5)
    paper = np.array([paper_gradient(blocks, x) for x in features]) / np.sqrt(m)
    ours = MLP((m, m), scale=1.0, seed=5)
    gradients = ours.gradients(ours.start(n_features), features).dense()
    np.testing.assert_allclose(gradients @ gradients.T, paper @ paper.T, rtol=1e-5)
    assert [paper_network(blocks, x) for x in features] == pytest.approx([0, 0, 0, 0], abs=1e-12)


@given(hidden=HIDDEN, scale=st.sampled_from([0.1, 0.25, 1.0]), seed=st.integers(0, 99))
def test_every_document_starts_with_the_score_0(hidden: tuple[int, ...], scale: float, seed: int) -> None:
    features = np.random.default_rng(seed).random((5, 3))
    scorer = MLP(hidden, scale=scale, seed=seed)
    np.testing.assert_allclose(scorer.score(scorer.start(3), features), 0, atol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 0.25, 1.0])
@pytest.mark.parametrize("hidden", [(400,), (400, 400), (400, 200, 300)])
def test_gradients_start_as_long_as_those_of_a_linear_scorer(hidden: tuple[int, ...], scale: float) -> None:
    """Every layer adds |x|², whatever the width and the scale, up to chance."""
    features = np.random.default_rng(0).random((3, 20))
    scorer = MLP(hidden, scale=scale)
    lengths = np.square(scorer.gradients(scorer.start(20), features).dense()).sum(axis=1)
    expected = (1 + len(hidden)) * np.square(features).sum(axis=1)
    np.testing.assert_allclose(lengths, expected, rtol=0.3)


# Gradients


@given(hidden=HIDDEN, scale=st.sampled_from([0.25, 1.0]), seed=st.integers(0, 99))
def test_gradients_are_those_of_finite_differences(hidden: tuple[int, ...], scale: float, seed: int) -> None:
    scorer, features = MLP(hidden, scale=scale, seed=seed), np.random.default_rng(seed).random((4, 3))
    parameters = moved(scorer, 3, seed)
    dense = scorer.gradients(parameters, features).dense()
    np.testing.assert_allclose(dense, numerical(scorer, parameters, features), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scorer", [MLP((6, 4)), MLP(4, scale=1.0), Linear()], ids=str)
def test_a_pull_is_a_weighted_sum_of_gradients(scorer: Scorer) -> None:
    rng = np.random.default_rng(0)
    features, weights = rng.random((7, 5)), rng.standard_normal(7)
    parameters = scorer.start(5) + 0.01 * rng.standard_normal(scorer.start(5).size)
    gradients = scorer.gradients(parameters, features).dense()
    np.testing.assert_allclose(scorer.vjp(parameters, features, weights), weights @ gradients)


@pytest.mark.parametrize("scorer", [MLP((6, 4)), MLP(4, scale=1.0), Linear()], ids=str)
def test_a_stack_is_one_after_the_other(scorer: Scorer) -> None:
    rng = np.random.default_rng(0)
    features, weights = rng.random((7, 5)), rng.standard_normal((3, 7))
    stack = scorer.start(5) + 0.1 * rng.standard_normal((3, scorer.start(5).size))
    scores, pulls = scorer.score(stack, features), scorer.vjp(stack, features, weights)
    dense = scorer.gradients(stack, features).dense()
    assert (scores.shape, pulls.shape, dense.shape) == ((3, 7), stack.shape, (3, 7, stack.shape[1]))
    for parameters, score, weight, pull, gradients in zip(stack, scores, weights, pulls, dense, strict=True):
        np.testing.assert_allclose(score, scorer.score(parameters, features))
        np.testing.assert_allclose(pull, scorer.vjp(parameters, features, weight))
        np.testing.assert_allclose(gradients, scorer.gradients(parameters, features).dense())


def test_a_unit_of_gradients_is_a_factor() -> None:
    gradients = MLP((4, 4)).gradients(MLP((4, 4)).start(3), np.eye(3))
    np.testing.assert_allclose(gradients.times(3.0).dense(), 3 * gradients.dense())


# Values in, values out


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_computes_in_the_precision_of_the_features(kind: type[np.floating[Any]]) -> None:
    scorer, features = MLP((4, 4)), np.eye(3, dtype=kind)
    start, weights = scorer.start(3), np.ones(3, dtype=kind)
    assert scorer.score(start, features).dtype == scorer.vjp(start, features, weights).dtype == kind


def test_the_start_depends_on_the_settings_alone() -> None:
    np.testing.assert_array_equal(MLP((4, 4), seed=3).start(5), MLP((4, 4), seed=3).start(5))
    starts = [MLP((4, 4)), MLP((4, 4), seed=1), MLP((4, 4), scale=0.5)]
    for one, other in itertools.combinations([scorer.start(5) for scorer in starts], 2):
        assert not np.allclose(one, other)


def test_networks_side_by_side_start_apart() -> None:
    np.testing.assert_array_equal(MLP((4, 4), seed=3).start(5, 2), MLP((4, 4), seed=5).start(5))


def test_nobody_can_change_the_start() -> None:
    with pytest.raises(ValueError, match="read-only"):
        MLP((4, 4)).start(5)[0] = 1.0


def test_one_layer_is_a_number() -> None:
    np.testing.assert_array_equal(MLP(8).start(3), MLP((8,)).start(3))


def test_other_features_are_refused() -> None:
    with pytest.raises(RankingError, match="knows 5 features but the query has 4"):
        MLP((6, 4)).score(MLP((6, 4)).start(5), np.zeros((2, 4)))


@pytest.mark.parametrize("hidden", [(), (3,), 5])
def test_units_without_a_twin_are_refused(hidden: tuple[int, ...] | int) -> None:
    with pytest.raises(SettingError, match="hidden must be even numbers, found"):
        MLP(hidden)
