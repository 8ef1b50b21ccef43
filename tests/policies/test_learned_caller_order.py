"""How much the caller's order counts is learned: a reversed order is overturned, a good one is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    EpsilonGreedy,
    OlLambdaRank,
    OlRankNet,
    P2NeurRank,
    Policy,
    RankNet,
    ReplayMemory,
)
from rankloop.scorers import MLP
from rankloop.types import Feedback, Query

SMALL: dict[str, Any] = {"scorer": MLP(4), "training": ReplayMemory(lists=2, memory=6)}
SCORED: list[Policy] = [
    RankNet(caller_order="decent"),
    EpsilonGreedy(caller_order="decent"),
    PDGD(caller_order="decent"),
    DBGD(caller_order="decent"),
    MGD(caller_order="decent"),
    NSGD(caller_order="decent"),
    OlRankNet(caller_order="decent", **SMALL),
    OlLambdaRank(caller_order="decent", **SMALL),
    P2NeurRank(caller_order="decent", networks=2, **SMALL),
]
LISTS = 60


def agreement(policy: Policy, *, base: int, seed: int = 0, lists: int = LISTS) -> list[float]:
    """How the scores before each list correlate with what users like, who look from the top and click it."""
    rng, twin, found = np.random.default_rng(seed), policy.from_state(policy.state()), []
    for number in range(lists):
        liked = rng.permutation(10)
        features = np.stack([liked / 9.0, rng.random(10)], axis=1)
        query = Query(f"q{number}", features, caller_scores=base * liked.astype(float))
        found.append(float(np.corrcoef(twin.score(query), liked)[0, 1]))
        shown = twin.rank(query, k=10, rng=rng)
        grade = liked[shown.order] / 9.0
        clicks = rng.random(10) < np.where(grade > 0.6, 0.8 * grade, 0.05) / (1 + 0.3 * np.arange(10))
        if clicks.any():
            twin.learn(Feedback(shown, clicks))
    return found


@pytest.mark.parametrize("policy", SCORED, ids=lambda each: type(each).__name__)
def test_a_reversed_order_is_overturned_and_a_good_one_is_kept(policy: Policy) -> None:
    against = agreement(policy, base=-1)
    assert against[0] < -0.9
    assert min(against[LISTS // 2 :]) > 0  # for good, within thirty lists
    assert min(agreement(policy, base=1)) > 0


def test_without_learning_it_a_ranker_that_does_not_explore_believes_it_for_long() -> None:
    assert max(agreement(RankNet(caller_order="decent", learn_caller_order=False), base=-1)) < 0
