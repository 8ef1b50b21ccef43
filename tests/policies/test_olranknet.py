"""olRankNet: orders are certain by the width of gradients; olLambdaRank: pairs count by what they change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from rankloop.learning.delta_ndcg import delta_ndcg
from rankloop.policies import OlLambdaRank, OlRankNet
from rankloop.scorers import MLP, Linear
from rankloop.types import Feedback, FloatArray, Query, Ranking

SMALL = MLP((12, 8), scale=1.0)
SEEDS = np.zeros(1, np.int64)  # of lists


def feedback_on(seed: int, n: int = 6) -> Feedback:
    rng = np.random.default_rng(seed)
    ranking = Ranking(Query("q", rng.random((n, 3))), rng.permutation(n), {"seed": np.array(seed)})
    return Feedback(ranking, np.arange(n) % 3 == 1)


def test_certain_orders_are_those_of_the_definition() -> None:
    """σ(s_i - s_j) - α |g_ij| > 1/2 in the norm of A⁻¹, A = λI + Σ g gᵀ with each gradient as it was then."""
    policy = OlRankNet(scorer=SMALL, covariance="full", alpha=0.05, regularisation=2.0, learning_rate=0.05)
    a: FloatArray = 2.0 * np.eye(SMALL.start(3).size)
    for seed in range(15):
        feedback = feedback_on(seed)
        policy.learn(feedback)
        shown = feedback.ranking.query.features[feedback.ranking.order]
        g = SMALL.gradients(policy.average, shown).dense()
        for i, j in itertools.product((1, 4), (0, 2, 3, 5)):  # every clicked over every skipped
            a = a + np.outer(g[i] - g[j], g[i] - g[j])
    features = np.random.default_rng(99).random((8, 3))
    g, s = SMALL.gradients(policy.average, features).dense(), SMALL.score(policy.average, features)
    found, inverse = policy.certain_orders(Query("q", features)), np.linalg.inv(a)
    assert 0 < found.sum() < 28
    for i, j in itertools.product(range(8), repeat=2):
        width = 0.05 * np.sqrt((g[i] - g[j]) @ inverse @ (g[i] - g[j]))
        assert found[i, j] == (expit(s[i] - s[j]) - width > 0.5)


def test_the_greater_alpha_the_less_is_certain() -> None:
    shares = []
    for alpha in (0.0, 0.1, 10.0):
        policy = OlRankNet(scorer=SMALL, alpha=alpha, learning_rate=0.05)
        for seed in range(15):
            policy.learn(feedback_on(seed))
        shares.append(policy.certain_orders(Query("q", np.random.default_rng(99).random((8, 3)))).sum())
    assert shares[0] == 28
    assert shares[0] > shares[1] > shares[2]


# olLambdaRank


def ndcg(gains: FloatArray, order: list[int], k: int) -> float:
    """As it is defined."""
    ideal = sum(gain / np.log2(2 + rank) for rank, gain in enumerate(sorted(gains, reverse=True)[:k]))
    return float(sum(gains[row] / np.log2(2 + rank) for rank, row in enumerate(order[:k])) / ideal)


@given(seed=st.integers(0, 999), k=st.integers(1, 8))
def test_a_swap_changes_ndcg_by_so_much(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    scores, gains = rng.permutation(6).astype(float), rng.integers(0, 4, 6).astype(float)
    gains[0] = 1
    changes = delta_ndcg(scores, gains, k=k)
    order = (-scores).argsort().tolist()
    for i, j in itertools.product(range(6), repeat=2):
        swapped = [{i: j, j: i}.get(row, row) for row in order]
        assert changes[i, j] == pytest.approx(abs(ndcg(gains, order, k) - ndcg(gains, swapped, k)), abs=1e-12)


def test_lists_in_a_batch_are_apart() -> None:
    rng = np.random.default_rng(0)
    scores, gains = rng.random((2, 3, 5)), rng.integers(0, 2, (3, 5)).astype(float)
    together = delta_ndcg(scores, gains)
    for ranker, number in itertools.product(range(2), range(3)):
        np.testing.assert_allclose(
            together[ranker, number], delta_ndcg(scores[ranker, number], gains[number])
        )


def test_a_list_without_gains_is_changed_by_nothing() -> None:
    assert not delta_ndcg(np.arange(4.0), np.zeros(4)).any()


def test_the_pairs_at_the_top_count_most() -> None:
    """Of equally surprising wins, those between higher ranks pull more."""
    policy = OlLambdaRank(scorer=Linear(), draws=0)
    scores, wins = np.array([[4.0, 3.0, 2.0, 1.0]]), np.zeros((1, 4, 4), dtype=bool)
    wins[0, 1, 0] = wins[0, 3, 2] = True  # each just below whom it won against
    weights = policy._weigh(scores, wins, SEEDS)
    assert weights[0, 1, 0] > weights[0, 3, 2] > 0
    assert np.count_nonzero(weights) == 2


def test_documents_that_taught_nothing_are_not_in_the_list() -> None:
    """An empty place in a memory of longer lists has no rank: it would move the pairs below it."""
    policy = OlLambdaRank(scorer=Linear(), draws=0)
    wins = np.zeros((1, 4, 4), dtype=bool)
    wins[0, 1, 0] = wins[0, 1, 2] = True
    with_gap = policy._weigh(np.array([[-1.0, -2.0, -3.0, 0.0]]), wins, SEEDS)
    without = policy._weigh(np.array([[-1.0, -2.0, -3.0]]), wins[:, :3, :3], SEEDS)
    np.testing.assert_allclose(with_gap[:, :3, :3], without)


def test_all_pairs_of_a_list_count_together_as_much_as_in_olranknet() -> None:
    """And among themselves as nDCG@10 would change: two clicked and three skipped results, one list each."""
    rng = np.random.default_rng(3)
    scores, wins = rng.random((4, 5)), np.zeros((4, 5, 5), dtype=bool)
    wins[:3, :2, 2:] = True  # the last place of the memory is empty
    weights = OlLambdaRank(scorer=Linear(), draws=0)._weigh(scores, wins, SEEDS)
    for each, score in zip(weights[:3], scores[:3], strict=True):
        changes = delta_ndcg(score, np.array([1.0, 1.0, 0.0, 0.0, 0.0]))
        share = changes[:2, 2:].sum() / 2  # two pairs can be matched without using anyone twice
        for i, j in itertools.product((0, 1), (2, 3, 4)):
            assert each[i, j] == pytest.approx(expit(score[j] - score[i]) * changes[i, j] / share)
    assert not weights[3].any()


def test_the_list_is_drawn_from_the_scores() -> None:
    """Weights are as the expected change of nDCG, over all orders with Plackett and Luce's probabilities."""
    scores, gains = np.array([1.5, 0.0, -0.5, 0.7]), np.array([0.0, 1.0, 0.0, 1.0])
    wins = np.zeros((1, 4, 4), dtype=bool)
    wins[0, 1::2, ::2] = True
    expected = np.zeros((4, 4))
    for order in itertools.permutations(range(4)):
        left = [np.exp(scores[list(order[rank:])]).sum() for rank in range(4)]
        chance = np.prod(np.exp(scores[list(order)]) / left)
        expected += chance * delta_ndcg(-np.argsort(order).astype(float), gains)
    weights = OlLambdaRank(scorer=Linear(), draws=20000)._weigh(scores[None], wins, SEEDS)[0]
    pairs = [(1, 0), (1, 2), (3, 0), (3, 2)]
    share = sum(expected[pair] for pair in pairs) / 2
    for i, j in pairs:
        surprise = expit(scores[j] - scores[i])
        assert weights[i, j] == pytest.approx(surprise * expected[i, j] / share, rel=0.02)


def test_who_knows_nothing_learns_from_all_pairs_alike() -> None:
    wins = np.zeros((1, 6, 6), dtype=bool)
    wins[0, :2, 2:] = True
    weights = OlLambdaRank(scorer=Linear(), draws=20000)._weigh(np.zeros((1, 6)), wins, SEEDS)[0]
    np.testing.assert_allclose(weights[:2, 2:], 0.5 / 4, rtol=0.05)


def test_a_list_meets_the_same_luck_again() -> None:
    """Whoever is learned from beside it, and however long the memory's lists are."""
    policy, rng = OlLambdaRank(scorer=Linear()), np.random.default_rng(1)
    scores, wins = rng.random((2, 5)), np.zeros((2, 5, 5), dtype=bool)
    wins[:, 0, 1:3] = True
    alone = policy._weigh(scores[1:, :3], wins[1:, :3, :3], np.array([8]))
    beside = policy._weigh(scores, wins, np.array([7, 8]))
    np.testing.assert_array_equal(beside[1, :3, :3], alone[0])
    assert not np.allclose(beside[1, :3, :3], policy._weigh(scores[1:, :3], wins[1:, :3, :3], np.array([9])))
