"""Rounds per second of every policy, beside its plain reference."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter, process_time

import numpy as np

from benchmarks import reference as plain
from rankloop.interleaving import Probabilistic
from rankloop.lab.users import PresetUser, UserModel
from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    DocumentSpace,
    EpsilonGreedy,
    PairRank,
    Policy,
    Random,
    RankNet,
)
from rankloop.query_set import QuerySet
from rankloop.types import Query

DOCUMENTS, FEATURES, SHOWN = 120, 136, 10
team, chance = plain.team_draft, plain.probabilistic

# name -> (ours, the plain one, rounds of ours in a block)
PAIRS: Mapping[str, tuple[Policy, Policy, int]] = {
    "random": (Random(), plain.PlainRandom(), 1000),
    "ranknet": (RankNet(), plain.PlainRankNet(), 500),
    "epsilon-greedy": (EpsilonGreedy(), plain.PlainEpsilonGreedy(), 500),
    "pdgd": (PDGD(), plain.PlainPDGD(), 500),
    "pairrank": (PairRank(), plain.PlainPairRank(), 200),
    "dbgd, team draft": (DBGD(decay=1.0), plain.PlainMGD(candidates=1, combine=team), 500),
    "dbgd, probabilistic": (
        DBGD(decay=1.0, interleaving=Probabilistic()),
        plain.PlainMGD(candidates=1, combine=chance),
        300,
    ),
    "mgd, team draft, 9": (MGD(), plain.PlainMGD(combine=team), 300),
    "mgd, probabilistic, 49": (
        MGD(candidates=49, interleaving=Probabilistic()),
        plain.PlainMGD(candidates=49, combine=chance),
        100,
    ),
}
DUELING: Mapping[str, type[MGD]] = {"dbgd": DBGD, "mgd": MGD, "nsgd": NSGD}


@dataclass(frozen=True, slots=True)
class Pace:
    """Microseconds a round, and where they go."""

    serve: float
    click: float
    learn: float

    @property
    def total(self) -> float:
        """One whole round."""
        return self.serve + self.click + self.learn


def bench_world(*, queries: int = 200, seed: int = 1) -> QuerySet:
    """Queries of MSLR's size: 120 documents, 136 features, five grades."""
    rng = np.random.default_rng(seed)
    features = rng.random((queries * DOCUMENTS, FEATURES), dtype=np.float32)
    quality = features @ rng.normal(size=FEATURES) + rng.normal(size=len(features))
    grades = np.digitize(quality, np.quantile(quality, [0.52, 0.84, 0.97, 0.99]))
    ids = tuple(str(number) for number in range(queries))
    return QuerySet(features, np.arange(queries + 1) * DOCUMENTS, grades, ids)


def pace(policy: Policy, user: UserModel, world: QuerySet, *, rounds: int, rng: np.random.Generator) -> Pace:
    """Time some rounds; the policy goes on learning from where it is."""
    serve = click = learn = 0.0
    for index in rng.integers(len(world), size=rounds).tolist():
        start = perf_counter()
        judged = world[index]
        ranking = policy.rank(judged.query, k=SHOWN, rng=rng)
        shown = perf_counter()
        feedback = user.respond(ranking, judged.relevance, rng)
        clicked = perf_counter()
        policy.learn(feedback)
        serve, click, learn = serve + shown - start, click + clicked - shown, learn + perf_counter() - clicked
    return Pace(*(1e6 * seconds / rounds for seconds in (serve, click, learn)))


def compare(name: str, *, blocks: int = 7) -> dict[str, object]:
    """Ours and the plain one in turns, so that both meet the same moods of the machine; medians."""
    pattern, plain_pattern, rounds = PAIRS[name]
    ours, other = (policy.from_state(policy.state()) for policy in (pattern, plain_pattern))
    world, rng = bench_world(), np.random.default_rng(0)
    user = PresetUser("informational").for_grades(5)
    measure = partial(pace, world=world, rng=rng)
    fast: list[Pace] = []
    slow: list[Pace] = []
    for _ in range(blocks):
        fast.append(measure(ours, user, rounds=rounds))
        slow.append(measure(other, plain.PlainUser(user), rounds=max(rounds // 20, 3)))
    own, reference = (median(block.total for block in blocks_) for blocks_ in (fast, slow))
    return {
        "bench": "rounds",
        "name": name,
        "rounds_per_second": 1e6 / own,
        "reference_rounds_per_second": 1e6 / reference,
        "ratio": reference / own,
        "serve_us": median(block.serve for block in fast),
        "click_us": median(block.click for block in fast),
        "learn_us": median(block.learn for block in fast),
        "peak_kb": peak_kilobytes(ours, user, world),
        "reference_peak_kb": peak_kilobytes(other, plain.PlainUser(user), world),
    }


def projection(name: str, *, blocks: int = 15, rounds: int = 200) -> dict[str, object]:
    """What document-space projection adds to a round: with and without it in turns; medians."""
    policies = (DUELING[name](), DUELING[name](projection=DocumentSpace()))
    world, user = bench_world(), PresetUser("informational").for_grades(5)
    times: tuple[list[float], list[float]] = ([], [])
    for block in range(blocks):
        for policy, taken in zip(policies, times, strict=True):
            rng = np.random.default_rng(block)  # both meet the same queries and the same luck
            taken.append(pace(policy, user, world, rounds=rounds, rng=rng).total)
    bare, projected = map(median, times)
    return {
        "bench": "projection",
        "name": name,
        "plain_us": bare,
        "projected_us": projected,
        "ratio": median(b / a for a, b in zip(*times, strict=True)),
    }


def long_lists(*, documents: int = 1000, lists: int = 60) -> dict[str, object]:
    """PairRank on long lists: who can reach the top, and all pairs, in turns; medians of processor time."""
    policy, rng = PairRank(), np.random.default_rng(0)
    pace(policy, PresetUser("informational").for_grades(5), bench_world(), rounds=500, rng=rng)
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(lists):
        query = Query(str(number), rng.random((documents, FEATURES), dtype=np.float32))
        for taken, certain in zip(times, (None, policy.certain_orders), strict=True):
            start, coins = process_time(), np.random.default_rng(number)
            if certain is None:
                policy.rank(query, k=SHOWN, rng=coins)
            else:
                policy.draw(query, certain(query), k=SHOWN, rng=coins)
            taken.append(1000 * (process_time() - start))
    top, everything = map(median, times)
    return {
        "bench": "long",
        "name": f"pairrank, {documents:,} documents",
        "rank_ms": top,
        "all_pairs_ms": everything,
        "ratio": median(b / a for a, b in zip(*times, strict=True)),
    }


def peak_kilobytes(policy: Policy, user: UserModel, world: QuerySet) -> float:
    """The most memory a round takes beyond what is there before it."""
    tracemalloc.start()
    pace(policy, user, world, rounds=5, rng=np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1000


def flatness(*, early: int = 100, late: int = 20_000, block: int = 500) -> dict[str, object]:
    """Does PairRank slow down? Microseconds a round around an early and a late round."""
    world, rng, user = bench_world(), np.random.default_rng(0), PresetUser("informational").for_grades(5)
    policy = PAIRS["pairrank"][0]
    policy = policy.from_state(policy.state())
    pace(policy, user, world, rounds=early, rng=rng)
    first = pace(policy, user, world, rounds=block, rng=rng).total
    pace(policy, user, world, rounds=late - early - 2 * block, rng=rng)
    last = pace(policy, user, world, rounds=block, rng=rng).total
    return {"bench": "flat", "name": "pairrank", "early_us": first, "late_us": last, "ratio": last / first}
