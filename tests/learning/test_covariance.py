"""What is known of the parameters, kept in three ways."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.exploration import certain_orders
from rankloop.learning.covariance import Covariance, Diagonal, Full, Projected
from rankloop.scorers import MLP, Gradients, Linear
from rankloop.types import FloatArray


def some_gradients(seed: int, n: int = 6) -> Gradients:
    """Of a network with 3 features and 140 parameters."""
    rng = np.random.default_rng(seed)
    scorer = MLP((12, 8), scale=1.0)
    start = scorer.start(3) + 0.5 * np.random.default_rng(1).standard_normal(140)
    return scorer.gradients(start, rng.standard_normal((n, 3)))


def with_other_signs(gradients: Gradients, seed: int) -> Gradients:
    """As good as a projection by other random signs: no inner product changes."""
    rng = np.random.default_rng(seed)

    def flip(array: FloatArray) -> FloatArray:
        return np.asarray(array * rng.choice([-1.0, 1.0], size=array.shape[-1]))

    return Gradients([(flip(delta), flip(given)) for delta, given in gradients.layers])


def learned(covariance: Covariance, seeds: range) -> FloatArray:
    known = covariance.start(some_gradients(0))
    for seed in seeds:
        known = covariance.absorb(known, some_gradients(seed), np.array([0, 2, 0]), np.array([1, 3, 4]))
    return known


def matrix(seeds: range) -> FloatArray:
    """A itself, slowly."""
    total = np.eye(140)
    for seed in seeds:
        dense = some_gradients(seed).dense()
        for better, worse in ((0, 1), (2, 3), (0, 4)):
            difference = dense[better] - dense[worse]
            total += np.outer(difference, difference)
    return total


@given(seed=st.integers(0, 50), rounds=st.integers(0, 5))
def test_full_and_diagonal_are_what_they_say(seed: int, rounds: int) -> None:
    past, dense = range(seed + 1, seed + 1 + rounds), some_gradients(seed).dense()
    a = matrix(past)
    for covariance, inverse in ((Full(), np.linalg.inv(a)), (Diagonal(), np.diag(1 / a.diagonal()))):
        found = covariance.squared_widths(learned(covariance, past), some_gradients(seed))
        for i, j in itertools.product(range(6), repeat=2):
            difference = dense[i] - dense[j]
            assert found[i, j] == pytest.approx(difference @ inverse @ difference, rel=1e-6, abs=1e-8)


def test_a_projection_keeps_inner_products_on_average() -> None:
    """Over many signs; the mean of 400 is within a few per cent of the truth."""
    gradients, covariance = some_gradients(0), Projected(16)
    exact = Full().squared_widths(Full().start(gradients), gradients)
    found = np.mean(
        [
            covariance.squared_widths(covariance.start(gradients), gradients)
            for gradients in (with_other_signs(gradients, seed) for seed in range(400))
        ],
        axis=0,
    )
    np.testing.assert_allclose(found, exact, rtol=0.2, atol=1e-9)


def test_a_projection_to_many_dimensions_knows_what_full_knows() -> None:
    past = range(1, 6)
    exact = Full().squared_widths(learned(Full(), past), some_gradients(0))
    covariance = Projected(2000)
    found = covariance.squared_widths(learned(covariance, past), some_gradients(0))
    np.testing.assert_allclose(found, exact, rtol=0.25, atol=1e-9)


def test_widths_shrink_where_something_was_learned_and_nowhere_grow() -> None:
    covariances: tuple[Covariance, ...] = (Full(), Diagonal())
    for covariance in covariances:
        known = covariance.start(some_gradients(0))
        before = covariance.squared_widths(known, some_gradients(0))
        known = covariance.absorb(known, some_gradients(0), np.array([0]), np.array([1]))
        after = covariance.squared_widths(known, some_gradients(0))
        assert after[0, 1] < before[0, 1]
        assert (after <= before + 1e-9).all()


def test_for_a_linear_scorer_full_is_pairranks_design() -> None:
    features = np.random.default_rng(0).random((5, 3))
    gradients = Linear().gradients(np.zeros(3), features)
    known = Full().absorb(Full().start(gradients), gradients, np.array([0, 2]), np.array([1, 3]))
    pairs = features[[0, 2]] - features[[1, 3]]
    np.testing.assert_allclose(known, np.linalg.inv(np.eye(3) + pairs.T @ pairs))


def test_a_projection_agrees_with_full_more_often_than_the_diagonal_does() -> None:
    """On certain orders, after some learning, for features that move together as real ones do."""
    rng = np.random.default_rng(0)
    scorer, mix = MLP((16, 16), scale=1.0), rng.random((3, 20))
    parameters = scorer.start(20) + 0.2 * rng.standard_normal(scorer.start(20).size)

    def gradients() -> tuple[Gradients, FloatArray]:
        features = rng.random((30, 3)) @ mix + 0.1 * rng.random((30, 20))
        return scorer.gradients(parameters, features).times(0.2), scorer.score(parameters, features)

    covariances: dict[str, Covariance] = {"full": Full(), "diagonal": Diagonal(), "projected": Projected(256)}
    known = {name: covariance.start(gradients()[0]) for name, covariance in covariances.items()}
    for _ in range(40):
        lesson, _ = gradients()
        for name, covariance in covariances.items():
            known[name] = covariance.absorb(known[name], lesson, np.arange(5), np.arange(5, 10))
    query, scores = gradients()
    certain = {
        name: certain_orders(scores, 0.1 * np.sqrt(covariance.squared_widths(known[name], query)))
        for name, covariance in covariances.items()
    }
    assert 0.1 < certain["full"].sum() / (30 * 29 / 2) < 0.9
    agree = {name: (orders == certain["full"]).mean() for name, orders in certain.items()}
    assert agree["projected"] > agree["diagonal"] + 0.01
    assert agree["projected"] > 0.95


def test_a_projection_to_few_dimensions_is_corrected() -> None:
    """By the formula; and a random direction is as wide as among all 140 parameters."""
    covariance = Projected(20)
    known, query = learned(covariance, range(1, 4)), some_gradients(9)
    trace = np.trace(known)
    c = (1 - (20 - trace) / 140 - trace / 20) * 20 / np.trace(known @ known)
    features, widths = covariance._features(query), covariance.squared_widths(known, query)
    for i, j in itertools.combinations(range(6), 2):
        z = features[i] - features[j]
        assert widths[i, j] == pytest.approx(z @ known @ z + c * z @ known @ known @ z)
    assert c > 0.1
    assert (trace + c * np.trace(known @ known)) / 20 == pytest.approx(1 - (20 - trace) / 140)
