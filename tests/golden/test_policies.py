"""Every policy, and every setting that changes what it computes, gives the numbers that it once gave.

A record has the lists and scores of 24 rounds, what was learned after each, and what would be learned had
there been more features. Clicks, grades and worlds are made here, from nothing but seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
import pytest

from rankloop.interleaving import Probabilistic, TeamDraft
from rankloop.lab.baselines.dla import DLA
from rankloop.lab.baselines.fairco import FairCo
from rankloop.lab.baselines.fairswap import FairSwapPairRank, FairSwapTopRank
from rankloop.lab.baselines.ips import IPS
from rankloop.lab.baselines.ips_ranknet import IPSRankNet
from rankloop.lab.baselines.lambdamart import LambdaMART
from rankloop.lab.baselines.offline_lambdarank import OfflineLambdaRank
from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.baselines.ollambdarank_gt import OlLambdaRankGT
from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    AdForest,
    AdLogistic,
    AUCRanker,
    DocumentSpace,
    EpsilonGreedy,
    Exact,
    FairExpPairRank,
    FairExpTopRank,
    LinUCB,
    ListNet,
    Minimax,
    OlLambdaRank,
    OlRankNet,
    P2NeurRank,
    PairRank,
    PePairRank,
    Policy,
    Posterior,
    Race,
    Random,
    RankNet,
    ReplayMemory,
    RTopK,
    RTopKItems,
    Slam,
    SquareCB,
    Theory,
    ThompsonItems,
    ThompsonLogistic,
    TopRank,
    UCBItems,
    Width,
)
from rankloop.policies.policy_names import read_policy
from rankloop.scorers import MLP, Linear
from rankloop.types import Array, BoolArray, Context, Feedback, FloatArray, IntArray, Query, Ranking
from tests.golden.records import check, check_ids, digest

ROUNDS, K = 24, 5
Gives: TypeAlias = Literal["clicks", "grades", "both", "seen"]  # seen: clicks of users whose looks are known
Make: TypeAlias = Callable[[], Policy]


@dataclass(frozen=True)
class Case:
    """A policy, what it learns from, and whether it is asked for documents, items or ads."""

    make: Make
    gives: Gives = "clicks"
    world: Literal["documents", "items", "ads"] = "documents"
    k: int = K


class ShortBlocks(RTopKItems):
    """Another constant, so that blocks end more often."""

    growth = 1.5


def printed(settings: str, *, caller_order: str | None = None) -> Make:
    """A policy as a paper prints it, by name; with the caller's order, if it is trusted."""
    return lambda: read_policy(
        f"{settings}@paper" + (f"(caller_order={caller_order})" if caller_order else "")
    )


def grades(make: Make) -> Case:
    return Case(make, "grades")


def both(make: Make) -> Case:
    return Case(make, "both")


def items(make: Make, gives: Gives = "grades") -> Case:
    return Case(make, gives, "items")


def ads(make: Make) -> Case:
    return Case(make, world="ads", k=1)


