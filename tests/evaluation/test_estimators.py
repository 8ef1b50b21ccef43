"""Estimates from logs: right on average over all there could be, with bounds that hold as they say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.errors import DataError, SettingError
from rankloop.evaluation import (
    NoSupport,
    WeightedLog,
    anytime_lower,
    estimate_rewards,
    student_interval,
)
from rankloop.lab.data.logged_rounds import (
    LoggedRounds,
    find_choice_probabilities,
    predict_rewards,
    weigh_rounds,
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


def seen(log: LoggedRounds, model: FloatArray | None = None) -> dict[str, float]:
    """The estimates of a policy, also from a log that never showed some of what it would show."""
    model = predict_rewards(log) if model is None else model
    mine = np.arange(len(log)), log.shown
    columns = (log.rewards, POLICY[log.shown] / log.propensities, model[mine], model @ POLICY)
    return values_of(WeightedLog(*(column[:, None] for column in columns)))


def values_of(log: WeightedLog) -> dict[str, float]:
    return {each.name: each.value for each in estimate_rewards(log)}


def t_lower(values: FloatArray, level: float) -> float:
    return student_interval("", values, 2 * level - 1).lower


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_over_all_logs_the_weighted_and_the_doubly_robust_mean_are_the_truth(rounds: int) -> None:
    truth, model = float(POLICY @ RATES), np.tile([0.9, 0.1, 0.4], (rounds, 1))  # a model that is wrong
    totals = np.zeros(4)
    for chance, log in every_log(rounds):
        found = seen(log, model)
        names = ("importance-weighted", "doubly robust", "any time")
        totals += chance * np.array([1.0, *(found[name] for name in names)])
    np.testing.assert_allclose(totals, [1.0, truth, truth, truth], atol=1e-12)


def test_cross_fitting_keeps_the_doubly_robust_mean_unbiased() -> None:
    found = sum(chance * seen(log)["doubly robust"] for chance, log in every_log(3))
    assert found == pytest.approx(float(POLICY @ RATES), abs=1e-12)


def test_a_round_is_not_predicted_by_a_model_that_saw_it() -> None:
    rng = np.random.default_rng(0)
    shown, rewards = rng.integers(3, size=40), (rng.random(40) < 0.4).astype(np.float64)
    contexts = rng.random((40, 2))
    before = predict_rewards(LoggedRounds(contexts, NAMES, shown, rewards, np.full(40, 1 / 3)))
    rewards[6] = 1 - rewards[6]
    after = predict_rewards(LoggedRounds(contexts, NAMES, shown, rewards, np.full(40, 1 / 3)))
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


def drawn(rate: float, rounds: int, rng: np.random.Generator) -> tuple[float, WeightedLog]:
    """The true click rate of a policy, and a log of uniform choices among five ads as it sees it."""
    rates = rate * np.array([2.0, 0.5, 1.0, 1.0, 0.5])
    policy = np.array([0.8, 0.05, 0.05, 0.05, 0.05])
    shown = rng.integers(5, size=rounds)
    clicks = (rng.random(rounds) < rates[shown]).astype(np.float64)
    log = LoggedRounds(np.zeros((rounds, 0)), tuple("abcde"), shown, clicks, np.full(rounds, 0.2))
    return float(policy @ rates), weigh_rounds(log, np.tile(policy, (rounds, 1)))


@pytest.mark.parametrize(("rate", "rounds"), [(0.004, 2000), (0.05, 1000)])
def test_bounds_of_95_percent_hold_in_95_percent_of_1000_logs(rate: float, rounds: int) -> None:
    rng = np.random.default_rng(12)
    held = defaultdict[str, int](int)
    for _ in range(1000):
        truth, log = drawn(rate, rounds, rng)
        for each in estimate_rewards(log, level=0.90):
            held[each.name] += each.lower <= truth
    assert len(held) == 4
    slack = 3 * np.sqrt(0.05 * 0.95 / 1000)  # three deviations of the share itself
    assert all(share / 1000 >= 0.95 - slack for share in held.values()), held
    assert held["any time"] >= held["importance-weighted"] - 10


def test_a_bound_that_may_be_looked_at_any_time_holds_at_all_of_them() -> None:
    """Looking after every click, a bound for one look fails far more often than it says."""
    rng, wrong_once, wrong_any_time = np.random.default_rng(3), 0, 0
    for _ in range(300):
        truth, log = drawn(0.05, 400, rng)
        values = (log.weights * log.rewards)[:, 0]
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
        weigh_rounds(a_log(), uniform)
    with pytest.raises(NoSupport, match=r"in 3 of 3 rounds.*such as 'c' in round 1"):
        weigh_rounds(a_log(np.tile([0.5, 0.5, 0.0], (3, 1))), uniform)
    assert weigh_rounds(a_log(np.full((3, 3), 1 / 3)), uniform).weights.ravel().tolist() == pytest.approx(
        [2 / 3] * 3
    )
    with pytest.raises(NoSupport, match="nothing of what the log shows"):
        weigh_rounds(a_log(np.full((3, 3), 1 / 3)), np.tile([0.0, 0.0, 1.0], (3, 1)))


def test_effective_rounds_are_all_for_equal_weights_and_one_for_a_single() -> None:
    def effective(*weights: float) -> float:
        nothing = np.zeros((len(weights), 1))
        return WeightedLog(nothing, np.array(weights)[:, None], nothing, nothing).effective

    assert effective(0.7, 0.7, 0.7) == pytest.approx(3)
    assert effective(0.0, 5.0, 0.0) == pytest.approx(1)


def test_choices_are_the_propensities_of_what_was_offered() -> None:
    offered = np.array([[True, True, False], [False, True, True], [True, True, True]])
    log = a_log(offered=offered)
    np.testing.assert_allclose(
        find_choice_probabilities(Random(), log), offered / offered.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(find_choice_probabilities(SquareCB(), log).sum(axis=1), 1)
    assert not find_choice_probabilities(LinUCB(), log)[~offered].any()
    with pytest.raises(SettingError, match="PDGD cannot say with which probability"):
        find_choice_probabilities(PDGD(), log)


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
        weigh_rounds(a_log(), np.ones((3, 3)))


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
    model = rng.random((n, k))
    ours_by_name = values_of(weigh_rounds(log, choices, model))
    common = {
        "reward": rewards,
        "action": shown,
        "pscore": log.propensities,
        "action_dist": choices[:, :, None],
    }
    position = {"position": np.zeros(n, dtype=int)}
    for ours, theirs in (
        (
            ours_by_name["importance-weighted"],
            ope.InverseProbabilityWeighting().estimate_policy_value(**common),
        ),
        (
            ours_by_name["self-normalised"],
            ope.SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**common),
        ),
        (
            ours_by_name["doubly robust"],
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
    log = LoggedRounds(np.zeros((60, 0)), NAMES, shown, rewards, chances[np.arange(60), shown])
    ours_by_name = values_of(weigh_rounds(log, choices, model))
    up = down = robust = 0.0
    for row in range(60):
        weight = choices[row, shown[row]] / chances[row, shown[row]]
        up, down = up + weight * rewards[row], down + weight
        robust += sum(choices[row, ad] * model[row, ad] for ad in range(3))
        robust += weight * (rewards[row] - model[row, shown[row]])
    assert ours_by_name["importance-weighted"] == pytest.approx(up / 60, abs=1e-12)
    assert ours_by_name["self-normalised"] == pytest.approx(up / down, abs=1e-12)
    assert ours_by_name["doubly robust"] == pytest.approx(robust / 60, abs=1e-12)


def test_repeats_of_a_session_count_once() -> None:
    """Lists of one session are one observation; counted one by one, the interval is too narrow."""
    rng, held = np.random.default_rng(4), {"sessions": 0, "lists": 0}
    for _ in range(400):
        rates, sizes = rng.beta(2, 3, size=60), rng.integers(1, 9, size=60)
        sessions = np.repeat(np.arange(60), sizes)
        clicks = (rng.random(sessions.size) < rates[sessions]).astype(np.float64)
        for name, clusters in (("sessions", sessions), ("lists", None)):
            found = student_interval("clicks", clicks, clusters=clusters)
            held[name] += found.lower <= 0.4 <= found.upper
    assert held["sessions"] / 400 >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)
    assert held["lists"] / 400 < 0.90
    plain = student_interval("", clicks)
    alone = student_interval("", clicks, clusters=np.arange(clicks.size))
    assert (alone.lower, alone.upper) == pytest.approx((plain.lower, plain.upper))
