"""ListNet's gradient, its steps, and what all policies taught by grades or clicks have in common."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from rankloop.check_worlds import live_rounds
from rankloop.checks import (
    LAWS,
    SANITY,
    LawBroken,
    Make,
    check_policy,
    grades_teach_different_things,
    learning_beats_random,
    small_world,
)
from rankloop.lab.users import LabelJudge
from rankloop.policies import GradedPolicy, ListNet, Minimax, Slam
from rankloop.scorers import MLP, Scorer
from rankloop.types import Feedback, FloatArray, Query, Ranking

FAMILY: dict[str, Callable[..., GradedPolicy]] = {"slam": Slam, "minimax": Minimax, "listnet": ListNet}
family = pytest.mark.parametrize("make", FAMILY.values(), ids=FAMILY.keys())


def cross_entropy(parameters: FloatArray, scorer: Scorer, features: FloatArray, grades: FloatArray) -> float:
    scores = scorer.score(parameters, features)
    target = np.exp(grades) / np.exp(grades).sum()
    return float(np.log(np.exp(scores).sum()) - target @ scores)


@pytest.mark.parametrize("scorer", [ListNet().scorer, MLP((4, 2))], ids=repr)
def test_a_step_descends_the_cross_entropy(scorer: Scorer) -> None:
    rng = np.random.default_rng(0)
    for number in range(5):
        features, grades = rng.normal(size=(7, 3)), rng.integers(0, 5, size=7)
        start = scorer.start(3) + rng.normal(size=scorer.start(3).size) / 4
        policy = ListNet(scorer=scorer, learning_rate=0.5)
        policy.parameters, policy.rounds = start, np.array(number)
        order = rng.permutation(7)
        policy.learn(Feedback(Ranking(Query("q", features), order), grades[order], signal="grades"))
        gradient = approx_fprime(start, cross_entropy, 1e-7, scorer, features, grades)
        found = (start - policy.parameters) * np.sqrt(number + 1) / 0.5
        np.testing.assert_allclose(found, gradient, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("exponent", "share"), [(0.0, 1.0), (0.5, 0.1), (1.0, 0.01)])
def test_steps_shrink_by_the_exponent(exponent: float, share: float) -> None:
    """The hundredth step, of what the same list teaches in the first."""
    query, steps = Query("q", np.eye(3)), []
    for rounds in (0, 99):
        policy = ListNet(learning_rate=0.2, decay_exponent=exponent)
        policy.rounds = np.array(rounds)
        policy.learn(Feedback(Ranking(query, np.arange(3)), np.array([0, 2, 1]), signal="grades"))
        steps.append(policy.parameters)
    np.testing.assert_allclose(steps[1], share * steps[0])


@family
def test_the_average_is_that_of_the_weights_before_each_round(make: Callable[..., GradedPolicy]) -> None:
    world, averaged = small_world(), make(averaged=True)
    plain = make()
    before: list[FloatArray] = [np.zeros(6)]
    for feedback in live_rounds(averaged, world, rounds=30):
        plain.learn(feedback)
        before.append(plain.parameters if plain.parameters.size else np.zeros(6))
    np.testing.assert_array_equal(plain.parameters, averaged.parameters)
    expected = world.features @ np.mean(before[:30], axis=0)
    np.testing.assert_allclose(averaged.score(world.as_one_query()), expected, rtol=1e-9)
    assert averaged.parameters.any()


@family
def test_clicks_teach_what_the_grades_they_stand_for_teach(make: Callable[..., GradedPolicy]) -> None:
    shown = Ranking(small_world()[0].query, np.arange(6))
    clicked, graded = make(), make()
    clicked.learn(Feedback(shown, np.array([False, False, True, False, False, False])))
    known = np.arange(6) < 4
    graded.learn(Feedback(shown, np.array([0, 0, 1, 0, 3, 3]), known, "grades"))
    assert clicked.parameters.any()
    np.testing.assert_array_equal(clicked.parameters, graded.parameters)
    for silent in (np.zeros(6, dtype=bool), np.array([True, *[False] * 5])):
        listened = copy.copy(clicked)
        listened.learn(Feedback(shown, silent, judged=np.arange(6) < 1))
        assert listened.rounds == clicked.rounds


@family
def test_the_order_of_the_list_does_not_change_what_listnet_learns_and_unknown_grades_nothing(
    make: Callable[..., GradedPolicy],
) -> None:
    judged = small_world()[1]
    order = np.argsort(judged.relevance)[:8]  # the worst on top
    top = LabelJudge(top_k=3).respond(
        Ranking(judged.query, order), judged.relevance, np.random.default_rng(0)
    )
    cut = LabelJudge().respond(Ranking(judged.query, order[:3]), judged.relevance, np.random.default_rng(0))
    one, other = make(), make()
    one.learn(top)
    other.learn(cut)
    np.testing.assert_array_equal(one.parameters, other.parameters)


VARIANTS: dict[str, Make] = {
    "minimax, averaged": partial(Minimax, averaged=True),
    "listnet, averaged": partial(ListNet, averaged=True, learning_rate=0.1),
    "listnet, network": partial(ListNet, scorer=MLP(8), learning_rate=0.1, decay_exponent=0.0),
}


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
def test_variants_obey_every_law(make: Make) -> None:
    check_policy(make)


@pytest.mark.parametrize("law", LAWS + SANITY, ids=lambda law: law.__name__)
def test_average_precision_knows_relevant_or_not_and_obeys_the_other_laws(
    law: Callable[[Make], None],
) -> None:
    make = partial(Slam, averaged=True, measure="ap")
    with pytest.raises(LawBroken) if law is grades_teach_different_things else nullcontext():
        law(make)


class OnlyClicks:
    """The same policies where nobody grades."""

    signals = ("clicks",)


@family
def test_they_learn_where_nobody_grades(make: type[GradedPolicy]) -> None:
    learning_beats_random(type(make.__name__, (OnlyClicks, make), {}), rounds=600)