DEFAULTS: dict[str, Case] = {
    "p01": ads(lambda: AdForest(trees=20)),  # all 200 take their time
    "p02": ads(AdLogistic),
    "p03": ads(AUCRanker),
    "p04": Case(DBGD),
    "p05": Case(DLA),
    "p06": Case(EpsilonGreedy),
    "p07": Case(FairCo),
    "p08": Case(FairExpPairRank),
    "p09": Case(FairExpTopRank),
    "p10": Case(IPS),
    "p11": Case(IPSRankNet),
    "p12": grades(lambda: LambdaMART(lists=8, trees=5)),
    "p13": ads(LinUCB),
    "p14": both(ListNet),
    "p15": Case(MGD),
    "p16": both(Minimax),
    "p17": Case(NSGD),
    "p18": grades(lambda: OfflineLambdaRank(steps=20, queries=4)),
    "p19": grades(lambda: OfflineRankNet(steps=20, queries=4)),
    "p20": Case(OlLambdaRank),
    "p21": grades(OlLambdaRankGT),
    "p22": Case(OlRankNet),
    "p23": Case(P2NeurRank),
    "p24": Case(PairRank),
    "p25": Case(PDGD),
    "p26": Case(PePairRank),
    "p27": Case(Race),
    "p28": Case(Random),
    "p29": Case(RankNet),
    "p30": both(RTopK),
    "p31": items(RTopKItems),
    "p32": both(Slam),
    "p33": ads(SquareCB),
    "p34": items(ThompsonItems, "clicks"),
    "p35": ads(ThompsonLogistic),
    "p36": items(TopRank, "clicks"),
    "p37": items(UCBItems, "clicks"),
}
CALLER: dict[str, Case] = {
    "c01": Case(lambda: DBGD(caller_order="decent")),
    "c02": Case(lambda: EpsilonGreedy(caller_order="good")),
    "c03": Case(lambda: FairExpPairRank(caller_order="decent")),
    "c04": Case(lambda: MGD(caller_order="poor")),
    "c05": Case(lambda: NSGD(caller_order="unknown")),
    "c06": Case(lambda: OlLambdaRank(caller_order="decent")),
    "c07": Case(lambda: OlRankNet(caller_order="poor")),
    "c08": Case(lambda: P2NeurRank(caller_order="decent")),
    "c09": Case(lambda: PairRank(caller_order="decent")),
    "c10": Case(lambda: PDGD(caller_order="good")),
    "c11": Case(lambda: PePairRank(caller_order="unknown")),
    "c12": Case(lambda: Race(caller_order="decent")),
    "c13": Case(lambda: RankNet(caller_order="decent")),
}
PRINTED: dict[str, Case] = {
    "a01": Case(printed("pairrank")),
    "a02": Case(printed("pepairrank")),
    "a03": Case(printed("olranknet")),
    "a04": Case(printed("ollambdarank")),
    "a05": Case(printed("p2neurrank")),
    "a06": Case(printed("ranknet")),
    "a07": Case(printed("epsilon-greedy")),
    "a08": Case(printed("pdgd")),
    "a09": Case(printed("pdgd-neural")),
    "a10": Case(printed("dbgd-linear")),
    "a11": Case(printed("dbgd-neural")),
    "a12": Case(printed("dbgd")),
    "a13": Case(printed("mgd")),
    "a14": Case(printed("nsgd")),
    "a15": Case(printed("dbgd-dsp")),
    "a16": Case(printed("mgd-dsp")),
    "a17": Case(printed("nsgd-dsp")),
}
PRINTED_CALLER: dict[str, Case] = {
    "b01": Case(printed("pairrank", caller_order="decent")),
    "b02": Case(printed("pepairrank", caller_order="decent")),
    "b03": Case(printed("olranknet", caller_order="decent")),
    "b04": Case(printed("ollambdarank", caller_order="decent")),
    "b05": Case(printed("p2neurrank", caller_order="decent")),
    "b06": Case(printed("ranknet", caller_order="decent")),
    "b07": Case(printed("epsilon-greedy", caller_order="decent")),
    "b08": Case(printed("pdgd", caller_order="decent")),
    "b09": Case(printed("pdgd-neural", caller_order="decent")),
    "b10": Case(printed("dbgd-linear", caller_order="decent")),
    "b11": Case(printed("dbgd-neural", caller_order="decent")),
    "b12": Case(printed("dbgd", caller_order="decent")),
    "b13": Case(printed("mgd", caller_order="decent")),
    "b14": Case(printed("nsgd", caller_order="decent")),
    "b15": Case(printed("dbgd-dsp", caller_order="decent")),
    "b16": Case(printed("mgd-dsp", caller_order="decent")),
    "b17": Case(printed("nsgd-dsp", caller_order="decent")),
}
FAIR_SWAP: dict[str, Case] = {
    "f01": Case(FairSwapPairRank),
    "f02": Case(FairSwapTopRank),
    "f03": Case(lambda: FairSwapPairRank(beta=1.22, tolerance=0.3, ties="least", caller_order="poor")),
    "f04": Case(lambda: FairSwapTopRank(beta=0.8, due="attainable", learned_pairs="block")),
}
FAIR: dict[str, Case] = {
    "f11": Case(lambda: FairExpPairRank(beta=1.5, tolerance=0.2, due="attainable", ties="least")),
    "f12": Case(lambda: FairExpPairRank(shares=(("A", 2.0), ("B", 1.0)), examination="reciprocal")),
    "f13": Case(lambda: FairExpPairRank(shares="candidates", examination=(1.0, 0.8, 0.5, 0.3, 0.1))),
    "f14": Case(lambda: FairExpTopRank(beta=0.8, tolerance=0.0, learned_pairs="block")),
    "f15": Case(lambda: FairExpPairRank(certainty=Width(0.1), update="exact", tolerance=0.1), k=14),
    "f16": Case(lambda: FairExpTopRank(shares="candidates", tolerance=0.1), k=14),
    "f17": Case(lambda: FairCo(control=0.5, exposure="total", merit=(("A", 1.2), ("B", 1.0)), ridge=2.0)),
    "f18": Case(lambda: FairCo(examination="reciprocal", control=0.01)),
}
# What is a part of its own today and becomes settings of its policy: core of the guard for that step.
PARTS: dict[str, Case] = {
    "v01": both(lambda: ListNet(learning_rate=0.3)),
    "v02": both(lambda: ListNet(learning_rate=0.05, decay_exponent=0.0)),
    "v03": both(lambda: ListNet(learning_rate=0.1, decay_exponent=0.0, averaged=True)),
    "v04": grades(lambda: ListNet(scorer=MLP(8), learning_rate=0.1)),
    "v05": items(lambda: RTopKItems(gain="linear", top_grade=2.0, top_k=3)),
    "v06": items(lambda: RTopKItems(gain="linear", top_grade=2.0)),
    "v07": items(lambda: RTopKItems(gain="linear", below_cell="random")),
    "v08": items(lambda: ShortBlocks(top_grade=2.0, top_k=2)),
    "v09": items(lambda: RTopKItems(explore_once=True, horizon=24, blocks=3, top_k=2, below_cell="random")),
    "v10": items(lambda: RTopKItems(explore_once=True, horizon=24, top_k=3, top_grade=2.0)),
    "v11": items(lambda: RTopKItems(horizon=240, blocks=12, epsilon=None)),
    "v12": items(lambda: RTopKItems(horizon=240, epsilon=0.2, top_k=1), "both"),
    "v13": items(lambda: ThompsonItems(gain="linear", top_grade=2.0)),
    "v14": items(lambda: ThompsonItems(gain="linear", top_grade=2.0), "both"),
    "v15": items(lambda: ThompsonItems(gain="linear", top_grade=2.0)),
    "v16": items(lambda: ThompsonItems(top_grade=2.0)),
    "v17": items(lambda: UCBItems(gain="linear", top_grade=2.0, width=0.2)),
    "v18": items(lambda: UCBItems(gain="linear", top_grade=2.0), "both"),
    "v19": items(lambda: UCBItems(gain="linear", top_grade=2.0)),
    "v20": items(lambda: UCBItems(top_grade=2.0)),
    "v21": both(lambda: RTopK(loss="squared", steps="published", learning_rate=0.01, top_k=1)),
    "v22": both(lambda: RTopK(loss="observed-squared", learning_rate=0.3, top_k=2, radius=0.5)),
    "v23": both(
        lambda: RTopK(loss="unnormalised-kl", top_grade=4.0, steps="published", learning_rate=0.01, top_k=1)
    ),
    "v24": both(lambda: RTopK(loss="smooth-dcg", smoothing=0.1, learning_rate=0.03, cap=1.0, gamma=0.2)),
    "v25": both(lambda: RTopK(steps="published", gamma=0.3, scale=1000.0, top_k=2)),
    "v26": both(lambda: RTopK(loss="unnormalised-kl", gamma=0.9, top_k=3)),
    "v27": grades(lambda: RTopK(scorer=MLP(8), learning_rate=0.01, top_k=3)),
    "v28": grades(lambda: RTopK(loss="smooth-dcg", steps="published", learning_rate=0.05, radius=0.1)),
    "v29": ads(lambda: AUCRanker(batch=5, growth=0.0, memory=10)),
    "v30": ads(lambda: AUCRanker(threshold="platt", batch=5, undersample=1.0, growth=0.0)),
    "v31": both(lambda: Slam(k=3, learning_rate=0.5)),
    "v32": both(lambda: Slam(k=None, averaged=True)),
    "v33": both(lambda: Slam(measure="ap")),
    "v34": grades(lambda: Slam(measure="ap", scorer=MLP(8), averaged=True, learning_rate=0.01)),
    "v35": Case(lambda: OlRankNet(scorer=MLP(4), covariance="full", learning_rate=0.05, alpha=0.1)),
    "v36": Case(
        lambda: OlRankNet(scorer=MLP(8), covariance="projected", dimensions=16, alpha=0.1, learning_rate=0.05)
    ),
    "v37": Case(lambda: OlRankNet(scorer=MLP(8), covariance="diagonal", alpha=0.1, learning_rate=0.05)),
    "v38": Case(
        lambda: OlLambdaRank(
            scorer=MLP(4), covariance="full", caller_order="decent", draws=4, learning_rate=0.05
        )
    ),
    "v39": Case(
        lambda: OlLambdaRank(
            scorer=MLP(8), covariance="projected", dimensions=16, balanced=False, learning_rate=0.05
        )
    ),
    "v40": Case(lambda: OlLambdaRank(scorer=Linear(), covariance="diagonal", draws=0, learning_rate=0.01)),
    "v41": Case(lambda: PairRank(certainty=Posterior(0.8))),
    "v42": Case(lambda: PairRank(certainty=Width(0.1), exploration="random")),
    "v43": Case(lambda: PairRank(certainty=Width(0.1, diagonal=True), caller_order="decent")),
    "v44": Case(lambda: PairRank(certainty=Theory(longest_weights=0.1, longest_difference=1.0, noise=0.01))),
    "v45": Case(lambda: PairRank(certainty=Width(0.01), update="exact", regularisation=0.1)),
    "v46": Case(lambda: PairRank(certainty=Width(diagonal=True), update="exact", pairing="adjacent")),
    "v47": Case(lambda: FairExpPairRank(certainty=Width(0.1, diagonal=True), caller_order="decent")),
    "v48": Case(lambda: MGD(projection=DocumentSpace(1, recent=2, trust=0.8)), "seen"),
    "v49": Case(lambda: DBGD(projection=DocumentSpace(recent=0, examined="true")), "seen"),
    "v50": Case(
        lambda: MGD(projection=DocumentSpace(examined="true", recent=5, trust=0.5, unit=True)), "seen"
    ),
    "v51": Case(
        lambda: NSGD(projection=DocumentSpace(recent=0, examined="true", unit=True), caller_order="poor"),
        "seen",
    ),
    "v52": Case(lambda: NSGD(projection=DocumentSpace(unit=True), interleaving=Probabilistic(2.0))),
}
# Other settings that choose a way of computing.
SETTINGS: dict[str, Case] = {
    "w01": Case(lambda: PairRank(pairing="all", prior=0.8, prior_lists=3)),
    "w02": Case(lambda: PairRank(longest_weights=0.5, update="exact")),
    "w03": Case(lambda: PairRank(caller_order="unknown", update="exact", certainty=Width(), pairing="all")),
    "w04": Case(lambda: PePairRank(rankers=5, variance=0.01, perturb_prior=True)),
    "w05": Case(
        lambda: PePairRank(update="exact", exploration="random", pairing="adjacent", caller_order="good")
    ),
    "w06": Case(lambda: PDGD(decay=0.9, scorer=MLP(8), caller_order="decent")),
    "w07": Case(lambda: PDGD(caller_order="decent", learn_caller_order=False)),
    "w08": Case(
        lambda: MGD(
            candidates=19, interleaving=Probabilistic(), caller_order="good", learn_caller_order=False
        )
    ),
    "w09": Case(lambda: DBGD(interleaving=TeamDraft(), start_seed=3, radius=0.5, step=0.1, decay=0.9)),
    "w10": Case(lambda: NSGD(candidates=4, proposals=8, window=10, avoid=5, hard=3)),
    "w11": Case(lambda: RankNet(pairing="all", scorer=MLP(8))),
    "w12": Case(lambda: EpsilonGreedy(pairing="matching", epsilon=0.5)),
    "w13": Case(
        lambda: OlRankNet(scorer=MLP(8), training=Exact(3), learning_rate=0.1, optimiser="gradient-descent")
    ),
    "w14": Case(lambda: OlRankNet(scorer=MLP(8), training=ReplayMemory(2, memory=4, repeats=2, steps=3))),
    "w15": Case(lambda: OlLambdaRank(scorer=MLP(8), exploration="random", pairing="matching")),
    "w16": Case(lambda: P2NeurRank(scorer=MLP(8), rankers=3, networks=0, training=Exact(2))),
    "w17": Case(
        lambda: P2NeurRank(scorer=MLP(8), rankers=3, networks=5, averaging=False, caller_order="poor")
    ),
    "w18": Case(lambda: Race(racers=2, odds=1.5, prior=0.2)),
    "w19": Case(lambda: DLA(logging="plackett-luce", clip=2.0, training=ReplayMemory(3, memory=6))),
    "w20": Case(
        lambda: IPSRankNet(logging="greedy", training=Exact(2), examination="reciprocal", scorer=MLP(8))
    ),
    "w21": Case(lambda: IPS(ridge=0.1, examination=(1.0, 0.6, 0.4, 0.2, 0.1))),
    "w22": ads(lambda: AdLogistic(batch=5, growth=0.0, undersample=2.0, regularisation=1.0)),
    "w23": ads(lambda: AdForest(trees=5, batch=5, undersample=1.0, seed=3)),
    "w24": Case(lambda: LinUCB(prior=0.5, alpha=1.0), world="ads", k=3),
    "w25": Case(lambda: ThompsonLogistic(prior=2.0, width=1.0), world="ads", k=3),
    "w26": Case(lambda: SquareCB(scale=2.0), world="ads", k=3),
    "w27": items(lambda: TopRank(delta=0.5), "clicks"),
    "w28": grades(lambda: OlLambdaRankGT(scorer=Linear(), queries=4, learning_rate=0.01)),
    "w29": both(lambda: Minimax(averaged=True)),
    "w30": Case(lambda: PairRank(caller_order=2.0)),
    "w31": Case(lambda: MGD(scorer=MLP(8))),
    "w32": Case(PairRank, k=14),
}
CASES = DEFAULTS | CALLER | PRINTED | PRINTED_CALLER | FAIR_SWAP | FAIR | PARTS | SETTINGS


