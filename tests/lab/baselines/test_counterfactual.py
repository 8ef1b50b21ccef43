"""Counterfactual learners: their updates are the slopes of the losses in the papers, written out as loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import exp, log

import numpy as np
import pytest

from rankloop.checks import small_world
from rankloop.errors import RankingError
from rankloop.lab.baselines.counterfactual import CounterfactualPolicy
from rankloop.lab.baselines.dla import DLA, EXAMINATION_RATE
from rankloop.lab.baselines.ips_ranknet import IPSRankNet
from rankloop.lab.users import PositionBased
from rankloop.learning.adam import adam
from rankloop.policies import ReplayMemory
from rankloop.types import Feedback, FloatArray, Query, Ranking

CLIP, RATE, PLAIN = 3.0, 0.05, ReplayMemory(lists=0)  # each step is on the new list alone
Loss = Callable[[Sequence[float]], float]


# The reference: losses of one list as sums over its clicks, and slopes by differences.


def softmax(logits: Sequence[float], i: int) -> float:
    return exp(logits[i]) / sum(exp(each) for each in logits)


def inverse(logits: Sequence[float]) -> list[float]:
    """P(1) / P(i) for every result of a list, of at most the clip."""
    return [min(softmax(logits, 0) / softmax(logits, i), CLIP) for i in range(len(logits))]


def list_loss(clicks: Sequence[bool], weights: Sequence[float], logits: Sequence[float]) -> float:
    return -sum(weights[i] * log(softmax(logits, i)) for i, clicked in enumerate(clicks) if clicked)


def pairwise_loss(clicks: Sequence[bool], examined: Sequence[float], scores: Sequence[float]) -> float:
    loss = 0.0
    for i, clicked in enumerate(clicks):
        for j in range(len(clicks)):
            if clicked and i != j:
                weight = min(examined[0] / examined[i], CLIP)
                loss += weight * log(1 + exp(scores[j] - scores[i]))
    return loss


def downhill(loss: Loss, at: FloatArray) -> FloatArray:
    """The negative slope, by central differences."""
    tiny = 1e-5
    steps = tiny * np.eye(at.size)
    return np.array(
        [(loss((at - step).tolist()) - loss((at + step).tolist())) / (2 * tiny) for step in steps]
    )


def lessons(n: int) -> Iterator[tuple[Query, Ranking, list[bool]]]:
    """Lists of several lengths, with one click or more."""
    world, rng = small_world(), np.random.default_rng(5)
    for number in range(n):
        query, length = world[number].query, int(rng.integers(2, 7))
        order = rng.permutation(query.n_docs)[:length]
        clicks = rng.random(length) < 0.4
        clicks[rng.integers(length)] = True
        yield query, Ranking(query, order, {"seed": np.array(number)}), clicks.tolist()


def test_a_step_of_dla_goes_down_both_losses_with_the_weights_from_before_it() -> None:
    policy = DLA(training=PLAIN, learning_rate=RATE, clip=CLIP)
    weights, positions = np.zeros(6), np.zeros(0)
    moments: FloatArray = np.zeros((2, 6))
    position_moments: FloatArray = np.zeros((2, 0))
    for step, (query, ranking, clicks) in enumerate(lessons(12)):
        longest = max(positions.size, len(clicks))
        positions = np.pad(positions, (0, longest - positions.size))
        position_moments = np.pad(position_moments, ((0, 0), (0, longest - position_moments.shape[1])))
        rows = query.features[ranking.order]
        scores, logits = (rows @ weights).tolist(), positions[: len(clicks)].tolist()
        by_examination, by_relevance = inverse(logits), inverse(scores)
        ranker = downhill(partial(list_loss, clicks, by_examination), rows @ weights) @ rows
        examination = np.zeros(longest)
        examination[: len(clicks)] = downhill(partial(list_loss, clicks, by_relevance), np.array(logits))
        direction, moments = adam(moments, ranker, step)
        weights = weights + RATE * direction
        direction, position_moments = adam(position_moments, examination, step)
        positions = positions + EXAMINATION_RATE * direction
        policy.learn(Feedback(ranking, np.array(clicks)))
        np.testing.assert_allclose(policy.parameters, weights, atol=1e-6)
        np.testing.assert_allclose(policy.positions, positions, atol=1e-6)


def test_a_step_of_ips_ranknet_goes_down_the_weighted_pairwise_loss() -> None:
    examination = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1)
    policy = IPSRankNet(training=PLAIN, learning_rate=RATE, examination=examination, clip=CLIP)
    weights = np.zeros(6)
    moments: FloatArray = np.zeros((2, 6))
    for step, (query, ranking, clicks) in enumerate(lessons(12)):
        rows = query.features[ranking.order]
        slope = downhill(partial(pairwise_loss, clicks, examination), rows @ weights) @ rows
        direction, moments = adam(moments, slope, step)
        weights = weights + RATE * direction
        policy.learn(Feedback(ranking, np.array(clicks)))
        np.testing.assert_allclose(policy.parameters, weights, atol=1e-6)


def test_dla_finds_out_how_positions_are_examined() -> None:
    """Shown in random order, clicks alone tell: the third position is looked at a third as often."""
    world, user = small_world(), PositionBased(click=(0.2, 0.5, 0.8), eta=1.0)
    policy, rng = DLA(learning_rate=0.002, training=ReplayMemory(steps=5)), np.random.default_rng(1)
    for number in range(2000):
        judged = world[number % len(world)]
        shown = policy.rank(judged.query, k=5, rng=rng)
        policy.learn(user.respond(shown, judged.relevance, rng))
    np.testing.assert_allclose(policy.examination(5), 1 / np.arange(1, 6), atol=0.08)


@pytest.mark.parametrize("kind", [DLA, IPSRankNet])
def test_the_log_is_that_of_the_production_ranker_unless_it_is_their_own(
    kind: type[CounterfactualPolicy],
) -> None:
    query = Query("q", np.eye(4), caller_scores=np.array([0.1, 0.4, 0.3, 0.2]))
    taught = kind(learning_rate=0.01)
    for seed in range(200):
        shown = taught.rank(query, k=4, rng=np.random.default_rng(seed))
        assert shown.order.tolist() == [1, 2, 3, 0]
        taught.learn(Feedback(shown, shown.order == 0))  # clicked at the bottom of every list
    own = kind(logging="greedy").from_state(taught.state())
    drawn = kind(logging="plackett-luce").from_state(taught.state())
    assert own.rank(query, k=1, rng=np.random.default_rng(0)).order.tolist() == [0]
    assert {int(drawn.rank(query, k=1, rng=np.random.default_rng(seed)).order[0]) for seed in range(60)} != {
        0
    }


def test_a_list_longer_than_the_known_examination_is_refused_and_changes_nothing() -> None:
    policy, query = IPSRankNet(examination=(1.0, 0.5)), Query("q", np.eye(3))
    shown = policy.rank(query, k=3, rng=np.random.default_rng(0))
    with pytest.raises(RankingError, match="numbers for 2 positions, and the list has 3"):
        policy.learn(Feedback(shown, np.array([True, False, False])))
    assert int(policy.lists) == 0
    assert not policy.parameters.size
