"""Confidence sequences: they hold at all times together, and say enough to be of use."""

from __future__ import annotations

from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.evaluation import difference_sequence, mean_sequence, win_sequence
from rankloop.evaluation.confidence_sequences import COSTS, EXPECTED, FRACTIONS
from rankloop.interleaving import Interleaving, Probabilistic, TeamDraft, credit


def slow_mean_bounds(values: list[float], level: float) -> tuple[float, float]:
    """The last interval, step by step: the capital of every bet, for every sum that could be."""
    total = squares = 0.0
    for number, value in enumerate(values, start=1):
        squares += (value - (0.5 + total) / number) ** 2
        total += value
    reach = 0.0
    while sum(exp(f * reach - c * squares) for f, c in zip(FRACTIONS, COSTS, strict=True)) < 22 / (1 - level):
        reach += 1e-3
    n = len(values)
    return max(total / n - reach / n, 0.0), min(total / n + reach / n, 1.0)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_interval_of_a_mean_is_that_of_the_slow_reference(values: list[float]) -> None:
    found = mean_sequence(np.array(values), level=0.9)
    lower, upper = slow_mean_bounds(values, 0.9)
    assert found.lower[-1] == pytest.approx(lower, abs=2e-3)
    assert found.upper[-1] == pytest.approx(upper, abs=2e-3)


@pytest.mark.parametrize("fraction", [0.75, 0.5, 2.0**-4, 2.0**-10])
def test_no_bet_on_a_mean_is_better_than_fair(fraction: float) -> None:
    """Over all sequences of four numbers whose chances change with what came before."""
    cost, values = -log(1 - fraction) - fraction, (0.0, 0.4, 1.0)
    for sign in (1, -1):
        expected = 0.0
        for path in product(range(3), repeat=4):
            chance, capital, total = 1.0, 0.0, 0.0
            for number, pick in enumerate(path, start=1):
                weights = np.array([1.0, 0.5 + total, 2.0 / number])
                weights /= weights.sum()
                chance *= weights[pick]
                mean, value = float(weights @ values), values[pick]
                guess = (0.5 + total) / number
                capital += sign * fraction * (value - mean) - cost * (value - guess) ** 2
                total += value
            expected += chance * exp(capital)
        assert expected <= 1 + 1e-12


@pytest.mark.parametrize("probability", [0.2, 0.5, 0.93])
def test_the_bet_on_wins_is_fair(probability: float) -> None:
    """Over all sequences of eight: the belief's product of predictions over the chance is 1 on average."""
    expected = 0.0
    for path in product((0, 1), repeat=8):
        capital, won, lost = 1.0, EXPECTED, EXPECTED
        for win in path:
            capital *= (won if win else lost) / (won + lost)
            won, lost = won + win, lost + 1 - win
        chance = probability ** sum(path) * (1 - probability) ** (8 - sum(path))
        expected += chance * (capital / chance)
        level = 1 - 1 / max(capital / chance, 1.0 + 1e-9)
        found = win_sequence(np.array(path, dtype=bool), level=max(level, 1e-6))
        if capital / chance > 1.01:  # at the level of its own capital, the probability is on the edge
            edges = (found.lower[-1], found.upper[-1])
            assert min(abs(edge - probability) for edge in edges) < 1e-6
    assert expected == pytest.approx(1.0)


def test_intervals_hold_at_all_times_also_if_the_means_change() -> None:
    rng = np.random.default_rng(1)
    n, lives, outside = 400, 200, {"mean": 0, "difference": 0}
    for _ in range(lives):
        means = np.where(np.arange(n) < 150, 0.1, 0.4)
        values = (rng.random(n) < means).astype(float)
        truth = np.cumsum(means) / np.arange(1, n + 1)
        found = mean_sequence(values, level=0.4)
        outside["mean"] += bool(((truth < found.lower) | (truth > found.upper)).any())
        second = rng.random(n) < 0.3
        uplift = np.where(np.arange(n) < 150, 0.0, 0.2)
        values = (rng.random(n) < 0.3 + uplift * ~second).astype(float)
        truth = np.cumsum(uplift) / np.arange(1, n + 1)
        found = difference_sequence(values, second, share=0.3, level=0.4)
        outside["difference"] += bool(((truth < found.lower) | (truth > found.upper)).any())
    assert all(0 < count <= 0.6 * lives for count in outside.values()), outside


