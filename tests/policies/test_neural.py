"""Neural policies learn what they say, remember no more than they may, and obey the laws in every variant."""

from __future__ import annotations

import copy
import tracemalloc
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from rankloop.checks import LAWS, SANITY, Make, share_of_right_pairs
from rankloop.errors import RankingError
from rankloop.lab.users import Cascade
from rankloop.learning.click_pairs import pair_differences
from rankloop.policies import (
    DBGD,
    MGD,
    PDGD,
    EpsilonGreedy,
    Exact,
    NeuralPairwise,
    OlLambdaRank,
    OlRankNet,
    P2NeurRank,
    PairRank,
    Policy,
    RankNet,
    ReplayMemory,
)
from rankloop.policies.gradient.pdgd import swap_probability
from rankloop.query_set import QuerySet
from rankloop.scorers import MLP, Linear
from rankloop.types import Feedback, FloatArray, Query, Ranking
from tests.support.pairs import differences

USER = Cascade(click=(0.05, 0.9), stop=(0.0, 0.1))
SMALL = MLP((16, 8))
KINDS = (P2NeurRank, OlRankNet, OlLambdaRank)


@cache
def crossed() -> QuerySet:
    """A document is relevant if exactly one of its features is high: no weighted sum can tell."""
    rng = np.random.default_rng(0)
    rows = rng.random((50 * 12, 2))
    return QuerySet(
        rows,
        np.arange(51) * 12,
        ((rows[:, 0] > 0.5) ^ (rows[:, 1] > 0.5)).astype(np.int64),
        tuple(f"q{number}" for number in range(50)),
    )


def lived(policy: Policy, rounds: int, seed: int = 0) -> list[Feedback]:
    """What users did with the policy's lists while it learned."""
    world, rng, log = crossed(), np.random.default_rng(seed), []
    for index in rng.integers(len(world), size=rounds).tolist():
        ranking = policy.rank(world[index].query, k=6, rng=rng)
        log.append(USER.respond(ranking, world[index].relevance, rng))
        policy.learn(log[-1])
    return log


def reseeded(feedback: Feedback, seed: int) -> Feedback:
    shown = feedback.ranking
    return Feedback(Ranking(shown.query, shown.order, {"seed": np.array(seed)}), feedback.clicks)


# What is learned


@pytest.mark.parametrize("kind", KINDS)
def test_networks_learn_what_no_linear_ranker_can(kind: Callable[..., NeuralPairwise]) -> None:
    policy, linear = kind(scorer=MLP((32, 32)), learning_rate=3e-3), PairRank()
    lived(policy, 600)
    lived(linear, 600)
    assert share_of_right_pairs(linear, crossed()) < 0.65
    assert share_of_right_pairs(policy, crossed()) > 0.85


