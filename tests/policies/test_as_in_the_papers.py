"""The papers' algorithms as they are printed, written down slowly, against the policies set to be them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import log2, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from rankloop.errors import RankingError, SettingError
from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    Exact,
    OlLambdaRank,
    OlRankNet,
    P2NeurRank,
    PairRank,
)
from rankloop.policies.policy_names import read_policy
from rankloop.scorers import MLP
from rankloop.types import Feedback, FloatArray, Query, Ranking
from tests.support.pairs import comparisons

SCORER = MLP((4, 4), scale=1.0)
ROUNDS, STEPS, RATE, PENALTY = 7, 5, 0.1, 0.5
SMALL = (  # the papers' settings but for their size
    f"scorer=mlp((4,4),scale=1),training=exact({STEPS},restart=True),learning_rate={RATE},"
    f"regularisation={PENALTY}"
)
Weigh = Callable[[FloatArray, Feedback], list[float]]


def feedback_on(seed: int, n: int = 7) -> Feedback:
    rng = np.random.default_rng(seed)
    ranking = Ranking(Query("q", rng.normal(size=(n, 3))), rng.permutation(n), {"seed": np.array(seed)})
    return Feedback(ranking, rng.random(n) < 0.4)


LISTS = [each for each in map(feedback_on, range(40)) if comparisons(each, "adjacent", 0).wins.any()]
LISTS = LISTS[:ROUNDS]


def pairs_of(feedback: Feedback) -> list[tuple[FloatArray, FloatArray]]:
    """Winner and loser among the neighbours 1-2, 3-4, ... down to one below the last click."""
    shown, clicks = feedback.ranking.query.features[feedback.ranking.order], feedback.clicks.tolist()
    examined = min(len(clicks), max(rank for rank, clicked in enumerate(clicks) if clicked) + 2)
    neighbours = [(rank, rank + 1) for rank in range(0, examined - 1, 2) if clicks[rank] != clicks[rank + 1]]
    return [(shown[i], shown[j]) if clicks[i] else (shown[j], shown[i]) for i, j in neighbours]


def gradient(parameters: FloatArray, document: FloatArray) -> FloatArray:
    return SCORER.vjp(parameters, document[None], np.ones(1))


def score(parameters: FloatArray, document: FloatArray) -> float:
    return float(SCORER.score(parameters, document[None])[0])


def alike(parameters: FloatArray, feedback: Feedback) -> list[float]:
    """RankNet: every pair of a list counts 1."""
    del parameters
    return [1.0] * len(pairs_of(feedback))


def trained(start: FloatArray, lists: list[Feedback], noise: list[float], weigh: Weigh = alike) -> FloatArray:
    """J steps of gradient descent from the start, on the pairs of all lists and (λ/2)‖θ - θ₀‖².

    The steps are of size η / t, as the analysis has them: a mean over the lists.
    """
    pairs = [pair for each in lists for pair in pairs_of(each)]
    here = start
    for _ in range(STEPS):
        slope = -PENALTY * (here - start)
        weights = [weight for each in lists for weight in weigh(here, each)]
        for (winner, loser), zeta, weight in zip(pairs, noise, weights, strict=True):
            residual = weight * (1 + zeta - expit(score(here, winner) - score(here, loser)))
            slope = slope + residual * (gradient(here, winner) - gradient(here, loser))
        here = here + RATE / len(lists) * slope
    return here


def lambdaranks(parameters: FloatArray, feedback: Feedback) -> list[float]:
    """|ΔnDCG@10| of each pair, in the list of the documents of all pairs by score, clicks being gains."""
    pairs = pairs_of(feedback)
    documents = [document for pair in pairs for document in pair]
    shown = feedback.ranking.query.features[feedback.ranking.order].tolist()
    documents.sort(key=lambda document: shown.index(document.tolist()))  # ties stay as they were shown
    rows = [document.tolist() for document in documents]
    scores = [round(score(parameters, document), 12) for document in documents]
    gains = [float(row in [winner.tolist() for winner, _ in pairs]) for row in rows]
    places = [tuple(rows.index(each.tolist()) for each in pair) for pair in pairs]
    return [delta_ndcg_at_10(scores, gains, i, j) for i, j in places]


@pytest.mark.parametrize(
    ("name", "alpha", "weigh"), [("olranknet", 0.05, alike), ("ollambdarank", 0.01, lambdaranks)]
)
def test_networks_are_algorithm_1_of_their_paper(name: str, alpha: float, weigh: Weigh) -> None:
    """Trained anew in every round; A sums the squares of gradients as they were after their round."""
    policy = read_policy(f"{name}@paper({SMALL}, alpha={alpha})")
    assert isinstance(policy, OlRankNet)
    matrix = np.full(SCORER.start(3).size, PENALTY)
    for number, feedback in enumerate(LISTS, 1):
        policy.learn(feedback)
        pairs = sum(len(pairs_of(each)) for each in LISTS[:number])
        expected = trained(SCORER.start(3), LISTS[:number], [0.0] * pairs, weigh)
        for winner, loser in pairs_of(feedback):
            matrix += (gradient(expected, winner) - gradient(expected, loser)) ** 2
    np.testing.assert_allclose(policy.average, expected, rtol=1e-9, atol=1e-12)
    documents = feedback_on(99).ranking.query.features
    certain = policy.certain_orders(Query("q", documents))
    for i, j in itertools.permutations(range(len(documents)), 2):
        difference = gradient(expected, documents[i]) - gradient(expected, documents[j])
        width = sqrt(float((difference**2 / matrix).sum()))
        chance = expit(score(expected, documents[i]) - score(expected, documents[j]))
        assert certain[i, j] == (chance - alpha * width > 0.5)
    assert 0 < certain.sum() < 21, "some orders are certain, some are not"


def test_p2neurrank_is_algorithm_2_of_the_thesis() -> None:
    """Every ranker from a start of its own, every round with noise of its own on all pairs so far."""
    policy = read_policy(f"p2neurrank@paper({SMALL}, rankers=3, variance=0.3)")
    assert isinstance(policy, P2NeurRank)
    for number, feedback in enumerate(LISTS, 1):
        policy.learn(feedback)
        known = [len(pairs_of(each)) for each in LISTS[:number]]
        rng = np.random.default_rng((int(feedback.ranking.evidence["seed"]), 2))
        noise = sqrt(0.3) * rng.standard_normal((3, sum(known)))
        for ranker, (zeta, found) in enumerate(zip(noise, policy.average, strict=True)):
            expected = trained(SCORER.start(3, ranker), LISTS[:number], zeta.tolist())
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def disagreement(policy: P2NeurRank, documents: FloatArray) -> FloatArray:
    one, other = SCORER.score(policy.average, documents)
    return np.asarray(one - other)


def test_retrained_rankers_disagree_anew_in_every_round() -> None:
    """What two rankers disagree on says little of what they disagree on a round later.

    Rankers that go on from where they are, with new noise or not, disagree on the same from round to round.
    """
    documents = np.random.default_rng(5).normal(size=(200, 3))
    found = {}
    for restart in (False, True):
        policy = P2NeurRank(
            scorer=SCORER,
            pairing="adjacent",
            training=Exact(20, restart=restart),
            networks=0,
            variance=0.5,
            learning_rate=0.01,
            regularisation=1.0,
        )
        rounds = []
        for seed in range(60):
            policy.learn(feedback_on(seed))
            if policy.average.size:
                rounds.append(disagreement(policy, documents))
        pairs = itertools.pairwise(rounds[20:])
        found[restart] = float(np.median([np.corrcoef(one, other)[0, 1] for one, other in pairs]))
    assert found[False] > 0.95
    assert abs(found[True]) < 0.3


def delta_ndcg_at_10(scores: list[float], gains: list[float], i: int, j: int) -> float:
    """|ΔnDCG@10| of swapping two documents of the list sorted by score."""
    order = sorted(range(len(scores)), key=lambda document: -scores[document])

    def dcg(listed: list[int]) -> float:
        return sum(gains[document] / log2(2 + rank) for rank, document in enumerate(listed[:10]))

    swapped = [{i: j, j: i}.get(document, document) for document in order]
    ideal = sum(gain / log2(2 + rank) for rank, gain in enumerate(sorted(gains, reverse=True)[:10]))
    return abs(dcg(order) - dcg(swapped)) / ideal


def test_lambdaranks_weights_are_as_written() -> None:
    """One step of gradient descent: σ(s_j - s_i) |ΔnDCG@10| for every pair, and no list counts for more."""
    settings = {"scorer": SCORER, "learning_rate": RATE, "optimiser": "gradient-descent", "averaging": False}
    policy = OlLambdaRank(**settings, training=Exact(1), draws=0, balanced=False)  # type: ignore[arg-type]
    for feedback in LISTS:
        before = policy.parameters_for(np.zeros((1, 3)))
        policy.learn(feedback)
    slope = -policy.regularisation * (before - SCORER.start(3))
    for feedback in LISTS:
        compared = comparisons(feedback, "all", 0)
        scores = SCORER.score(before, compared.documents).tolist()
        gains = compared.wins.any(axis=1).astype(float).tolist()
        for i, j in np.argwhere(compared.wins).tolist():
            weight = expit(scores[j] - scores[i]) * delta_ndcg_at_10(scores, gains, i, j)
            one, other = (gradient(before, compared.documents[each]) for each in (i, j))
            slope = slope + weight * (one - other)
    np.testing.assert_allclose(policy.average, before + RATE / len(LISTS) * slope, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("radius", [0.2, 1.0, 50.0])
def test_pairranks_weights_are_projected_as_in_equation_4(radius: float) -> None:
    """The point of the ball nearest to the solution in the norm of the paper, by a general optimiser."""
    policy = PairRank(update="exact", regularisation=0.1, pairing="adjacent", longest_weights=radius)
    free = PairRank(update="exact", regularisation=0.1, pairing="adjacent")
    for feedback in LISTS:
        policy.learn(feedback)
        free.learn(feedback)
    pairs = np.array([one - other for each in LISTS for one, other in pairs_of(each)])
    inverse = np.linalg.inv(0.1 * np.eye(3) + pairs.T @ pairs)

    def g(weights: FloatArray) -> FloatArray:
        slope: FloatArray = 0.1 * weights + sum(expit(weights @ pair) * pair for pair in pairs)
        return slope

    def distance(weights: FloatArray) -> float:
        away = g(weights) - pairs.sum(axis=0)  # the solution's g: every label is 1
        return float(away @ inverse @ away)

    inside = {"type": "ineq", "fun": lambda weights: radius - np.linalg.norm(weights)}
    options = {"ftol": 1e-14, "maxiter": 500}
    found = minimize(distance, np.full(3, 0.01), constraints=inside, method="SLSQP", options=options)
    np.testing.assert_allclose(policy.parameters, found.x, atol=2e-4 * radius)
    assert distance(policy.parameters) <= found.fun + 1e-9
    assert (np.linalg.norm(free.parameters) > radius) == (radius < 50)


@pytest.mark.parametrize("kind", [DBGD, MGD, NSGD])
def test_a_random_start_is_a_unit_vector_from_its_seed_alone(kind: type[MGD]) -> None:
    """Lists are drawn around it, and a winner's direction is added to it."""
    query = Query("q", np.random.default_rng(3).normal(size=(8, 5)))
    draws = np.random.default_rng(7).standard_normal(5)
    expected = draws / sqrt(sum(draw**2 for draw in draws.tolist()))
    policy = kind(start_seed=7, step=0.5)
    np.testing.assert_allclose(policy.score(query), query.features @ expected)
    lists = (policy.rank(query, k=8, rng=np.random.default_rng(seed)) for seed in range(50))
    clicked = (Feedback(shown, shown.evidence["owners"][1] > 0) for shown in lists)  # by the first candidate
    won = next(each for each in clicked if policy.find_winners(each, query.features).any())
    directions = won.ranking.evidence["directions"][policy.find_winners(won, query.features)]
    policy.learn(won)
    np.testing.assert_allclose(policy.parameters, expected + 0.5 * directions.mean(axis=0))
    assert policy.widened(6) is None
    with pytest.raises(SettingError, match="a network starts by its own seed"):
        kind(start_seed=1, scorer=MLP(4))


