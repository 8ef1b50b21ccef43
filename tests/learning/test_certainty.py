"""Criteria of certainty, against simulation and the papers' formulas, one pair at a time."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from rankloop.errors import SettingError
from rankloop.learning.certainty import Belief, Certainty, squared_widths
from rankloop.policies import Posterior, Theory, Width
from rankloop.policies.policy_names import read_policy, write_policy
from rankloop.types import BoolArray, FloatArray

THEORY = Theory(longest_weights=1.0, longest_difference=1.0, delta=0.5, noise=0.01)


@dataclass(frozen=True, eq=False)
class Situation:
    """A query, an estimate, and the matrices behind it."""

    features: FloatArray
    weights: FloatArray
    bent: FloatArray  # H
    design: FloatArray  # M
    regularisation: float

    @property
    def scores(self) -> FloatArray:
        return self.features @ self.weights

    @property
    def belief(self) -> Belief:
        d = len(self.weights)
        log_det = np.linalg.slogdet(self.design)[1] - d * np.log(self.regularisation)
        return Belief(
            np.linalg.inv(self.bent),
            np.linalg.inv(self.design),
            float(log_det),
            self.regularisation,
            self.design.diagonal(),
        )

    def certain(self, certainty: Certainty) -> BoolArray:
        return certainty.certain(self.scores, self.features, self.belief)


def situation(seed: int, *, n: int = 7, d: int = 4, regularisation: float = 0.5) -> Situation:
    rng = np.random.default_rng(seed)
    pairs, weights = rng.normal(size=(25, d)), rng.normal(size=d)
    slopes = expit(pairs @ weights) * expit(-(pairs @ weights))
    return Situation(
        features=rng.normal(size=(n, d)),
        weights=weights,
        bent=regularisation * np.eye(d) + (pairs.T * slopes) @ pairs,
        design=regularisation * np.eye(d) + pairs.T @ pairs,
        regularisation=regularisation,
    )


def slow_width(difference: FloatArray, inverse: FloatArray) -> float:
    return float(np.sqrt(difference @ inverse @ difference))


def slow_certain(case: Situation, alpha: float, inverse: FloatArray | None = None) -> BoolArray:
    """σ(x_ijᵀθ) - α‖x_ij‖_{M⁻¹} > 1/2, pair by pair."""
    inverse, n = np.linalg.inv(case.design) if inverse is None else inverse, len(case.features)
    certain = np.zeros((n, n), dtype=bool)
    for i, j in itertools.product(range(n), repeat=2):
        difference = case.features[i] - case.features[j]
        certain[i, j] = (
            expit(float(difference @ case.weights)) - alpha * slow_width(difference, inverse) > 0.5
        )
    return certain


@pytest.mark.parametrize("level", [0.55, 0.6, 0.8, 0.95])
def test_sure_is_the_share_of_the_posterior_that_agrees(level: float) -> None:
    """Draws of θ ~ N(θ̂, H⁻¹); pairs whose share is within two hundredths of the level are not judged."""
    judged, rng = 0, np.random.default_rng(0)
    for seed in range(6):
        case = situation(seed)
        draws = rng.multivariate_normal(case.weights, np.linalg.inv(case.bent), size=10_000)
        scores = draws @ case.features.T
        share = (scores[:, :, None] > scores[:, None, :]).mean(axis=0)
        clear = np.abs(share - level) > 0.02  # four standard errors
        np.testing.assert_array_equal(case.certain(Posterior(level))[clear], (share > level)[clear])
        judged += int(clear.sum())
    assert judged > 250


@given(st.integers(0, 2**32))
def test_sure_of_one_half_is_the_plain_order_of_the_scores(seed: int) -> None:
    case = situation(seed)
    np.testing.assert_array_equal(
        case.certain(Posterior(0.5)), np.subtract.outer(case.scores, case.scores) > 0
    )


@given(st.integers(0, 2**32))
def test_the_surer_one_must_be_the_less_is_certain(seed: int) -> None:
    case = situation(seed)
    for lower, higher in itertools.pairwise((0.5, 0.6, 0.9, 0.999)):
        assert not (case.certain(Posterior(higher)) & ~case.certain(Posterior(lower))).any()


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.01, 0.1, 1.0]))
def test_width_is_the_papers_criterion(seed: int, alpha: float) -> None:
    case = situation(seed)
    np.testing.assert_array_equal(case.certain(Width(alpha)), slow_certain(case, alpha))


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.01, 0.1, 1.0]))
def test_diagonal_width_knows_only_the_diagonal_of_the_design(seed: int, alpha: float) -> None:
    case = situation(seed)
    expected = slow_certain(case, alpha, np.diag(1 / case.design.diagonal()))
    np.testing.assert_array_equal(case.certain(Width(alpha, diagonal=True)), expected)


@given(
    seed=st.integers(0, 2**32),
    delta=st.sampled_from([0.01, 0.5]),
    q=st.sampled_from([0.5, 2.0, 10.0]),
    u=st.sampled_from([0.1, 1.0, 9.0]),
    r=st.sampled_from([0.001, 0.5]),
    regularisation=st.sampled_from([1e-4, 1.0]),
)
def test_theory_is_the_width_of_lemma_1(
    seed: int, delta: float, q: float, u: float, r: float, regularisation: float
) -> None:
    case = situation(seed, regularisation=regularisation)
    theory = Theory(delta=delta, longest_weights=q, longest_difference=u, noise=r)
    ratio = np.linalg.det(case.design) / (delta**2 * np.linalg.det(regularisation * np.eye(4)))
    c_mu = np.exp(q * u) / (1 + np.exp(q * u)) ** 2
    alpha = 2 * 0.25 / c_mu * (np.sqrt(r**2 * np.log(ratio)) + np.sqrt(regularisation) * q)
    assert theory.alpha(case.belief) == pytest.approx(alpha)
    np.testing.assert_array_equal(case.certain(theory), slow_certain(case, float(alpha)))


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_widths_are_those_of_each_difference(seed: int, n: int) -> None:
    case = situation(seed, n=n)
    inverse = case.belief.design
    expected = [[slow_width(x - y, inverse) ** 2 for y in case.features] for x in case.features]
    found = squared_widths(case.features, inverse)
    assert (found >= 0).all()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.max(expected))


@given(st.integers(0, 2**32), st.sampled_from([0.0, 1.0, 100.0]))
def test_widths_in_single_precision_are_nearly_the_same(seed: int, offset: float) -> None:
    """Also far from the origin: what all documents share cancels before it can round anything away."""
    case = situation(seed, n=20)
    single = (case.features + offset).astype(np.float32)
    expected = squared_widths(single.astype(np.float64), case.belief.curvature)
    found = squared_widths(single, case.belief.curvature)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * expected.max())


@given(st.integers(0, 2**32), st.sampled_from([Posterior(), Posterior(0.9), Width(0.1), THEORY]))
def test_certain_orders_never_contradict_the_scores(seed: int, certainty: Certainty) -> None:
    case = situation(seed, regularisation=1e-3)
    certain = case.certain(certainty)
    assert all(case.scores[i] > case.scores[j] for i, j in zip(*certain.nonzero(), strict=True))


def test_only_the_papers_criteria_need_the_design() -> None:
    assert not Posterior().uses_design
    assert Width().uses_design
    assert THEORY.uses_design


@pytest.mark.parametrize("text", ["theory", "Theory()", "theory(delta=0.1)"])
def test_theory_must_be_told_the_constants_of_its_world(text: str) -> None:
    needed = "write Theory(longest_weights=..., longest_difference=...)"
    with pytest.raises(SettingError, match=re.escape(needed)):
        read_policy(f"PairRank(certainty={text})")
    text = "PairRank(certainty=Theory(longest_weights=2.0, longest_difference=5.0))"
    assert write_policy(read_policy(text)) == text
