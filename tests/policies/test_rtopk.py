"""RTop-kF with features: what is shown, with which propensity, and what the grades on top teach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import permutations
from math import exp, factorial, inf, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloop.check_worlds import show
from rankloop.checks import Make, check_policy, share_of_right_pairs, small_world
from rankloop.errors import SettingError
from rankloop.lab.users import LabelJudge
from rankloop.learning.topk_propensities import TopKPropensities
from rankloop.policies import RTopK
from rankloop.policies.policy_names import read_policy, write_policy
from rankloop.types import Feedback, FloatArray, IntArray, Query, Ranking

LOSSES: list[dict[str, Any]] = [
    {"loss": "ranksvm"},
    {"loss": "squared"},
    {"loss": "observed-squared"},
    {"loss": "unnormalised-kl", "top_grade": 2.0},
    {"loss": "smooth-dcg", "smoothing": 0.5},
]
PUBLISHED: dict[str, Any] = {"steps": "published", "learning_rate": 0.01}
EXACT = PUBLISHED | {"learning_rate": 1.0, "scale": 1.0}  # the first step is the estimate itself


def needs(loss: str) -> int:
    """How many grades a term of a loss depends on."""
    return 2 if loss == "ranksvm" else 1


# What it obeys


@pytest.mark.parametrize(
    "make",
    [
        partial(RTopK, top_k=2),
        *(partial(RTopK, **loss) for loss in LOSSES[1:]),
        partial(RTopK, **PUBLISHED, scale=1000.0, radius=5.0),
    ],
)
def test_every_law_holds_with_every_loss_and_step(make: Make) -> None:
    check_policy(make)


# The estimate


def gradient(loss: str, s: FloatArray, r: FloatArray) -> FloatArray:
    """The slope with all grades known, document by document."""
    m, g = len(s), np.zeros(len(s))
    if loss == "ranksvm":
        for i, j in permutations(range(m), 2):
            if r[i] > r[j] and 1 + s[j] > s[i]:
                g[j] += 1
                g[i] -= 1
        return g
    lifts = np.exp(s / 0.5)
    p = lifts / lifts.sum()
    for i in range(m):
        if loss == "smooth-dcg":
            g -= (2 ** r[i] - 1) * p[i] / 0.5 * (np.eye(m)[i] - p)
        else:
            g[i] = exp(s[i]) - exp(r[i] / 2) if loss == "unnormalised-kl" else 2 * (s[i] - r[i])
    return g


def greedy_orders(scores: FloatArray) -> list[IntArray]:
    """Every order by score; ties stand in any order."""
    orders = (np.array(order) for order in permutations(range(len(scores))))
    return [order for order in orders if (np.diff(scores[order]) <= 0).all()]


def lists(scores: FloatArray, gamma: float) -> Iterator[tuple[float, IntArray, IntArray]]:
    """Every list with its greedy order and the probability of both."""
    m, ties = len(scores), greedy_orders(scores)
    for best in ties:
        yield (1 - gamma) / len(ties), best, best
        for order in permutations(range(m)):
            yield gamma / factorial(m) / len(ties), best, np.array(order)


def estimate(
    policy: RTopK, scores: FloatArray, order: IntArray, top: IntArray, gamma: float, grades: FloatArray
) -> FloatArray:
    """What one list changes in a ranker with these scores."""
    taught = policy.from_state({**policy.state(), "parameters": scores})
    shown = Ranking(Query("q", np.eye(len(scores))), order, {"top": top, "gamma": np.array(gamma)})
    taught.learn(LabelJudge(top_k=len(top)).respond(shown, grades, np.random.default_rng(0)))  # type: ignore[arg-type]
    return scores - (taught.parameters if taught.parameters.size else scores)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss["loss"])
@pytest.mark.parametrize("m", range(1, 6))
def test_the_expectation_over_all_lists_is_the_gradient(m: int, loss: dict[str, Any]) -> None:
    rng = np.random.default_rng(m)
    for scores in (rng.normal(size=m), rng.permutation(np.arange(m) // 2 * 0.7)):  # the second has ties
        grades = rng.permutation(np.arange(m) % 3).astype(float)
        for k in range(min(needs(loss["loss"]), m), m + 1):
            found = sum(
                chance * estimate(RTopK(**loss, **EXACT), scores, order, best[:k], 0.3, grades)
                for chance, best, order in lists(scores, 0.3)
            )
            np.testing.assert_allclose(found, gradient(loss["loss"], scores, grades), rtol=0, atol=1e-12)


def test_lists_come_with_the_probabilities_that_the_propensities_are_made_of() -> None:
    """Greedy with probability 1 - γ, otherwise any; the evidence says so, ties included."""
    policy = RTopK(gamma=0.4, top_k=2).from_state(
        {"parameters": np.array([1.0, 0.0, 1.0]), "sums": np.ones(3), "rounds": np.array(0)}
    )
    rng, query, n = np.random.default_rng(0), Query("q", np.eye(3)), 6000
    seen: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for _ in range(n):
        ranking = policy.rank(query, k=3, rng=rng)
        seen[tuple(ranking.evidence["top"].tolist()), tuple(ranking.order.tolist())] += 1
        assert ranking.evidence["gamma"] == 0.4
    expected: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for chance, best, order in lists(np.array([1.0, 0.0, 1.0]), 0.4):
        expected[tuple(best[:2].tolist()), tuple(order.tolist())] += chance  # type: ignore[assignment]
    assert set(seen) == set(expected)
    for event, chance in expected.items():
        assert abs(seen[event] - n * chance) < 5 * sqrt(n * chance * (1 - chance)), event


# Fast and slow


def slow_weight(policy: RTopK, q: float, *, inside: bool) -> float:
    if policy.steps == "adagrad":
        return min(1 / q, policy.cap) if q else 0.0
    return 1 / q if inside else 1 / min(1.0, policy.scale * q) if q else 0.0


def slow_slope(policy: RTopK, s: FloatArray, r: dict[int, float], top: list[int], gamma: float) -> FloatArray:
    """The estimate in loops, from the grades of some rows."""
    m, k, g, loss = len(s), len(top), np.zeros(len(s)), policy.loss
    if loss == "ranksvm":
        for i, j in permutations(r, 2):
            inside = i in top and j in top
            q = (1 - gamma) * inside + gamma * k * (k - 1) / (m * (m - 1))
            if r[i] > r[j] and 1 + s[j] > s[i]:
                g += (np.eye(m)[j] - np.eye(m)[i]) * slow_weight(policy, q, inside=inside)
        return g
    p = np.exp((s - s.max()) / 0.5)
    p /= p.sum()
    if loss == "squared":
        g += 2 * s
    for i, grade in r.items():
        w = slow_weight(policy, (1 - gamma) * (i in top) + gamma * k / m, inside=i in top)
        terms: dict[str, FloatArray] = {
            "squared": -2 * grade * np.eye(m)[i],
            "observed-squared": 2 * (s[i] - grade) * np.eye(m)[i],
            "unnormalised-kl": (exp(s[i]) - exp(grade / 2)) * np.eye(m)[i],
            "smooth-dcg": -(2**grade - 1) * p[i] / 0.5 * (np.eye(m)[i] - p),
        }
        g += w * terms[loss]
    return g


@settings(max_examples=150, deadline=None)
@given(
    loss=st.sampled_from(LOSSES),
    step=st.sampled_from([{}, {"cap": inf, "gamma": 1.0}, PUBLISHED | {"gamma": 1.0}, EXACT]),
    radius=st.sampled_from([None, 0.05]),
    m=st.integers(1, 9),
    k=st.integers(2, 9),
    shown=st.integers(1, 9),
    seed=st.integers(0, 2**32),
)
def test_fast_is_slow(
    loss: dict[str, Any],
    step: dict[str, Any],
    radius: float | None,
    m: int,
    k: int,
    shown: int,
    seed: int,
) -> None:
    """Some lists of which a part is rated, learned by arrays and in loops."""
    rng = np.random.default_rng(seed)
    policy = RTopK(**loss, **step, top_k=k, radius=radius)
    w, sums = np.zeros(3), np.zeros(3)
    for number in range(4):
        x = rng.random((m, 3))
        ranking = policy.rank(Query("q", x), k=shown, rng=rng)
        grades, known = rng.integers(3, size=len(ranking)), rng.random(len(ranking)) < 0.8
        policy.learn(Feedback(ranking, grades, known, "grades"))
        top, order = ranking.evidence["top"].tolist(), ranking.order.tolist()
        rated = {
            row: float(grade)
            for row, grade, told in list(zip(order, grades, known, strict=True))[: len(top)]
            if told
        }
        gamma = 1 / (int(policy.rounds) + (not rated)) ** (1 / 3) * policy.gamma
        assert float(ranking.evidence["gamma"]) == pytest.approx(gamma)
        if not rated:
            break
        g = x.T @ slow_slope(policy, x @ w, rated, top, gamma)
        sums = sums + g * g
        if policy.steps == "adagrad":
            w = w - policy.learning_rate * g / (np.sqrt(sums) + 1e-12)
        else:
            w = w - policy.learning_rate / (number + 1) ** (2 / 3) * g
        if radius is not None and (length := sqrt(w @ w)) > radius:
            w = w * radius / length
        np.testing.assert_allclose(policy.parameters, w, rtol=1e-7, atol=1e-9)
        policy = policy.from_state({**policy.state(), "parameters": w})  # rounding must not add up


# Caps, signs and edges


def life(policy: RTopK, rounds: int = 60) -> RTopK:
    world = small_world()
    for number in range(rounds):
        policy.learn(show(policy, world[number % len(world)], seed=number))
    return policy


def test_a_large_cap_is_none() -> None:
    capped, large, none = (life(RTopK(cap=cap, gamma=0.5)) for cap in (10.0, 1e6, inf))
    np.testing.assert_array_equal(large.parameters, none.parameters)
    assert not np.array_equal(capped.parameters, none.parameters)


class Descent(RTopK):
    """SmoothDCG as it is printed: the gain goes down."""

    def _gradient(
        self, features: FloatArray, rows: IntArray, grades: FloatArray, drawn: TopKPropensities
    ) -> FloatArray:
        return -super()._gradient(features, rows, grades, drawn)


@pytest.mark.parametrize("step", [{}, PUBLISHED], ids=["adagrad", "published"])
def test_smooth_dcg_is_ascended_and_its_descent_ends_below_random(step: dict[str, Any]) -> None:
    up, down = (
        share_of_right_pairs(life(make(loss="smooth-dcg", **step), 200), small_world())
        for make in (RTopK, Descent)
    )
    assert up > 0.8
    assert down < 0.45


def test_with_all_results_rated_exploration_changes_nothing() -> None:
    """k ≥ m is full information: every propensity is 1, however the list was drawn."""
    rng, scores, grades = np.random.default_rng(0), np.arange(4.0), np.array([2.0, 0.0, 1.0, 0.0])
    for loss in LOSSES:
        for gamma in (0.0, 0.5, 1.0):
            order = rng.permutation(4)
            found = estimate(RTopK(**loss, **EXACT), scores, order, np.arange(4)[::-1], gamma, grades)
            np.testing.assert_allclose(found, gradient(loss["loss"], scores, grades), atol=1e-12)


def test_without_exploration_it_is_greedy_and_nothing_is_divided_by_zero() -> None:
    policy, world = RTopK(gamma=0.0, cap=inf, top_k=3), small_world()
    for number in range(30):
        feedback = show(policy, world[number % 20], seed=number)
        np.testing.assert_array_equal(feedback.ranking.evidence["top"], feedback.ranking.order[:3])
        policy.learn(feedback)
    assert share_of_right_pairs(policy, world) > 0.8


def test_one_candidate_has_no_pairs_and_teaches_only_what_single_grades_can() -> None:
    shown = RTopK().rank(Query("q", np.ones((1, 2))), k=10, rng=np.random.default_rng(0))
    one = Feedback(shown, np.array([1]), signal="grades")
    pairs, single = RTopK(), RTopK(loss="observed-squared")
    pairs.learn(one)
    single.learn(one)
    assert not pairs.score(shown.query).any()
    assert single.score(shown.query)[0] > 0


def test_of_the_top_k_those_that_are_rated_teach() -> None:
    policy = RTopK(top_k=3)
    shown = policy.rank(Query("q", np.eye(5)), k=5, rng=np.random.default_rng(0))
    known = np.array([True, False, True, True, True])
    policy.learn(Feedback(shown, np.array([0, 2, 1, 2, 2]), known, "grades"))
    moved = policy.score(shown.query)[shown.order]
    assert np.sign(moved).tolist() == [-1, 0, 1, 0, 0]  # the second is not rated, the last two are not asked


def test_nothing_rated_teaches_nothing() -> None:
    policy = RTopK()
    shown = policy.rank(Query("q", np.eye(2)), k=2, rng=np.random.default_rng(0))
    policy.learn(Feedback(shown, np.array([False, False])))
    assert policy.rounds == 0
    assert not policy.parameters.size


def test_clicks_are_the_grades_of_what_was_examined() -> None:
    by_clicks, by_grades = RTopK(), RTopK()
    shown = by_clicks.rank(Query("q", np.eye(4)), k=4, rng=np.random.default_rng(0))
    by_clicks.learn(Feedback(shown, np.array([False, True, False, False])))
    examined = np.array([True, True, True, False])
    by_grades.learn(Feedback(shown, np.array([0, 1, 0, 1]), examined, "grades"))
    np.testing.assert_array_equal(by_clicks.parameters, by_grades.parameters)


def test_a_list_that_was_changed_teaches_nothing() -> None:
    """Its propensities are those of whatever changed it, and nobody knows them."""
    policy = RTopK(top_k=2)
    drawn = policy.rank(Query("q", np.eye(4)), k=4, rng=np.random.default_rng(0))
    swapped = drawn.order[[0, 1, 3, 2]]  # even below what is rated
    assert policy.with_order(drawn, drawn.order) is drawn
    assert policy.with_order(drawn, swapped) is None


def test_late_grades_count_by_the_propensities_of_their_time() -> None:
    """The settings of today say nothing about a list of yesterday."""
    query, grades = Query("q", np.eye(6)), np.array([0, 0, 1, 0, 2, 1])
    yesterday = RTopK(**PUBLISHED, gamma=0.9, scale=1.0, top_k=2)
    for seed in range(10):
        shown = yesterday.rank(query, k=6, rng=np.random.default_rng(seed))
        feedback = LabelJudge(top_k=4).respond(shown, grades, np.random.default_rng(0))
        today = RTopK(**PUBLISHED, gamma=0.0, scale=1.0, top_k=4)
        then = yesterday.from_state(yesterday.state())
        today.learn(feedback)
        then.learn(feedback)
        np.testing.assert_array_equal(today.parameters, then.parameters)


def test_new_features_start_without_a_past() -> None:
    policy = life(RTopK())
    wider = policy.widened(8)
    assert wider is not None
    assert wider.sums.tolist() == [*policy.sums.tolist(), 0, 0]
    assert wider.rounds == policy.rounds


def test_weights_stay_within_the_radius() -> None:
    assert np.linalg.norm(life(RTopK(radius=0.2)).parameters) == pytest.approx(0.2)


# Names and settings


@pytest.mark.parametrize(
    "text",
    [
        "RTopK()",
        "RTopK(top_k=5)",
        "RTopK(loss='unnormalised-kl', top_grade=4.0, top_k=1)",
        "RTopK(loss='smooth-dcg', smoothing=0.1, steps='published', scale=50.0)",
        "RTopK(learning_rate=0.5, gamma=0.0, cap=20.0, radius=3.0)",
    ],
)
def test_losses_and_steps_are_named_with_their_settings(text: str) -> None:
    assert write_policy(read_policy(text)) == text


def test_the_default_loss_can_be_named() -> None:
    assert write_policy(read_policy("RTopK(loss=RankSVM, top_k=5)")) == "RTopK(top_k=5)"


def test_listnet_is_refused_with_the_reason() -> None:
    with pytest.raises(SettingError, match="depends on all grades of the query"):
        RTopK(loss="listnet")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"top_k": 1}, "at least 2, the grades that a term of ranksvm depends on"),
        ({"top_k": 0, "loss": "squared"}, "at least 1"),
    ],
)
def test_settings_without_a_meaning_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        RTopK(**given)
