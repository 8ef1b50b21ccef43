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


def test_what_is_no_choice_is_refused() -> None:
    with pytest.raises(Exception, match="learn_caller_order must be true or false"):
        PDGD(learn_caller_order=1)  # type: ignore[arg-type]
