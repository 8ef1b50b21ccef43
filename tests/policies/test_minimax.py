"""The minimax perceptron: the worst pair, few mistakes, as few as an adversary allows, and no step size."""

from __future__ import annotations

import itertools
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.checks import small_world
from rankloop.errors import SettingError
from rankloop.exploration import draw_by_score
from rankloop.lab.data import make_dataset
from rankloop.lab.users import LabelJudge
from rankloop.learning.graded_hinge import worst_pair
from rankloop.learning.measure_weights import out_of_order
from rankloop.policies import Minimax, Policy, Slam
from rankloop.policies.policy_names import read_policy
from rankloop.types import Feedback, IntArray, Query


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=1, max_size=9))
def test_the_worst_pair_is_the_worst_of_all(drawn: list[tuple[int, int]]) -> None:
    grades, scores = np.array([grade for grade, _ in drawn]), np.array([float(score) for _, score in drawn])
    pairs = [(i, j) for i, j in itertools.permutations(range(len(drawn)), 2) if grades[i] > grades[j]]
    found = worst_pair(scores, grades)
    if found is None:
        assert not pairs
        return
    assert found in pairs
    assert scores[found[1]] - scores[found[0]] == max(scores[j] - scores[i] for i, j in pairs)


@pytest.mark.parametrize("documents", [2, 10])
def test_mistakes_on_separable_lists_are_few_however_long_the_lists(documents: int) -> None:
    lengths = {"min_documents": documents, "max_documents": documents}
    world = make_dataset("separable", queries=1500, margin=0.5, **lengths).train
    longest = float(np.square(world.features).sum(axis=1).max())
    policy, rng, mistakes = Minimax(), np.random.default_rng(0), 0
    for judged in world:
        ranking = policy.rank(judged.query, k=documents, rng=rng)
        mistakes += out_of_order(judged.relevance[ranking.order])
        policy.learn(LabelJudge().respond(ranking, judged.relevance, rng))
    assert 0 < mistakes <= 4 * longest / 0.5**2 < 200


@pytest.mark.parametrize("policy", [Minimax(), Slam(), Slam(k=1)], ids=repr)
def test_an_adversary_makes_it_err_every_round_on_lists_that_are_separable(policy: Policy) -> None:
    """Theorem 9: in every round a new direction, and the result shown first is called irrelevant."""
    longest, margin, width = 2.0, 0.5, 16
    rounds = int(longest**2 / margin**2)
    rng = np.random.default_rng(0)
    shown: list[Query] = []
    grades: list[IntArray] = []
    for number in range(rounds):
        direction = longest * np.eye(width)[number]
        query = Query(str(number), np.stack((direction, -direction)))
        ranking = policy.rank(query, k=2, rng=rng)
        relevance = np.ones(2, dtype=int)
        relevance[ranking.order[0]] = 0
        assert out_of_order(relevance[ranking.order])
        policy.learn(LabelJudge().respond(ranking, relevance, rng))
        shown, grades = [*shown, query], [*grades, relevance]
    better = np.array([1 if relevance[0] else -1 for relevance in grades])
    ranker = better * margin / (2 * longest)
    assert np.square(ranker).sum() <= 1
    for query, relevance in zip(shown, grades, strict=True):
        ahead = query.features[relevance.argmax()] - query.features[relevance.argmin()]
        assert ahead @ ranker == pytest.approx(margin)
        assert policy.score(query).argmax() == relevance.argmax()  # it learned what it was told
    assert rounds <= 4 * longest**2 / margin**2


def life(step: float, lists: int) -> tuple[list[IntArray], list[float]]:
    """The algorithm as it is printed, with a step size; all that is shown, and the last weights."""
    world, weights, rng = small_world(), np.zeros(6), np.random.default_rng(5)
    orders = []
    for number in range(lists):
        judged = world[number % len(world)]
        order = draw_by_score(judged.query.features @ weights, 8, rng)
        features, grades = judged.query.features[order], judged.relevance[order]
        scores = features @ weights
        pair = worst_pair(scores, grades)
        if out_of_order(grades) and pair and 1 + scores[pair[1]] - scores[pair[0]] > 0:
            weights = weights - step * (features[pair[1]] - features[pair[0]])
        orders.append(order)
    return orders, (weights / step).tolist()


@pytest.mark.parametrize("step", [2.0**-8, 1.0, 2.0**6])
def test_a_step_size_would_change_no_list(step: float) -> None:
    world, policy, rng = small_world(), Minimax(), np.random.default_rng(5)
    orders, weights = life(step, 200)
    for number, expected in enumerate(orders):
        judged = world[number % len(world)]
        ranking = policy.rank(judged.query, k=8, rng=rng)
        assert ranking.order.tolist() == expected.tolist()
        policy.learn(Feedback(ranking, judged.relevance[ranking.order], signal="grades"))
    assert policy.parameters.tolist() == weights


def test_networks_need_a_step_size() -> None:
    with pytest.raises(SettingError, match="Minimax has no setting 'scorer'"):
        read_policy("Minimax(scorer=MLP())")
    assert [each.name for each in fields(Minimax) if each.init] == ["averaged"]
