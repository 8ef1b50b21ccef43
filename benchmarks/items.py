"""Microseconds to rank and to learn from a list of fixed items."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from time import perf_counter

import numpy as np

from rankloop.lab.users import LabelJudge
from rankloop.policies import GradedItemPolicy, RTopKItems, ThompsonItems, UCBItems
from rankloop.types import Query

ITEMS, SHOWN = 200, 10
POLICIES: Mapping[str, GradedItemPolicy] = {
    "rtopk-items, live": RTopKItems(top_k=5),
    "rtopk-items, planned": RTopKItems(top_k=5, explore_once=True, horizon=100_000),
    "thompson-items": ThompsonItems(),
    "ucb-items": UCBItems(),
}


def pace(name: str, *, blocks: int = 25, rounds: int = 200) -> dict[str, object]:
    """Medians over blocks of rounds; every query is a new object, as it is for a service."""
    policy = POLICIES[name].from_state(POLICIES[name].state())
    rng, user = np.random.default_rng(0), LabelJudge(top_k=5)
    relevance = (rng.random(ITEMS) < 0.2).astype(np.int64)
    features, ids = np.empty((ITEMS, 0)), [f"item {number}" for number in range(ITEMS)]
    times = []
    for _ in range(blocks):
        rank = learn = 0.0
        for _ in range(rounds):
            query = Query("any", features, tuple(ids))
            start = perf_counter()
            shown = policy.rank(query, k=SHOWN, rng=rng)
            ranked = perf_counter()
            feedback = user.respond(shown, relevance, rng)
            graded = perf_counter()
            policy.learn(feedback)
            rank, learn = rank + ranked - start, learn + perf_counter() - graded
        times.append((1e6 * rank / rounds, 1e6 * learn / rounds))
    ranking, learning = (median(column) for column in zip(*times, strict=True))
    both = median(sum(pair) for pair in times)
    return {"bench": "items", "name": name, "rank_us": ranking, "learn_us": learning, "both_us": both}