def test_lists_of_a_session_are_one_observation() -> None:
    """Of two equal arms whose sessions do the same ten times, counting lists would call one better."""
    rng = np.random.default_rng(6)
    called = {"sessions": 0, "lists": 0}
    for _ in range(100):
        values, second = (rng.random(100) < 0.5).astype(float), rng.random(100) < 0.5
        for name, times in (("sessions", 1), ("lists", 10)):
            found = difference_sequence(np.repeat(values, times), np.repeat(second, times), share=0.5)
            called[name] += bool(((found.lower > 0) | (found.upper < 0)).any())
    assert called["sessions"] <= 5
    assert called["lists"] > 30


def test_intervals_are_not_much_wider_than_those_of_one_look() -> None:
    rng = np.random.default_rng(2)
    clicks, second = (rng.random(4000) < 0.3).astype(float), rng.random(4000) < 0.5
    once = 1.96 * sqrt(0.3 * 0.7 / 4000)
    found = mean_sequence(clicks)
    assert (found.upper[-1] - found.lower[-1]) / 2 < 2 * once
    found = difference_sequence(clicks, second, share=0.5)
    assert (found.upper[-1] - found.lower[-1]) / 2 < 2 * 2 * once
    wins = win_sequence(clicks > 0)
    assert (wins.upper[-1] - wins.lower[-1]) / 2 < 2 * once


def test_units_do_not_matter() -> None:
    values, second = np.random.default_rng(3).random(50), np.arange(50) % 3 == 0
    plain = difference_sequence(values, second, share=0.3)
    euros = difference_sequence(100 * values - 7, second, share=0.3, low=-7, high=93)
    assert np.allclose(100 * plain.lower, euros.lower)
    assert np.allclose(100 * plain.estimate, euros.estimate)
    assert np.allclose(mean_sequence(values).upper * 10, mean_sequence(10 * values, high=10).upper)


def test_what_is_beyond_the_bounds_is_refused() -> None:
    with pytest.raises(SettingError, match="between 0 and 1, found 0 to 2"):
        mean_sequence(np.array([0.0, 2.0]))
    with pytest.raises(SettingError, match="share of the second arm must be between 0 and 1"):
        difference_sequence(np.zeros(2), np.zeros(2, dtype=bool), share=1.0)
    with pytest.raises(SettingError, match="level must be between 0 and 1"):
        win_sequence(np.zeros(2, dtype=bool), level=95)


def test_a_package_for_such_sequences_agrees() -> None:
    """The referee, where it is installed: the same bounds for wins, the same kind of width for means."""
    ville = pytest.importorskip("ville", reason="the referee of confidence sequences is not installed")
    rng = np.random.default_rng(4)
    wins, values = rng.random(600) < 0.6, rng.beta(2, 5, size=3000)
    theirs = ville.BernoulliCS(prior=(EXPECTED, EXPECTED), intersect=False).fit(wins.astype(float))
    ours = win_sequence(wins)
    assert np.allclose(ours.lower, theirs.lower_, atol=1e-9)
    assert np.allclose(ours.upper, theirs.upper_, atol=1e-9)
    theirs = ville.EmpiricalBernsteinCS(intersect=False).fit(values)
    found = mean_sequence(values)
    ratio = (found.upper - found.lower) / (theirs.upper_ - theirs.lower_)
    assert 0.6 < ratio[-1] < 1.4
    second = rng.random(3000) < 0.4
    theirs = ville.BettingABTest(propensity=0.4, grid=2000).fit(values, second.astype(float))
    found = difference_sequence(values, second, share=0.4)
    assert found.estimate[-1] == pytest.approx(-theirs.estimate_[-1], abs=1e-3)


@pytest.mark.parametrize("method", [TeamDraft(), Probabilistic()], ids=["team draft", "probabilistic"])
def test_of_two_equal_rankers_hardly_ever_one_is_called_better(method: Interleaving) -> None:
    """500 comparisons of two rankers that are equally good, each looked at after every list."""
    rng = np.random.default_rng(5)
    called = 0
    for _ in range(500):
        scores = np.array([score for _ in range(40) if (score := _of_one_list(method, rng))])
        found = win_sequence(scores > 0)
        called += bool(((found.lower > 0.5) | (found.upper < 0.5)).any())
    assert 0 < called <= 25


def _of_one_list(method: Interleaving, rng: np.random.Generator) -> float:
    """Two rankers of equal quality, whose users look at the top more often than at the end."""
    worth = np.arange(8) / 8
    lists = np.argsort(worth + rng.normal(0, 0.5, (2, 8)), axis=1)[:, ::-1]
    shown = method.combine(lists, k=4, rng=rng)
    clicks = rng.random(4) < worth[shown.order] / np.arange(1, 5)
    first, second = credit(shown.owners, clicks)
    return float(first - second)
