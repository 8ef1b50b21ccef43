"""PDGD against a slow, literal reading of its paper."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankloop.policies import PDGD
from rankloop.policies.gradient.pdgd import swap_probability
from rankloop.types import Feedback, FloatArray, Query, Ranking


def list_probability(scores: FloatArray, order: list[int]) -> float:
    """The Plackett-Luce probability of a list, one position at a time."""
    left, chance = set(range(len(scores))), 1.0
    for doc in order:
        chance *= np.exp(scores[doc]) / sum(np.exp(scores[other]) for other in left)
        left.remove(doc)
    return chance


def slow_swap_probability(scores: FloatArray, order: list[int], a: int, b: int) -> float:
    swapped = list(order)
    swapped[a], swapped[b] = swapped[b], swapped[a]
    shown, other = list_probability(scores, order), list_probability(scores, swapped)
    return other / (shown + other)


def slow_update(
    weights: FloatArray, features: FloatArray, order: list[int], clicks: list[bool]
) -> FloatArray:
    """The sum over preferences, as it stands in the paper."""
    scores = features @ weights
    last = max((rank for rank, clicked in enumerate(clicks) if clicked), default=-2)
    examined = range(min(last + 2, len(order)))
    update = np.zeros_like(weights)
    for i in (rank for rank in examined if clicks[rank]):
        for j in (rank for rank in examined if not clicks[rank]):
            better, worse = order[i], order[j]
            lift, drop = np.exp(scores[better]), np.exp(scores[worse])
            slope = lift * drop / (lift + drop) ** 2
            rho = slow_swap_probability(scores, order, i, j)
            update += rho * slope * (features[better] - features[worse])
    return update


@given(seed=st.integers(0, 2**32), clicks=st.lists(st.booleans(), min_size=5, max_size=5))
def test_the_update_is_the_papers(seed: int, clicks: list[bool]) -> None:
    rng = np.random.default_rng(seed)
    features, weights = rng.normal(size=(8, 3)), rng.normal(size=3)
    policy = PDGD(learning_rate=0.5).from_state(
        {**PDGD().state(), "parameters": weights, "updates": np.array(3)}
    )
    shown = policy.rank(Query("q", features), k=5, rng=rng)
    policy.learn(Feedback(shown, np.array(clicks)))
    expected = weights + 0.5 * slow_update(weights, features, shown.order.tolist(), clicks)
    np.testing.assert_allclose(policy.parameters, expected, rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 2**32), scale=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_closed_form_equals_the_ratio_of_list_probabilities(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    scores, order = scale * rng.normal(size=9), rng.permutation(9)[:6]
    a, b = np.array([0, 4, 2]), np.array([3, 1, 3])
    expected = [slow_swap_probability(scores, order.tolist(), i, j) for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(swap_probability(scores, order, a, b), expected, rtol=1e-7, atol=1e-12)


def test_hopeless_scores_do_not_overflow() -> None:
    scores = np.array([2000.0, 0.0, -2000.0])
    policy = PDGD().from_state({**PDGD().state(), "parameters": np.array([1.0]), "updates": np.array(0)})
    query = Query("q", scores[:, None])
    for order in ([0, 1, 2], [2, 1, 0]):
        ranking = Ranking(query, np.array(order), {"scores": scores})
        policy.learn(Feedback(ranking, np.array([False, True, False])))
    assert np.isfinite(policy.parameters).all()


def test_the_learning_rate_decays_with_each_update() -> None:
    query = Query("q", np.eye(2))
    clicks = np.array([False, True])
    ranking = Ranking(query, np.array([0, 1]), {"scores": np.zeros(2)})
    policy = PDGD(learning_rate=1.0, decay=0.5)
    steps = []
    for _ in range(3):
        before = policy.score(query)[1]
        policy.learn(Feedback(ranking, clicks))
        steps.append(policy.score(query)[1] - before)
    np.testing.assert_allclose(steps, [1 / 8, 1 / 16, 1 / 32])