@dataclass(frozen=True)
class Asked:
    """A query with the grade of every candidate."""

    query: Query
    grades: IntArray


@cache
def documents() -> list[Asked]:
    """Five queries of unequal length; the caller's order is half right, and one query comes without."""
    rng, asked = np.random.default_rng(7), []
    for number, count in enumerate((12, 8, 15, 10, 14)):
        features = rng.random((count, 6))
        quality = features @ np.linspace(1.0, -1.0, 6)
        base = None if number == 3 else quality + rng.normal(size=count)
        ids = [f"d{number}.{row}" for row in range(count)]
        groups = ["AB"[row % 3 > 0] for row in range(count)]
        asked.append(Asked(_query(f"q{number}", features, ids, groups, base=base), _grades(quality)))
    return asked


@cache
def fixed_items() -> list[Asked]:
    """Queries about the same nine items, of which some come later and one goes."""
    quality = np.random.default_rng(11).random(9)
    asked = []
    for number, rows in enumerate(([0, 1, 2, 3, 4, 5], [3, 4, 5, 6, 0, 1, 2], [8, 7, 6, 5, 4, 3, 2, 1])):
        ids = [f"i{row}" for row in rows]
        groups = ["AB"[row % 2] for row in rows]
        query = _query("same" if number else "first", np.zeros((len(rows), 0)), ids, groups)
        asked.append(Asked(query, _grades(quality)[rows]))
    return asked


