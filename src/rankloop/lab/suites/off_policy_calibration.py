"""How often intervals from a log hold what another policy would have got, simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from rankloop.evaluation import (
    LoggedList,
    NoSupport,
    draw_probabilities,
    estimate_rewards,
    greedy_probabilities,
    weigh_lists,
)
from rankloop.lab.data import load
from rankloop.lab.users import Cascade, PresetUser
from rankloop.policies import PDGD, PairRank, Policy, Random
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.types import BoolArray, Feedback

K = 5
REPEATS, FEW_REPEATS = 200, 10
LOGGED, TAUGHT, YOUNG = 1500, 200, 20
CANDIDATES = 6  # of each query: with many, no log has support for long


def measure_coverage(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Measure how often the intervals hold what the simulator knows, and which logs are refused."""
    dataset, repeats = load(data), FEW_REPEATS if quick else REPEATS
    user = PresetUser("informational").for_grades(dataset.train.grades)
    asked = _taught(PDGD(learning_rate=0.3), dataset.train, user, 2 * TAUGHT, 1)
    logs: dict[str, Policy] = {
        "random": Random(),
        "pdgd": _taught(PDGD(learning_rate=0.1), dataset.train, user, TAUGHT, 2),
        f"pairrank, {YOUNG} lists old": _taught(PairRank(), dataset.train, user, YOUNG, 3),
        f"pairrank, {TAUGHT} lists old": _taught(PairRank(), dataset.train, user, TAUGHT, 3),
    }
    rows = [
        row
        for name, log in logs.items()
        for depth in (1, 2, 3)
        for row in _covered(name, log, asked, dataset.test, user, depth, repeats)
    ]
    return {"coverage": pl.DataFrame(rows)}


def _covered(
    name: str, log: Policy, asked: Policy, queries: QuerySet, user: Cascade, depth: int, repeats: int
) -> Iterator[dict[str, object]]:
    """A row for each estimator; one that says so, if the log is refused."""
    truth, head = _worth(asked, queries, user, depth), {"log": name, "results": depth}
    found = []
    for repeat in range(repeats):
        rng = np.random.default_rng([29, depth, repeat])
        try:
            lists = weigh_lists(_log(log, asked, queries, user, depth, rng))
        except NoSupport as error:
            why = "too few effective lists" if "as much" in str(error) else "no support"
            yield head | {"estimator": f"refused: {why}", "truth": truth}
            return
        found.append((estimate_rewards(lists)[:4], lists.effective))
    for index, first in enumerate(found[0][0]):
        each = [estimates[index] for estimates, _ in found]
        yield head | {
            "estimator": first.name,
            "truth": truth,
            "mean estimate": float(np.mean([one.value for one in each])),
            "coverage": float(np.mean([one.lower <= truth <= one.upper for one in each])),
            "half width": float(np.mean([(one.upper - one.lower) / 2 for one in each])),
            "effective lists": float(np.mean([effective for _, effective in found])),
        }


def _log(
    log: Policy, asked: Policy, queries: QuerySet, user: Cascade, depth: int, rng: np.random.Generator
) -> Iterator[LoggedList]:
    for number in rng.integers(len(queries), size=LOGGED).tolist():
        judged = _short(queries[number])
        shown = log.rank(judged.query, k=depth, rng=rng)
        clicks: BoolArray = user.respond(shown, judged.relevance, rng).clicks
        query = judged.query
        yield LoggedList(
            shown.order,
            clicks.astype(np.float64),
            draw_probabilities(log, query),
            greedy_probabilities(asked, query),
            asked.score(query),
        )


def _worth(policy: Policy, queries: QuerySet, user: Cascade, depth: int) -> float:
    """Expected clicks on the first results of the policy's own lists, exactly."""
    total = 0.0
    for judged in map(_short, queries):
        order = np.argsort(-policy.score(judged.query), kind="stable")[:depth]
        reached = 1.0
        for grade in judged.relevance[order].tolist():
            total += reached * user.click[grade]
            reached *= 1 - user.click[grade] * user.stop[grade]
    return total / len(queries)


def _short(judged: JudgedQuery) -> JudgedQuery:
    """A query with its first candidates only."""
    rows = np.arange(min(CANDIDATES, judged.query.n_docs))
    return JudgedQuery(judged.query.take(rows), judged.relevance[rows])


def _taught(policy: Policy, queries: QuerySet, user: Cascade, rounds: int, seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        judged = _short(queries[int(rng.integers(len(queries)))])
        shown = policy.rank(judged.query, k=K, rng=rng)
        policy.learn(Feedback(shown, user.respond(shown, judged.relevance, rng).clicks))
    return policy
