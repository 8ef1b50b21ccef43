"""Dueling bandits in theory: the steps are those that make the bound smallest."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit

from rankloop.errors import SettingError
from rankloop.lab.theory import DuelSteps, duel_losses


@given(st.integers(10, 10**6), st.floats(0.1, 10), st.integers(1, 100), st.floats(0.1, 10))
def test_the_exploration_of_theorem_3_3_balances_its_two_sources_of_regret(
    rounds: int, radius: float, examined: int, steep: float
) -> None:
    """Estimates of length m/δ cost R(m/δ)√T, candidates δ away 13/2 LδT: the sum is smallest at δ."""
    steps = DuelSteps(rounds=rounds, radius=radius, examined=examined, utility_lipschitz=steep)

    def cost(log_delta: float) -> float:
        delta = exp(log_delta)
        return radius * examined * sqrt(rounds) / delta + 6.5 * steps.lipschitz * delta * rounds

    best = minimize_scalar(cost, bounds=(-30, 30), method="bounded", options={"xatol": 1e-9})
    assert steps.exploration == pytest.approx(exp(best.x), rel=1e-4)
    assert best.fun == pytest.approx(rounds**0.75 * sqrt(26 * radius * examined * steps.lipschitz))
    assert steps.step == pytest.approx(radius * (examined / steps.exploration) / sqrt(rounds))
    assert steps.plain_step == pytest.approx(radius / sqrt(rounds))
    long = 0.25 * sqrt(13 * steps.lipschitz) * rounds**0.25
    short = steep * steps.link_smoothness * sqrt(2 * radius * examined)
    bound = 2 * best.fun * long / (long - short) if long > short else rounds
    assert steps.regret == pytest.approx(min(rounds, bound))


def test_the_links_constants_are_the_steepest_slopes_of_the_logistic_function_and_of_its_slope() -> None:
    x = np.linspace(-8, 8, 200_001)
    slope = expit(x) * expit(-x)
    steps = DuelSteps(rounds=1, radius=1.0, examined=1, utility_lipschitz=1.0)
    assert steps.link_lipschitz == pytest.approx(slope.max())
    assert steps.link_smoothness == pytest.approx(np.abs(np.gradient(slope, x)).max(), rel=1e-6)


def test_projection_needs_a_smaller_bound_than_all_features_do() -> None:
    few, many = (
        DuelSteps(rounds=10**9, radius=1.0, examined=m, utility_lipschitz=1.0).regret for m in (10, 136)
    )
    assert few / many < sqrt(10 / 136) * 1.001


@given(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1))
def test_a_duel_is_lost_as_often_as_the_logistic_function_says_beyond_a_half(
    best: float, others: list[float]
) -> None:
    expected = [1 / (1 + exp(other - best)) - 0.5 for other in others]
    np.testing.assert_allclose(duel_losses(best, np.array(others)), expected, atol=1e-15)


def test_searches_without_room_are_refused() -> None:
    with pytest.raises(SettingError, match="radius must be a finite number above 0"):
        DuelSteps(rounds=10, radius=0.0, examined=1, utility_lipschitz=1.0)