@cache
def visitors() -> list[Asked]:
    """Eight visitors, each of whom likes some of four ads; a fifth ad comes later."""
    rng, weights = np.random.default_rng(5), np.random.default_rng(6).normal(size=(6, 5))
    asked = []
    for number in range(8):
        context = rng.random(6)
        count = 4 + number // 5
        quality = (context @ (weights - weights.mean(axis=1, keepdims=True)))[:count]
        ids = [f"ad{row}" for row in range(count)]
        query = _query(f"v{number}", np.zeros((count, 0)), ids, [], context=context)
        asked.append(Asked(query, _grades(quality)))
    return asked


def _query(
    name: str,
    features: FloatArray,
    ids: list[str],
    groups: list[str],
    *,
    base: FloatArray | None = None,
    context: FloatArray | None = None,
) -> Query:
    who = Context("", np.zeros(0) if context is None else context)
    return Query(name, features, tuple(ids), tuple(groups), who, base)


def _grades(quality: FloatArray) -> IntArray:
    """0, 1 or 2; two fifths are 0, and at least the best is 2."""
    ranks = np.argsort(np.argsort(-quality))
    return np.select([ranks < max(1, len(quality) // 5), ranks < 3 * len(quality) // 5], [2, 1], 0)


def respond(ranking: Ranking, relevance: IntArray, gives: Gives, number: int) -> Feedback:
    """Grades of what is shown, or clicks of someone who goes down the list and may leave after a click."""
    shown = relevance[ranking.order]
    if gives == "grades" or (gives == "both" and number % 2):
        return Feedback(ranking, shown, signal="grades")
    luck = np.random.default_rng((number, 1)).random((len(shown), 2))
    clicks: BoolArray = luck[:, 0] < np.array([0.1, 0.5, 0.9])[shown]
    leaves = clicks & (luck[:, 1] < np.array([0.1, 0.3, 0.6])[shown])
    looked = np.arange(len(shown)) <= (leaves.argmax() if leaves.any() else len(shown))
    return Feedback(ranking, clicks & looked, truly_examined=looked if gives == "seen" else None)


@pytest.mark.parametrize("record", CASES)
def test_policy(record: str) -> None:
    case = CASES[record]
    policy, asked = case.make(), {"documents": documents, "items": fixed_items, "ads": visitors}[case.world]()
    orders, scores, states = [], [], []
    for number in range(ROUNDS):
        now = asked[number % len(asked)]
        ranking = policy.rank(now.query, k=case.k, rng=np.random.default_rng(number))
        policy.shown(ranking)
        policy.learn(respond(ranking, now.grades, case.gives, number))
        orders.append(ranking.order)
        scores.append(policy.score(asked[(number + 1) % len(asked)].query))
        states.append(state_of(policy))
    wider = policy.widened(8)
    wide = None if wider is None else state_of(wider)
    check(record, lists=orders, scores=scores, state=states, wide=wide)


def test_no_record_is_left_alone() -> None:
    check_ids(CASES)


def state_of(policy: Policy) -> list[int]:
    """What a policy has learned, as a number for each array; in which class one is declared, is no matter."""
    return sorted_digests(policy.state().values())


def sorted_digests(arrays: Iterable[Array]) -> list[int]:
    return sorted(int(digest(array)[:12], 16) for array in arrays)
