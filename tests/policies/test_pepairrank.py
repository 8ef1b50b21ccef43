"""PePairRank: its rankers against the perturbed loss as it is written, and its noise against its law."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from rankloop.lab.data import load
from rankloop.lab.users import PresetUser
from rankloop.policies import PePairRank
from rankloop.policies.pairwise.pairwise_logistic import Update
from rankloop.query_set import QuerySet
from rankloop.types import Feedback, FloatArray, Query, Ranking
from tests.support.pairs import differences


@cache
def training() -> QuerySet:
    return load("linear(features=5)").train


def rounds_of(policy: PePairRank, rounds: int, *, user: str = "navigational") -> Iterator[Feedback]:
    """What users did with the policy's lists; each is yielded before the policy has learned from it."""
    data = training()
    model = PresetUser(user).for_grades(data.grades)
    queries, users, policies = map(np.random.default_rng, np.random.SeedSequence(0).spawn(3))
    for index in queries.integers(len(data), size=rounds).tolist():
        ranking = policy.rank(data[index].query, k=10, rng=policies)
        feedback = model.respond(ranking, data[index].relevance, users)
        yield feedback
        policy.learn(feedback)


def log_of(rounds: int) -> list[Feedback]:
    return list(rounds_of(PePairRank(pairing="adjacent"), rounds))


def teaches(feedback: Feedback) -> bool:
    return bool(differences(feedback, "adjacent", 0).any())


def reseeded(feedback: Feedback, seed: int) -> Feedback:
    shown = feedback.ranking
    return Feedback(Ranking(shown.query, shown.order, {"seed": np.array(seed)}), feedback.clicks)


def certain_share(policy: PePairRank) -> float:
    """How many pairs are settled, over some queries."""
    shares = []
    for judged in itertools.islice(training(), 30):
        n = judged.query.n_docs
        shares.append(policy.certain_orders(judged.query).sum() / (n * (n - 1) / 2))
    return float(np.mean(shares))


# The rankers


@pytest.mark.parametrize("regularisation", [None, 0.01], ids=["default", "weak"])
@pytest.mark.parametrize("variance", [0.1, 1.0])
def test_exact_rankers_minimise_the_perturbed_loss(regularisation: float | None, variance: float) -> None:
    """Equation 2.2.1 with labels y + ζ; the first of each pair is the preferred one, so y = 1."""
    policy = PePairRank(update="exact", variance=variance, regularisation=regularisation, pairing="adjacent")
    log = [feedback for feedback in log_of(60) if teaches(feedback)]
    for feedback in log:
        policy.learn(feedback)
    pairs = np.vstack([differences(feedback, "adjacent", 0) for feedback in log])
    rng = np.random.default_rng((int(log[-1].ranking.evidence["seed"]), 1))
    zeta = np.sqrt(variance) * rng.standard_normal((2, len(pairs)))
    penalty = float(policy.penalty)

    for labels, ranker in zip(1 + zeta, policy.perturbed, strict=True):

        def loss(weights: FloatArray, labels: FloatArray = labels) -> float:
            f = pairs @ weights
            terms = -(1 - labels) * log_expit(-f) - labels * log_expit(f)
            return float(terms.sum()) + penalty / 2 * float(weights @ weights)

        def slope(weights: FloatArray, labels: FloatArray = labels) -> FloatArray:
            down: FloatArray = pairs.T @ (expit(pairs @ weights) - labels) + penalty * weights
            return down

        assert np.abs(slope(ranker)).max() < 1e-5
        reference = minimize(loss, np.zeros(5), jac=slope, method="BFGS", options={"gtol": 1e-7})
        np.testing.assert_allclose(ranker, reference.x, rtol=1e-4, atol=1e-5)


def test_with_the_prior_perturbed_the_penalty_is_pairs_with_noise_of_their_own() -> None:
    """Pseudo-pairs √λ e_i, whose plain part is the penalty: each adds -ζ √λ θ_i, drawn anew every round."""
    log, drawn = [feedback for feedback in log_of(60) if teaches(feedback)], []
    policy = PePairRank(update="exact", perturb_prior=True, variance=0.5, pairing="adjacent")
    for feedback in log:
        policy.learn(feedback)
        pairs = policy.history
        rng = np.random.default_rng((int(feedback.ranking.evidence["seed"]), 1))
        zeta, prior = (np.sqrt(0.5) * rng.standard_normal((2, each)) for each in (len(pairs), 5))
        drawn.append(prior)
        for labels, pseudo, ranker in zip(1 + zeta, prior, policy.perturbed, strict=True):
            slope = pairs.T @ (expit(pairs @ ranker) - labels)
            for i in range(5):
                slope[i] += policy.penalty * ranker[i] - np.sqrt(policy.penalty) * pseudo[i]
            assert np.abs(slope).max() < 1e-5
    assert len({prior.tobytes() for prior in drawn}) == len(log)