@pytest.mark.parametrize("pairing", ["all", "matching"])
def test_exact_training_of_a_linear_scorer_is_logistic_regression(pairing: Any) -> None:
    log = lived(OlRankNet(scorer=SMALL), 40)
    policy = OlRankNet(
        scorer=Linear(), training=Exact(150), pairing=pairing, regularisation=3.0, learning_rate=0.02
    )
    for feedback in log:
        policy.learn(feedback)
    pairs, weights = [], []
    for feedback in log:
        own = pair_differences(
            feedback, feedback.ranking.query.features, pairing, int(feedback.ranking.evidence["seed"])
        )
        clicked = int(feedback.clicks.sum())
        share = 1 / max(clicked, len(own) // clicked) if pairing == "all" and len(own) else 1.0
        pairs.append(own)
        weights.append(np.full(len(own), share))

    def loss(parameters: FloatArray) -> float:
        surprises = np.logaddexp(0, -np.vstack(pairs) @ parameters)
        return float(np.concatenate(weights) @ surprises + 1.5 * parameters @ parameters)

    np.testing.assert_allclose(policy.parameters, minimize(loss, np.zeros(2)).x, atol=0.01)


@pytest.mark.parametrize(
    "make",
    [
        partial(RankNet, scorer=MLP((32, 32), scale=0.5), learning_rate=0.03, pairing="all"),
        partial(EpsilonGreedy, scorer=MLP((32, 32), scale=0.5), learning_rate=0.03, pairing="all"),
        partial(PDGD, scorer=MLP((32, 32), scale=1.0), learning_rate=1.0),
    ],
)
def test_other_policies_learn_with_networks_too(make: Make) -> None:
    policy = make()
    lived(policy, 800)
    assert share_of_right_pairs(policy, crossed()) > 0.8


def test_scores_far_apart_give_pdgd_no_infinite_weights() -> None:
    """Networks reach such scores; a swap that is infinitely unlikely has weight 0."""
    scores = np.array([0.0, -2000.0, -2000.0])
    assert swap_probability(scores, np.arange(3), np.array([0]), np.array([2])).tolist() == [0.0]


# What is remembered


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_stops_growing_when_the_memory_is_full(kind: Callable[..., NeuralPairwise]) -> None:
    policy = kind(scorer=SMALL, training=ReplayMemory(4, memory=20))
    lived(policy, 60)
    before = {name: value.shape for name, value in policy.state().items()}
    lived(policy, 60, seed=1)
    assert {name: value.shape for name, value in policy.state().items()} == before
    assert len(policy.documents) < 2 * 20


def test_exact_training_remembers_everything() -> None:
    policy = P2NeurRank(scorer=SMALL, training=Exact(1))
    log = lived(policy, 60)
    taught = [feedback for feedback in log if differences(feedback, "all", 0).size]
    assert policy.wins.any(axis=(1, 2)).sum() == int(policy.lists) == len(taught)


@pytest.mark.parametrize("kind", KINDS)
def test_twins_do_not_write_into_each_others_memory(kind: Callable[..., NeuralPairwise]) -> None:
    policy = kind(scorer=SMALL, training=ReplayMemory(4, memory=10))
    lived(policy, 30)
    before, twin = policy.state(), copy.copy(policy)
    lived(twin, 30, seed=1)
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name])


DESCENT: dict[str, Any] = {"scorer": SMALL, "optimiser": "gradient-descent", "learning_rate": 1e-3}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rounds", [0, 6, 60])  # nothing is known, there is room, the memory is full
def test_a_training_that_does_not_converge_changes_nothing(
    kind: Callable[..., NeuralPairwise], rounds: int
) -> None:
    policy = kind(**DESCENT, training=ReplayMemory(4, memory=20))
    log = lived(policy, rounds) or lived(kind(scorer=SMALL), 20)
    lesson = next(each for each in log if differences(each, "all", 0).size)
    before = policy.state()
    policy.learning_rate = 1e30
    for seed in range(3):
        with pytest.raises(RankingError, match="does not converge"):
            policy.learn(reseeded(lesson, seed))
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name])
    policy.learning_rate = 1e-3
    policy.learn(lesson)
    assert int(policy.lists) == before["lists"] + 1


def test_learning_by_gradient_descent_copies_no_memory() -> None:
    lists = 40_000
    policy = P2NeurRank(**DESCENT, training=ReplayMemory(4, memory=lists))
    log = lived(policy, 60)
    taught = [each for each in log if differences(each, "all", 0).size]
    repeats = {"documents": (lists, 1, 1), "wins": (lists, 1, 1), "seeds": (lists,)}
    once = {name: getattr(policy, name)[:1] for name in repeats}
    full = {name: np.tile(once[name], repeats[name]) for name in repeats}
    policy = policy.from_state({**policy.state(), **full, "lists": np.array(lists)})
    tracemalloc.start()
    policy.learn(taught[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < policy.documents.nbytes / 2
    assert len(policy.documents) == lists


def test_lists_that_teach_nothing_change_nothing() -> None:
    policy = P2NeurRank(scorer=SMALL)
    log = lived(policy, 10)
    before = policy.state()
    for clicks in (np.zeros, np.ones):
        policy.learn(Feedback(log[0].ranking, clicks(6, dtype=bool)))
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name])


