"""Certain orders near the top, against all certain orders, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from rankloop.exploration import random_topological
from rankloop.learning.certainty import Belief, Posterior
from rankloop.learning.top_orders import MOST, top_orders
from rankloop.policies import FairExpPairRank, PairRank, Width
from rankloop.policies.explores_uncertain import ExploresUncertain
from rankloop.policies.pairwise import pairrank
from rankloop.types import BoolArray, Feedback, FloatArray, Query

WORLDS = ("certain", "wide", "whole", "crooked")


def world(kind: str, n: int, dtype: str, seed: int) -> tuple[FloatArray, FloatArray, Belief]:
    """Scores, features, and what is believed; a few may be far off, or all so that leads are as needed."""
    rng, d = np.random.default_rng(seed), 3
    features, weights = rng.normal(size=(n, d)), rng.normal(size=d)
    root = rng.normal(size=(d, d))
    covariance = 1e-2 * (root @ root.T + np.eye(d))
    if kind == "wide":
        features[rng.random(n) < 0.1, 0] += rng.normal(scale=20)
    if kind == "whole":  # one number is the score, another one the width
        features, weights = rng.integers(0, 4, size=(n, d)).astype(np.float64), np.eye(d)[0]
        features[:, 0], covariance = rng.permutation(n), np.diag(np.eye(d)[1])
    if kind == "crooked":  # no covariance at all: these orders are not transitive
        covariance = rng.normal(size=(d, d))
    features = features.astype(dtype)
    belief = Belief(covariance, covariance, 0.0, 1.0, np.ones(d))
    return features @ weights.astype(dtype), features, belief


@settings(max_examples=200)
@given(
    kind=st.sampled_from(WORLDS),
    n=st.integers(1, 150),
    k=st.integers(1, 6),
    level=st.sampled_from([0.5, 0.6, float(ndtr(1.0)), 0.99]),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 2**32),
)
def test_a_list_is_the_one_drawn_from_all_pairs(
    kind: str, n: int, k: int, level: float, dtype: str, seed: int
) -> None:
    scores, features, belief = world(kind, n, dtype, seed)
    everything = Posterior(level).certain(scores, features, belief)
    top = Posterior(level).top(scores, features, belief, k)
    np.testing.assert_array_equal(top.certain, everything[np.ix_(top.rows, top.rows)])
    for coins in range(3):
        slow = random_topological(everything, k, np.random.default_rng(coins))
        fast = top.rows[random_topological(top.certain, k, np.random.default_rng(coins))]
        assert fast.tolist() == slow.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_a_thousand_documents_a_few_can_reach_the_top(dtype: str) -> None:
    scores, features, belief = world("certain", 1000, dtype, 0)
    top = Posterior(0.9).top(scores, features, belief, 10)
    assert 10 <= len(top.rows) < 100
    everyone = Posterior(0.9).top(
        scores, features, Belief(10_000 * belief.curvature, np.eye(3), 0, 1, np.ones(3)), 10
    )
    assert len(everyone.rows) > MOST * 1000  # nothing is certain yet


def test_a_pair_exactly_as_far_apart_as_needed_is_left_to_the_comparison_of_all() -> None:
    """Nobody can know whether rounding made it so; here it is the first against the second."""
    scores, apart = np.arange(60.0)[::-1].copy(), np.zeros((60, 1))
    for width, found in ((0.5, True), (1.0, False), (1.5, True)):
        apart[0] = width
        top = top_orders(scores, apart, apart, 1.0, 3)
        assert (top is not None) == found
        if top is not None:
            assert top.certain[0, 1] == (width < 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pairrank_ranks_long_lists_as_it_does_short_ones(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, policy, tops = np.random.default_rng(0), PairRank(), 0
    truth = rng.normal(size=8)
    for seed in range(150):
        query = Query("q", rng.normal(size=(80, 8)).astype(dtype))
        monkeypatch.setattr(pairrank, "LONG", 2)
        found = policy.top_orders(query, 5)
        tops += found is not None and len(found.rows) < 80
        fast = policy.rank(query, k=5, rng=np.random.default_rng(seed))
        monkeypatch.setattr(pairrank, "LONG", 1000)
        slow = policy.rank(query, k=5, rng=np.random.default_rng(seed))
        assert fast.order.tolist() == slow.order.tolist()
        assert fast.evidence["seed"] == slow.evidence["seed"]
        policy.learn(Feedback(fast, query.features[fast.order] @ truth > 0))
    assert tops > 50


class Backwards(PairRank):
    """Is sure of the opposite."""

    def certain_orders(self, query: Query) -> BoolArray:
        """Everything the other way round."""
        return super().certain_orders(query).T


@pytest.mark.parametrize(
    "policy",
    [Backwards(), FairExpPairRank(), PairRank(certainty=Width(0.1)), PairRank(exploration="random")],
    ids=repr,
)
def test_whoever_has_a_way_of_their_own_compares_all_pairs(
    policy: ExploresUncertain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairrank, "LONG", 2)
    query = Query("q", np.random.default_rng(0).normal(size=(60, 2)), groups=["a", "b"] * 30)
    for seed in range(20):
        shown = PairRank().rank(query, k=5, rng=np.random.default_rng(seed))
        policy.learn(Feedback(shown, query.features[shown.order, 0] > 0))
    certain = policy.certain_orders(query)
    assert certain.any()
    for seed in range(5):
        expected = policy.draw(query, certain, k=5, rng=np.random.default_rng(seed))
        assert (
            policy.rank(query, k=5, rng=np.random.default_rng(seed)).order.tolist() == expected.order.tolist()
        )