def test_the_slope_of_the_perturbed_loss_is_a_tilt() -> None:
    """-(1 - y - ζ) log σ(-f) - (y + ζ) log σ(f) is the plain loss of y minus ζ f."""
    f, zeta = np.linspace(-4, 4, 9), 0.3
    for y in (0.0, 1.0):
        perturbed = -(1 - y - zeta) * log_expit(-f) - (y + zeta) * log_expit(f)
        plain = -(1 - y) * log_expit(-f) - y * log_expit(f)
        np.testing.assert_allclose(perturbed, plain - zeta * f)


@pytest.mark.parametrize("perturb_prior", [False, True])
def test_online_rankers_scatter_as_one_newton_step_would(perturb_prior: bool) -> None:
    """Over many seeds, perturbed - parameters ~ N(0, ν² H⁻¹ S H⁻¹) with S = Σ x xᵀ, or λI more.

    A covariance of 20,000 draws in 5 dimensions is within about √(6 / 20,000) = 1.7 % of the truth; 5 %
    are allowed.
    """
    *past, last = [feedback for feedback in log_of(80) if teaches(feedback)]
    policy = PePairRank(rankers=100, variance=0.3, pairing="adjacent", perturb_prior=perturb_prior)
    for feedback in past:
        policy.learn(feedback)
    state, away = policy.state(), []
    for seed in range(200):
        twin = policy.from_state(state)
        twin.learn(reseeded(last, seed))
        away.append(twin.perturbed - twin.parameters)
    draws = np.vstack(away)
    pairs = np.vstack([differences(feedback, "adjacent", 0) for feedback in (*past, last)])
    scatter = pairs.T @ pairs + perturb_prior * float(policy.penalty) * np.eye(5)
    expected = 0.3 * twin.curvature @ scatter @ twin.curvature
    size = np.linalg.norm(expected)
    assert np.linalg.norm(draws.T @ draws / len(draws) - expected) < 0.05 * size
    assert np.abs(draws.mean(axis=0)).max() < 5 * np.sqrt(expected.diagonal().max() / len(draws))


def test_online_and_exact_rankers_scatter_alike() -> None:
    """To first order the same distribution: the spread of both agrees within a quarter."""
    log = [feedback for feedback in log_of(150) if teaches(feedback)]
    updates: tuple[Update, ...] = ("online", "exact")
    spreads = []
    for update in updates:
        policy = PePairRank(rankers=2, pairing="adjacent", update=update)
        for feedback in log[:-1]:
            policy.learn(feedback)
        crowd = PePairRank(rankers=300, pairing="adjacent", update=update)
        crowd = crowd.from_state(policy.state())
        crowd.learn(log[-1])
        spreads.append(crowd.perturbed.std(axis=0))
    np.testing.assert_allclose(spreads[0], spreads[1], rtol=0.25)


def test_few_pairs_in_many_directions_are_no_obstacle() -> None:
    """One pair spans one direction of twenty; noise stays in it."""
    query = Query("q", np.eye(20))
    policy = PePairRank(rankers=3, regularisation=1.0)
    shown = policy.rank(query, k=20, rng=np.random.default_rng(0))
    policy.learn(Feedback(shown, np.arange(20) == 0))
    first, second = shown.order[:2]
    away = policy.perturbed - policy.parameters
    assert (np.abs(away[:, first]) > 1e-3).all()
    np.testing.assert_allclose(away[:, second], -away[:, first], atol=1e-3)
    assert np.abs(np.delete(away, [first, second], axis=1)).max() < 1e-3


@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_the_unit_of_the_features_does_not_matter(scale: float) -> None:
    """Scores and disagreements stay as they are, up to the jitter that keeps factors alive."""
    plain, scaled = PePairRank(), PePairRank()
    for feedback in rounds_of(plain, 100):
        shown = feedback.ranking
        query = Query(shown.query.id, scale * shown.query.features.astype(np.float64))
        scaled.learn(Feedback(Ranking(query, shown.order, shown.evidence), feedback.clicks))
    np.testing.assert_allclose(scale * scaled.parameters, plain.parameters, rtol=1e-5)
    np.testing.assert_allclose(scale * scaled.perturbed, plain.perturbed, rtol=1e-5)


# Agreement


@given(seed=st.integers(0, 2**32), rankers=st.integers(1, 4))
def test_certain_is_what_all_rankers_agree_on(seed: int, rankers: int) -> None:
    rng = np.random.default_rng(seed)
    weights, features = rng.integers(-2, 3, size=(rankers, 3)), rng.integers(-2, 3, size=(6, 3))
    policy = PePairRank(rankers=rankers)
    state = {**policy.state(), "parameters": np.ones(3), "perturbed": weights.astype(float)}
    certain = policy.from_state(state).certain_orders(Query("q", features.astype(float)))
    for i, j in itertools.product(range(6), repeat=2):
        agreed = all(int(w @ features[i]) > int(w @ features[j]) for w in weights)
        assert certain[i, j] == agreed


