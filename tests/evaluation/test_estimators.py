"""Estimates from logs: right on average over all there could be, with bounds that hold as they say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import DataError, SettingError
from rankloop.evaluation import (
    ESTIMATORS,
    AnyTime,
    DoublyRobust,
    ImportanceWeighted,
    LoggedRounds,
    NoSupport,
    SelfNormalised,
    Weighted,
    anytime_lower,
    choices_of,
    cross_fitted,
    t_lower,
    weighted,
)
from rankloop.policies import PDGD, LinUCB, Random, SquareCB
from rankloop.types import FloatArray

LOGGING = np.array([0.5, 0.3, 0.2])
POLICY = np.array([0.1, 0.2, 0.7])
RATES = np.array([0.2, 0.5, 0.9])
NAMES = ("a", "b", "c")


def every_log(rounds: int) -> Iterator[tuple[float, LoggedRounds]]:
    """Every log of so many rounds that could have been, with its probability."""
    for shown in product(range(3), repeat=rounds):
        for clicks in product((0, 1), repeat=rounds):
            chance = 1.0
            for ad, click in zip(shown, clicks, strict=True):
                chance *= LOGGING[ad] * (RATES[ad] if click else 1 - RATES[ad])
            yield (
                chance,
                LoggedRounds(
                    np.zeros((rounds, 1)),
                    NAMES,
                    np.array(shown),
                    np.array(clicks, dtype=np.float64),
                    LOGGING[list(shown)],
                ),
            )


def seen(log: LoggedRounds) -> Weighted:
    choices = np.tile(POLICY, (len(log), 1))
    return Weighted(log, choices, choices[np.arange(len(log)), log.shown] / log.propensities)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_over_all_logs_the_weighted_and_the_doubly_robust_mean_are_the_truth(rounds: int) -> None:
    truth, model = float(POLICY @ RATES), np.tile([0.9, 0.1, 0.4], (rounds, 1))  # a model that is wrong
    totals = np.zeros(4)
    for chance, log in every_log(rounds):
        view = seen(log)
        values = [
            1.0,
            ImportanceWeighted()(view).value,
            DoublyRobust().with_model(view, model).value,
            AnyTime()(view).value,
        ]
        totals += chance * np.array(values)
    np.testing.assert_allclose(totals, [1.0, truth, truth, truth], atol=1e-12)


def test_cross_fitting_keeps_the_doubly_robust_mean_unbiased() -> None:
    found = sum(chance * DoublyRobust()(seen(log)).value for chance, log in every_log(3))
    assert found == pytest.approx(float(POLICY @ RATES), abs=1e-12)


def test_a_round_is_not_predicted_by_a_model_that_saw_it() -> None:
    rng = np.random.default_rng(0)
    shown, rewards = rng.integers(3, size=40), (rng.random(40) < 0.4).astype(np.float64)
    contexts = rng.random((40, 2))
    before = cross_fitted(LoggedRounds(contexts, NAMES, shown, rewards, np.full(40, 1 / 3)))
    rewards[6] = 1 - rewards[6]
    after = cross_fitted(LoggedRounds(contexts, NAMES, shown, rewards, np.full(40, 1 / 3)))
    np.testing.assert_array_equal(after[::2], before[::2])  # round 6 is even: the even ones did not notice
    assert (after[1::2] != before[1::2]).any()


@given(st.lists(st.floats(0, 20), min_size=2, max_size=30))
def test_the_t_bound_is_that_of_the_document(values: list[float]) -> None:
    x, scipy_stats = np.array(values), pytest.importorskip("scipy.stats")
    sigma = np.sqrt(((x - x.mean()) ** 2).sum() / (x.size - 1))
    expected = x.mean() - sigma / np.sqrt(x.size) * scipy_stats.t.ppf(0.95, x.size - 1)
    assert t_lower(x, 0.95) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, 4.0]), min_size=1, max_size=25))
@settings(deadline=None)
def test_the_bound_by_betting_is_the_capital_played_round_by_round(values: list[float]) -> None:
    def highest(mean: float) -> float:
        capitals, best = np.ones(24), 0.0
        for value in values:
            capitals = capitals * (1 + 2.0 ** -np.arange(1, 25) * (value / mean - 1))
            best = max(best, float(capitals.mean()))
        return best

    lower = anytime_lower(np.array(values), 0.9)
    if lower > 0:
        assert highest(lower * (1 - 1e-6)) >= 10 * (1 - 1e-6)
    if 0 < lower < max(values):
        assert highest(lower * (1 + 1e-6)) <= 10 * (1 + 1e-6)


def test_the_bound_by_betting_never_falls_while_more_is_seen() -> None:
    values = np.random.default_rng(1).choice([0.0, 2.0], p=[0.9, 0.1], size=300)
    bounds = [anytime_lower(values[:n]) for n in range(1, 301)]
    assert (np.diff(bounds) >= -1e-9).all()


def drawn(rate: float, rounds: int, rng: np.random.Generator) -> tuple[float, Weighted]:
    """The true click rate of a policy, and a log of uniform choices among five ads as it sees it."""
    rates = rate * np.array([2.0, 0.5, 1.0, 1.0, 0.5])
    policy = np.array([0.8, 0.05, 0.05, 0.05, 0.05])
    shown = rng.integers(5, size=rounds)
    clicks = (rng.random(rounds) < rates[shown]).astype(np.float64)
    log = LoggedRounds(np.zeros((rounds, 0)), tuple("abcde"), shown, clicks, np.full(rounds, 0.2))
    return float(policy @ rates), Weighted(log, np.tile(policy, (rounds, 1)), 5 * policy[shown])


@pytest.mark.parametrize(("rate", "rounds"), [(0.004, 2000), (0.05, 1000)])
def test_bounds_of_95_percent_hold_in_95_percent_of_1000_logs(rate: float, rounds: int) -> None:
    rng = np.random.default_rng(12)
    held = {kind.name: 0 for kind in ESTIMATORS}
    for _ in range(1000):
        truth, view = drawn(rate, rounds, rng)
        for kind in ESTIMATORS:
            held[kind.name] += kind()(view).lower <= truth
    slack = 3 * np.sqrt(0.05 * 0.95 / 1000)  # three deviations of the share itself
    assert all(share / 1000 >= 0.95 - slack for share in held.values()), held
    assert held["any time"] >= held["importance-weighted"] - 10


def test_a_bound_that_may_be_looked_at_any_time_holds_at_all_of_them() -> None:
    """Looking after every click, a bound for one look fails far more often than it says."""
    rng, wrong_once, wrong_any_time = np.random.default_rng(3), 0, 0
    for _ in range(300):
        truth, view = drawn(0.05, 400, rng)
        values = view.weights * view.log.rewards
        wrong_any_time += anytime_lower(values) > truth  # the highest of all bounds so far
        wrong_once += max(t_lower(values[:n], 0.95) for n in range(20, 401, 20)) > truth
    assert wrong_any_time <= 0.05 * 300 + 3 * np.sqrt(300 * 0.05 * 0.95)
    assert wrong_once > wrong_any_time


# Support


def a_log(chances: FloatArray | None = None, **options: Any) -> LoggedRounds:
    parts: dict[str, Any] = {
        "contexts": np.zeros((3, 1)),
        "ads": NAMES,
        "shown": np.array([0, 1, 1]),
        "rewards": np.array([1.0, 0.0, 1.0]),
        "propensities": np.array([0.5, 0.5, 0.5]),
        "chances": chances,
    }
    return LoggedRounds(**(parts | options))


def test_a_policy_that_shows_what_the_log_could_not_is_refused() -> None:
    uniform = np.full((3, 3), 1 / 3)
    with pytest.raises(NoSupport, match="may show 'c', which the log never showed"):
        weighted(a_log(), uniform)
    with pytest.raises(NoSupport, match=r"in 3 of 3 rounds.*such as 'c' in round 1"):
        weighted(a_log(np.tile([0.5, 0.5, 0.0], (3, 1))), uniform)
    assert weighted(a_log(np.full((3, 3), 1 / 3)), uniform).weights.tolist() == pytest.approx([2 / 3] * 3)
    with pytest.raises(NoSupport, match="nothing of what the log shows"):
        weighted(a_log(np.full((3, 3), 1 / 3)), np.tile([0.0, 0.0, 1.0], (3, 1)))


def test_effective_rounds_are_all_for_equal_weights_and_one_for_a_single() -> None:
    log = a_log(np.full((3, 3), 1 / 3))
    assert Weighted(log, np.full((3, 3), 1 / 3), np.full(3, 0.7)).effective == pytest.approx(3)
    assert Weighted(log, np.full((3, 3), 1 / 3), np.array([0.0, 5.0, 0.0])).effective == pytest.approx(1)


def test_choices_are_the_propensities_of_what_was_offered() -> None:
    offered = np.array([[True, True, False], [False, True, True], [True, True, True]])
    log = a_log(offered=offered)
    np.testing.assert_allclose(choices_of(Random(), log), offered / offered.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(choices_of(SquareCB(), log).sum(axis=1), 1)
    assert not choices_of(LinUCB(), log)[~offered].any()
    with pytest.raises(SettingError, match="PDGD cannot say with which probability"):
        choices_of(PDGD(), log)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"propensities": np.array([0.5, 0.0, 0.5])}, "found 0.0 in round 2"),
        ({"rewards": np.ones(2)}, r"found \[3, 2, 3\]|as rounds"),
        ({"shown": np.array([0, 1, 3])}, "numbers of 3 ads"),
        ({"offered": np.zeros((3, 3), dtype=bool)}, "offered must say"),
        ({"rewards": np.array([1.0, np.nan, 0.0])}, "finite"),
        ({"chances": np.ones((3, 2))}, r"chances must be \[3, 3\]"),
    ],
)
def test_what_is_no_log_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        a_log(**options)
    with pytest.raises(SettingError, match="choices must be probabilities"):
        weighted(a_log(), np.ones((3, 3)))


# Others


def test_our_estimates_are_those_of_the_open_bandit_pipeline() -> None:
    """Where it is installed; it is no dependency, as it asks for older releases of others."""
    ope = pytest.importorskip("obp.ope")
    rng = np.random.default_rng(8)
    n, k = 500, 4
    chances, choices = rng.dirichlet(np.ones(k), n), rng.dirichlet(np.ones(k), n)
    shown = np.array([rng.choice(k, p=row) for row in chances])
    rewards = (rng.random(n) < 0.2).astype(np.float64)
    log = LoggedRounds(np.zeros((n, 0)), tuple("abcd"), shown, rewards, chances[np.arange(n), shown])
    view, model = weighted(log, choices), rng.random((n, k))
    common = {
        "reward": rewards,
        "action": shown,
        "pscore": log.propensities,
        "action_dist": choices[:, :, None],
    }
    position = {"position": np.zeros(n, dtype=int)}
    for ours, theirs in (
        (ImportanceWeighted()(view).value, ope.InverseProbabilityWeighting().estimate_policy_value(**common)),
        (
            SelfNormalised()(view).value,
            ope.SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**common),
        ),
        (
            DoublyRobust().with_model(view, model).value,
            ope.DoublyRobust().estimate_policy_value(
                **common, **position, estimated_rewards_by_reg_model=model[:, :, None]
            ),
        ),
    ):
        assert ours == pytest.approx(theirs, abs=1e-9)


def test_our_estimates_are_those_of_plain_loops() -> None:
    rng = np.random.default_rng(9)
    chances, choices = rng.dirichlet(np.ones(3), 60), rng.dirichlet(np.ones(3), 60)
    shown = np.array([rng.choice(3, p=row) for row in chances])
    rewards, model = (rng.random(60) < 0.3).astype(np.float64), rng.random((60, 3))
    view = weighted(
        LoggedRounds(np.zeros((60, 0)), NAMES, shown, rewards, chances[np.arange(60), shown]), choices
    )
    up = down = robust = 0.0
    for row in range(60):
        weight = choices[row, shown[row]] / chances[row, shown[row]]
        up, down = up + weight * rewards[row], down + weight
        robust += sum(choices[row, ad] * model[row, ad] for ad in range(3))
        robust += weight * (rewards[row] - model[row, shown[row]])
    assert ImportanceWeighted()(view).value == pytest.approx(up / 60, abs=1e-12)
    assert SelfNormalised()(view).value == pytest.approx(up / down, abs=1e-12)
    assert DoublyRobust().with_model(view, model).value == pytest.approx(robust / 60, abs=1e-12)