def test_the_ranker_is_an_average_of_recent_parameters() -> None:
    policy = OlRankNet(scorer=SMALL, learning_rate=0.003)
    lived(policy, 200)
    features = crossed().features
    np.testing.assert_array_equal(policy.score(Query("q", features)), SMALL.score(policy.average, features))
    from_start, from_now = (
        np.linalg.norm(policy.average - other) for other in (SMALL.start(2), policy.parameters)
    )
    assert 0 < from_now < from_start / 2


# What is random


@pytest.mark.parametrize("kind", KINDS)
def test_the_evidence_decides_all_that_is_random(kind: Callable[..., NeuralPairwise]) -> None:
    log = lived(kind(scorer=SMALL), 40)
    one, same, other = (kind(scorer=SMALL, training=ReplayMemory(4, memory=40)) for _ in range(3))
    for feedback in log:
        one.learn(feedback)
        same.learn(feedback)
        other.learn(reseeded(feedback, 1))
    np.testing.assert_array_equal(one.parameters, same.parameters)
    assert not np.allclose(one.parameters, other.parameters)


# Laws and limits

VARIANTS: dict[str, Make] = {
    "P2NeurRank-exact": partial(P2NeurRank, scorer=SMALL, training=Exact(2), rankers=3),
    "P2NeurRank-linear": partial(P2NeurRank, scorer=Linear()),
    "P2NeurRank-random": partial(P2NeurRank, scorer=SMALL, exploration="random", pairing="adjacent"),
    "OlRankNet-full": partial(OlRankNet, scorer=SMALL, covariance="full"),
    "OlRankNet-diagonal": partial(OlRankNet, scorer=SMALL, covariance="diagonal", exploration="random"),
    "OlLambdaRank-forgetful": partial(OlLambdaRank, scorer=SMALL, training=ReplayMemory(2, memory=3)),
    "OlLambdaRank-matching": partial(OlLambdaRank, scorer=SMALL, pairing="matching"),
    "RankNet-mlp": partial(RankNet, scorer=SMALL),
    "EpsilonGreedy-mlp": partial(EpsilonGreedy, scorer=SMALL),
    "PDGD-mlp": partial(PDGD, scorer=SMALL),
    "DBGD-mlp": partial(DBGD, scorer=SMALL),
    "MGD-mlp": partial(MGD, scorer=SMALL),
}


@pytest.mark.parametrize("check", LAWS + SANITY, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
def test_law(make: Make, check: Callable[[Make], None]) -> None:
    check(make)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_certain_before_the_first_pair(kind: Callable[..., NeuralPairwise]) -> None:
    policy, features = kind(scorer=SMALL), np.eye(4)
    assert not policy.certain_orders(Query("q", features)).any()
    np.testing.assert_allclose(policy.score(Query("q", features)), 0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_other_features_are_refused(kind: Callable[..., NeuralPairwise]) -> None:
    policy = kind(scorer=SMALL)
    lived(policy, 10)
    ranking = Ranking(Query("q", np.eye(3)), np.arange(3), {"seed": np.array(0)})
    with pytest.raises(RankingError, match="knows 2 features but the query has 3"):
        policy.learn(Feedback(ranking, np.array([False, True, False])))


@pytest.mark.parametrize("size", [1e110, 1e200, 1e308])
@pytest.mark.parametrize("kind", KINDS)
def test_features_too_large_to_learn_from_are_refused_and_change_nothing(
    kind: Callable[..., NeuralPairwise], size: float
) -> None:
    policy = kind(scorer=SMALL)
    lived(policy, 10)
    before = policy.state()
    ranking = Ranking(Query("q", size * np.eye(2)), np.arange(2), {"seed": np.array(0)})
    with pytest.raises(RankingError, match="can be learned from, found 1e"):
        policy.learn(Feedback(ranking, np.array([False, True])))
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.parametrize("kind", KINDS)
def test_features_nearly_as_large_can_be_learned_from(kind: Callable[..., NeuralPairwise]) -> None:
    policy = kind(scorer=SMALL)
    for seed in range(5):
        features = (1e12 * np.eye(2)).astype(np.float32)
        ranking = Ranking(Query("q", features), np.arange(2), {"seed": np.array(seed)})
        policy.learn(Feedback(ranking, np.array([False, True])))
    assert all(np.isfinite(value).all() for value in policy.state().values())