@given(seed=st.integers(0, 2**32))
def test_the_scores_of_lists_contradict_no_agreement(seed: int) -> None:
    rng = np.random.default_rng(seed)
    policy = PePairRank(rankers=3)
    state = {**policy.state(), "parameters": np.ones(4), "perturbed": rng.normal(size=(3, 4))}
    policy, query = policy.from_state(state), Query("q", rng.normal(size=(8, 4)))
    scores = policy.list_scores(query)
    for i, j in zip(*policy.certain_orders(query).nonzero(), strict=True):
        assert scores[i] > scores[j]


def test_nothing_is_certain_before_the_first_pair() -> None:
    policy, query = PePairRank(), Query("q", np.eye(4))
    assert not policy.certain_orders(query).any()
    assert policy.list_scores(query).tolist() == policy.score(query).tolist() == [0.0] * 4


@pytest.mark.parametrize("update", ["online", "exact"])
def test_one_ranker_alone_is_certain_of_everything(update: Update) -> None:
    """With nobody to disagree, the list is the ranker's own: greedy, whatever is drawn."""
    policy = PePairRank(rankers=1, update=update)
    for _ in rounds_of(policy, 30):
        pass
    assert certain_share(policy) == 1
    query = training()[3].query
    greedy = (-(query.features @ policy.perturbed[0])).argsort()[:10]
    for seed in range(5):
        shown = policy.rank(query, k=10, rng=np.random.default_rng(seed))
        assert shown.order.tolist() == greedy.tolist()


def test_exploitation_uses_the_unperturbed_ranker() -> None:
    policy = PePairRank()
    for _ in rounds_of(policy, 30):
        pass
    features = training()[0].query.features.astype(np.float64)
    np.testing.assert_allclose(policy.score(Query("q", features)), features @ policy.parameters)
    assert not np.allclose(policy.perturbed, policy.parameters)


@pytest.mark.parametrize("update", ["online", "exact"])
def test_more_variance_leaves_more_to_explore(update: Update) -> None:
    shares, log = [], log_of(60)
    for variance in (0.001, 0.03, 1.0):
        policy, seen = PePairRank(variance=variance, update=update), []
        for feedback in log:
            policy.learn(feedback)
            seen.append(certain_share(policy))
        shares.append(np.mean(seen[-30:]))
    assert shares[0] > shares[1] + 0.02
    assert shares[1] > shares[2] + 0.02


def test_more_rankers_leave_more_to_explore() -> None:
    shares, log = [], log_of(60)
    for rankers in (1, 2, 8):
        policy, seen = PePairRank(rankers=rankers), []
        for feedback in log:
            policy.learn(feedback)
            seen.append(certain_share(policy))
        shares.append(np.mean(seen[-30:]))
    assert shares[0] > shares[1] > shares[2]


# Learning


@pytest.mark.parametrize("update", ["online", "exact"])
def test_the_evidence_decides_all_that_is_random(update: Update) -> None:
    log = [feedback for feedback in log_of(30) if teaches(feedback)]
    one, same, other = (PePairRank(update=update, pairing="adjacent") for _ in range(3))
    for feedback in log:
        one.learn(feedback)
        same.learn(feedback)
        other.learn(reseeded(feedback, 1))
    for name, value in one.state().items():
        np.testing.assert_array_equal(value, same.state()[name])
    np.testing.assert_array_equal(one.parameters, other.parameters)
    assert (one.perturbed != other.perturbed).all()


def test_the_noise_is_not_the_matching_again() -> None:
    """One seed serves two purposes; the perturbation draws from a stream of its own."""
    policy, last = PePairRank(regularisation=1.0, update="exact"), log_of(10)[-1]
    assert teaches(last)
    policy.learn(last)
    seed = int(last.ranking.evidence["seed"])
    pairs = differences(last, "matching", seed)
    np.testing.assert_array_equal(policy.history, pairs)
    rng = np.random.default_rng((seed, 1))
    tilts = np.sqrt(0.1) * rng.standard_normal((2, len(pairs))) @ pairs
    for tilt, ranker in zip(tilts, policy.perturbed, strict=True):
        assert np.abs(pairs.T @ expit(-(pairs @ ranker)) + tilt - ranker).max() < 1e-5


def test_an_online_state_does_not_grow() -> None:
    policy, shapes = PePairRank(), []
    for number, _ in enumerate(rounds_of(policy, 501, user="informational")):
        if number in (50, 500):
            shapes.append({name: value.shape for name, value in policy.state().items()})
    assert shapes[0] == shapes[1]
    assert shapes[0]["history"] == (0, 5)
