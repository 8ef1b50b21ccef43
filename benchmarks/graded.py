"""Microseconds to rank and to learn for policies taught by grades, all results shown and graded."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from time import perf_counter

import numpy as np

from rankloop.lab.users import LabelJudge
from rankloop.policies import (
    ListNet,
    Minimax,
    Policy,
    RTopK,
    Slam,
)
from rankloop.query_set import QuerySet

DOCUMENTS, FEATURES = 110, 131

# name -> (policy, microseconds that ranking and learning may take together)
GRADED: Mapping[str, tuple[Policy, float]] = {
    "slam": (Slam(), 200),
    "slam, averaged": (Slam(averaged=True), 200),
    "minimax": (Minimax(), 200),
    "listnet": (ListNet(), 150),
    "rtopk": (RTopK(), 200),
    "rtopk, top 2": (RTopK(top_k=2), 200),
    "rtopk, squared": (RTopK(loss="squared"), 200),
    "rtopk, observed squared": (RTopK(loss="observed-squared"), 200),
    "rtopk, unnormalised KL": (RTopK(loss="unnormalised-kl", top_grade=4), 200),
    "rtopk, SmoothDCG": (RTopK(loss="smooth-dcg"), 200),
    "rtopk, published steps": (RTopK(steps="published", learning_rate=0.01, scale=1000.0), 200),
}


def graded_world(*, queries: int = 100, seed: int = 1) -> QuerySet:
    """Queries of 110 documents and 131 features, five grades, which no ranker separates."""
    rng = np.random.default_rng(seed)
    features = rng.random((queries * DOCUMENTS, FEATURES), dtype=np.float32)
    quality = features @ rng.normal(size=FEATURES) + rng.normal(size=len(features))
    grades = np.digitize(quality, np.quantile(quality, [0.52, 0.84, 0.97, 0.99]))
    ids = tuple(str(number) for number in range(queries))
    return QuerySet(features, np.arange(queries + 1) * DOCUMENTS, grades, ids)


def result(name: str, *, blocks: int = 7, rounds: int = 300) -> dict[str, object]:
    """Medians over blocks of rounds; the policy goes on learning."""
    pattern, target = GRADED[name]
    policy, world = pattern.from_state(pattern.state()), graded_world()
    times = [_pace(policy, world, rounds=rounds, seed=block) for block in range(blocks)]
    rank, learn = (median(column) for column in zip(*times, strict=True))
    return {
        "bench": "graded",
        "name": name,
        "rank_us": rank,
        "learn_us": learn,
        "total_us": rank + learn,
        "target_us": target,
    }


def _pace(policy: Policy, world: QuerySet, *, rounds: int, seed: int) -> tuple[float, float]:
    rng, judge = np.random.default_rng(seed), LabelJudge()
    rank = learn = 0.0
    for index in rng.integers(len(world), size=rounds).tolist():
        judged = world[index]
        start = perf_counter()
        ranking = policy.rank(judged.query, k=DOCUMENTS, rng=rng)
        shown = perf_counter()
        feedback = judge.respond(ranking, judged.relevance, rng)
        graded = perf_counter()
        policy.learn(feedback)
        rank, learn = rank + shown - start, learn + perf_counter() - graded
    return 1e6 * rank / rounds, 1e6 * learn / rounds