def test_pdgd_and_dbgd_take_steps_that_decay_as_printed() -> None:
    """Each by 0.999977, from 0.1 and from 0.01: the rate times a step of 1 from the same weights."""
    rng = np.random.default_rng(0)
    for name, rate in (("pdgd", 0.1), ("dbgd-linear", 0.01)):
        policy, updates = read_policy(f"{name}@paper"), 0
        assert isinstance(policy, PDGD | DBGD)
        for seed in range(60):
            query = Query("q", rng.normal(size=(6, 3)))
            shown = policy.rank(query, k=6, rng=np.random.default_rng(seed))
            feedback = Feedback(shown, rng.random(6) < 0.4)
            before = policy.parameters if policy.parameters.size else np.zeros(3)
            policy.learn(feedback)
            whole = PDGD(learning_rate=1.0) if name == "pdgd" else DBGD(step=1.0, decay=1.0)
            whole = whole.from_state({**whole.state(), "parameters": before})
            whole.learn(feedback)
            step = whole.parameters - before
            after = policy.parameters if policy.parameters.size else np.zeros(3)
            np.testing.assert_allclose(after - before, rate * 0.999977**updates * step, rtol=1e-7, atol=1e-15)
            updates += bool(step.any())
        assert 10 < updates < 60


def test_without_averaging_the_ranker_is_the_last_step() -> None:
    policy = OlRankNet(scorer=SCORER, averaging=False)
    other = OlRankNet(scorer=SCORER)
    for feedback in LISTS:
        policy.learn(feedback)
        other.learn(feedback)
        assert policy.average is policy.parameters
    np.testing.assert_array_equal(policy.parameters, other.parameters)
    assert not np.array_equal(other.average, other.parameters)


def test_steps_that_lead_out_of_bounds_change_nothing() -> None:
    policy = OlRankNet(scorer=SCORER, optimiser="gradient-descent", learning_rate=10.0, training=Exact(1))
    policy.learn(LISTS[0])
    policy.learning_rate, held = 1e200, policy.state()
    with pytest.raises(RankingError, match="lower the learning rate"):
        policy.learn(LISTS[1])
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, held[name])
