"""What neural rankers cost: how they know what is uncertain, and how much of the past they learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.rounds import bench_world, pace, peak_kilobytes
from rankloop.lab.data import load
from rankloop.lab.users import PresetUser
from rankloop.policies import (
    Exact,
    NeuralPairwise,
    OlRankNet,
    P2NeurRank,
    ReplayMemory,
)
from rankloop.policies.policy_names import write_policy
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.scorers import MLP
from rankloop.types import Array, Feedback

SMALL = MLP((16, 16))
DIAGONAL = "olranknet, diagonal"
ALPHAS = (0.01, 0.03, 0.1)
MUCH = ReplayMemory(63, repeats=1000, steps=10)  # fits what it has seen as closely as exact training does

# size of the network -> name -> policy; the diagonal is the yardstick
WIDTHS: Mapping[str, Mapping[str, NeuralPairwise]] = {
    "100 x 100": {
        DIAGONAL: OlRankNet(covariance="diagonal"),
        "olranknet, projected": OlRankNet(covariance="projected"),
        "p2neurrank, 1 ranker": P2NeurRank(rankers=1),
        "p2neurrank, 2 rankers": P2NeurRank(),
    },
    "16 x 16": {
        DIAGONAL: OlRankNet(scorer=SMALL, covariance="diagonal"),
        "olranknet, full": OlRankNet(scorer=SMALL, covariance="full"),
        "olranknet, projected": OlRankNet(scorer=SMALL, covariance="projected"),
        "p2neurrank, 1 ranker": P2NeurRank(scorer=SMALL, rankers=1),
        "p2neurrank, 2 rankers": P2NeurRank(scorer=SMALL),
    },
}


def widths(size: str, *, blocks: int = 7, rounds: int = 20) -> list[dict[str, object]]:
    """Milliseconds and memory of a round, all policies in turns; medians. Figure 2.14 of the thesis."""
    world, user = bench_world(), PresetUser("perfect").for_grades(5)
    policies = {name: policy.from_state(policy.state()) for name, policy in WIDTHS[size].items()}
    times: dict[str, list[float]] = {name: [] for name in policies}
    for block in range(blocks):
        for name, policy in policies.items():
            rng = np.random.default_rng(block)  # all meet the same queries and the same luck
            times[name].append(pace(policy, user, world, rounds=rounds, rng=rng).total)
    yardstick = times[DIAGONAL][1:]  # the first block is warm-up
    return [
        {
            "bench": "neural",
            "network": size,
            "name": name,
            "ms": median(taken[1:]) / 1000,
            "ratio": median(own / other for own, other in zip(taken[1:], yardstick, strict=True)),
            "peak_kb": peak_kilobytes(policies[name], user, world),
            "state_kb": sum(array.nbytes for array in policies[name].state().values()) / 1000,
        }
        for name, taken in times.items()
    ]


def training(
    *,
    moments: tuple[int, ...] = (500, 1000, 2000, 5000),
    rounds: int = 100,
    much_rounds: int = 20,
    exact_rounds: int = 2,
) -> list[dict[str, object]]:
    """A round of replay, of much replay, and of exact training after so many lists, on the same history.

    The last two are the paper's otherwise: as many networks as are asked, and new noise in every round. For
    exact training to live through thousands of rounds would take hours; they are handed the history that
    replay has met, and timed on a few rounds from there, in each of which the second result is clicked.
    """
    world, rng, user = bench_world(), np.random.default_rng(0), PresetUser("perfect").for_grades(5)
    replay = P2NeurRank()
    rows: list[dict[str, object]] = []
    for moment in moments:
        while int(replay.lists) < moment - rounds:
            pace(replay, user, world, rounds=1, rng=rng)
        own = pace(replay, user, world, rounds=rounds, rng=rng).total / 1000
        much, exact = (
            _second_clicked(
                P2NeurRank(training=schedule, networks=0).from_state(_of_rankers(replay)), world, n
            )
            for schedule, n in ((MUCH, much_rounds), (Exact(), exact_rounds))
        )
        rows.append(
            {"bench": "training", "lists": moment, "replay_ms": own, "much_ms": much, "exact_ms": exact}
            | {"ratio": exact / own, "much_ratio": exact / much}
        )
    return rows


def _second_clicked(policy: P2NeurRank, world: QuerySet, rounds: int) -> float:
    """Milliseconds of a round in which the second result is clicked; the median."""
    rng, times = np.random.default_rng(0), []
    for index in range(rounds):
        query, start = world[index].query, perf_counter()
        policy.learn(Feedback(policy.rank(query, k=10, rng=rng), np.arange(10) == 1))
        times.append(perf_counter() - start)
    return 1000 * median(times)


def _of_rankers(policy: P2NeurRank) -> dict[str, Array]:
    """A copy of its state with as many networks as are asked."""
    n, state = policy.rankers, {name: array.copy() for name, array in policy.state().items()}
    stacks = {name: state[name][:n] for name in ("parameters", "average")}
    return state | stacks | {"moments": state["moments"][:, :n]}


def agreement(*, moments: tuple[int, ...] = (100, 300, 1000), queries: int = 50) -> list[dict[str, object]]:
    """How often cheaper covariances call the same orders certain as the full one does, in one life.

    Training does not ask the covariance, so policies that learn from the same lists have the same network
    and differ in what they think is uncertain alone. All pairs of documents of some test queries are asked.
    """
    world, rng = load("nonlinear"), np.random.default_rng(0)
    user, asked = PresetUser("perfect").for_grades(world.train.grades), list(world.test)[:queries]
    exact, *others = (
        OlRankNet(scorer=SMALL, covariance="full"),
        OlRankNet(scorer=SMALL, covariance="diagonal"),
        OlRankNet(scorer=SMALL),
        OlRankNet(scorer=SMALL, dimensions=1024),
    )
    rows: list[dict[str, object]] = []
    for number in range(1, max(moments) + 1):
        judged = world.train[int(rng.integers(len(world.train)))]
        feedback = user.respond(exact.rank(judged.query, k=10, rng=rng), judged.relevance, rng)
        for policy in (exact, *others):
            policy.learn(feedback)
        if number in moments:
            rows += [
                {
                    "bench": "agreement",
                    "name": write_policy(policy),
                    "rounds": number,
                    "alike": [_alike(exact, policy, asked, alpha) for alpha in ALPHAS],
                }
                for policy in others
            ]
    return rows


def _alike(one: OlRankNet, other: OlRankNet, asked: list[JudgedQuery], alpha: float) -> float:
    """The share of pairs that both call certain in the same direction, or both uncertain."""
    both = [replace(policy, alpha=alpha).from_state(policy.state()) for policy in (one, other)]
    same = pairs = 0
    for judged in asked:
        certain = [policy.certain_orders(judged.query) for policy in both]
        verdicts = [orders.astype(int) - orders.T for orders in certain]
        upper = np.triu_indices(judged.query.n_docs, 1)
        same += int((verdicts[0][upper] == verdicts[1][upper]).sum())
        pairs += len(upper[0])
    return same / pairs
