"""Probes see what is there, change nothing, and are part of what a run is."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from rankloop.checks import small_world
from rankloop.errors import SettingError
from rankloop.lab.simulation.lambdarank_probe import swap_changes
from rankloop.lab.simulation.loop import Record, simulate
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.offline_rankers import graded_pairs
from rankloop.lab.simulation.probes import (
    Blocks,
    BlockSizeByPosition,
    BlockSizes,
    CertainPairs,
    CosineToOffline,
    DuelingRegret,
    Look,
    Probe,
    RegretBound,
    RoundProbe,
    UncertainPairs,
    offline_lambdarank,
    offline_ranknet,
)
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.engines import Pool
from rankloop.lab.sweeps.execution import execute
from rankloop.lab.sweeps.results_folder import Ledger
from rankloop.lab.sweeps.study import conduct
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import Preset
from rankloop.metrics import NDCG
from rankloop.policies import DBGD, MGD, PDGD, PairRank, PePairRank, Policy, Random, RankNet
from rankloop.types import BoolArray, FloatArray, Query, QuerySet, Ranking

WORLD, HELD_OUT = small_world(), small_world(seed=8)
USER = Preset("informational").for_grades(3)
PROTOCOL = Protocol(rounds=60, k=5, checkpoints=6)
PROBES: tuple[Probe, ...] = (
    CertainPairs(every=1),
    Blocks(every=1),
    BlockSizes(every=1, ranks=(1, 3)),
    RegretBound(),
    UncertainPairs(every=1),
    BlockSizeByPosition(rounds=(10, 30), queries=4),
    CosineToOffline(),
)
LINEAR = [PairRank(), PePairRank(), PDGD(), DBGD(), MGD(), RankNet()]


def run(policy: Policy, probes: tuple[Probe, ...] = ()) -> list[Record]:
    return list(simulate(policy, USER, WORLD, HELD_OUT, seed=3, protocol=PROTOCOL, probes=probes))


def values(records: list[Record], metric: str) -> dict[int, float]:
    return {record.round: record.value for record in records if record.metric == metric}


# Slow, clear references


def is_settled(certain: BoolArray, i: int, j: int) -> bool:
    return bool(certain[i, j] or certain[j, i])


def open_pairs(certain: BoolArray) -> int:
    return sum(not is_settled(certain, i, j) for i, j in combinations(range(len(certain)), 2))


def share_of_certain_pairs(policy: PairRank | PePairRank, features: FloatArray, top: int) -> float:
    certain, scores = policy.certain_orders(Query("q", features)), policy.list_scores(Query("q", features))
    best = sorted(range(len(features)), key=lambda i: -scores[i])[:top]
    pairs = list(combinations(best, 2))
    return sum(is_settled(certain, i, j) for i, j in pairs) / len(pairs)


def blocks(policy: PairRank | PePairRank, features: FloatArray) -> list[set[int]]:
    """Connected components of the uncertain pairs, by their best score."""
    certain, scores = policy.certain_orders(Query("q", features)), policy.list_scores(Query("q", features))
    open_pairs = [[not is_settled(certain, i, j) for j in range(len(scores))] for i in range(len(scores))]
    count, labels = connected_components(np.array(open_pairs))
    found = [set(np.flatnonzero(labels == label).tolist()) for label in range(count)]
    return sorted(found, key=lambda block: -max(scores[i] for i in block))


def size_at(rank: int, found: list[set[int]]) -> int:
    passed = 0
    for block in found:
        passed += len(block)
        if rank <= passed:
            return len(block)
    raise AssertionError("no list is that long")


@dataclass(frozen=True, kw_only=True)
class Reference(RoundProbe):
    """Everything at once, the slow way."""

    every: int = 1

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(map(Measure, ("certain", "count", "at 1", "at 3", "open")))

    def applies(self, policy: Policy) -> bool:
        return True

    def values(self, look: Look) -> Mapping[Measure, float]:
        assert isinstance(look.policy, PairRank | PePairRank)
        features = look.judged.query.features
        found = blocks(look.policy, features)
        share = share_of_certain_pairs(look.policy, features, 10)
        certain = look.policy.certain_orders(look.judged.query)
        seen = (share, len(found), size_at(1, found), size_at(3, found), open_pairs(certain))
        return dict(zip(self.measures, seen, strict=True))


@dataclass(frozen=True, kw_only=True)
class SlowBound(RoundProbe):
    every: int = 1
    add_up: ClassVar[bool] = True
    measures = (Measure("bound"), Measure("by block"))

    def applies(self, policy: Policy) -> bool:
        return True

    def values(self, look: Look) -> Mapping[Measure, float]:
        assert isinstance(look.policy, PairRank | PePairRank)
        certain = look.policy.certain_orders(look.judged.query)
        found = blocks(look.policy, look.judged.query.features)
        within = [open_pairs(certain[np.ix_(sorted(block), sorted(block))]) for block in found]
        return {
            self.measures[0]: sum(range(open_pairs(certain) + 1)),
            self.measures[1]: sum(sum(range(n + 1)) for n in within),
        }


@pytest.mark.parametrize("policy", [PairRank(), PairRank(exploration="random"), PePairRank()], ids=repr)
def test_every_probe_agrees_with_its_reference(policy: Policy) -> None:
    records = run(policy, (*PROBES, Reference(), SlowBound()))
    for metric, reference in {
        "certain pairs in the top 10": "certain",
        "blocks": "count",
        "block size at rank 1": "at 1",
        "block size at rank 3": "at 3",
        "uncertain pairs": "open",
        "bound on pairwise regret": "bound",
        "bound on pairwise regret by block": "by block",
    }.items():
        found = values(records, metric)
        assert list(found) == PROTOCOL.checkpoint_rounds()[1:]
        assert found == pytest.approx(values(records, reference))
    shares = values(records, "certain pairs in the top 10")
    assert shares[1] == 0.0  # nothing is known at first
    assert shares[60] > 0.1


@dataclass(frozen=True, kw_only=True)
class SlowDuels(RoundProbe):
    every: int = 1
    add_up: ClassVar[bool] = True
    measures = (Measure("lost"),)

    def applies(self, policy: Policy) -> bool:
        return True

    def values(self, look: Look) -> Mapping[Measure, float]:
        """Every ranker by itself: how surely the best one beats it, beyond a half."""
        assert isinstance(look.policy, MGD)
        query, directions = look.judged.query, look.ranking.evidence["directions"]
        now = look.policy.parameters if look.policy.parameters.size else np.zeros(query.features.shape[1])

        def loss(weights: FloatArray) -> float:
            scores = [query.features @ each for each in (offline_lambdarank(WORLD), weights)]
            orders = [sorted(range(query.n_docs), key=lambda i, s=s: (-s[i], i)) for s in scores]  # type: ignore[misc]
            best, own = (NDCG(k=10)(np.array(order), look.judged.relevance) for order in orders)
            return float(1 / (1 + np.exp(own - best)) - 0.5)

        rivals = [loss(now + look.policy.radius * direction) for direction in directions]
        return {self.measures[0]: loss(now) + sum(rivals) / len(rivals)}


@pytest.mark.parametrize("policy", [DBGD(radius=0.5), MGD(candidates=3)], ids=repr)
def test_dueling_regret_is_what_every_compared_ranker_loses_to_the_best(policy: Policy) -> None:
    records = run(policy, (DuelingRegret(), SlowDuels()))
    found = values(records, "dueling regret")
    assert found == pytest.approx(values(records, "lost"))
    assert found[60] > 0
    assert not values(run(PDGD(), (DuelingRegret(),)), "dueling regret")


def test_block_sizes_by_position_are_means_over_the_longest_lists() -> None:
    policy = PairRank()
    records = run(policy, PROBES)
    lengths = np.diff(WORLD.offsets)
    longest = sorted(range(len(WORLD)), key=lambda i: -lengths[i])[:4]
    found = [blocks(policy, WORLD[i].query.features) for i in longest]
    for position in (1, 2, int(lengths[longest[-1]])):
        seen = values(records, f"block size at position {position}")
        assert list(seen) == [10, 30, 60]
        assert seen[60] == pytest.approx(np.mean([size_at(position, each) for each in found]))
    beyond = int(lengths.max()) + 1
    assert not values(records, f"block size at position {beyond}")


def test_the_cosine_is_that_of_the_weights() -> None:
    for policy in LINEAR:
        seen = values(run(policy, PROBES), "cosine to offline RankNet")
        a, b = policy.state()["parameters"], offline_ranknet(WORLD)
        assert seen[0] == 0.0
        assert seen[60] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_the_offline_ranknet_minimises_the_loss_over_all_graded_pairs() -> None:
    pairs = np.array(
        [
            judged.query.features[i] - judged.query.features[j]
            for judged in WORLD
            for i in range(judged.query.n_docs)
            for j in range(judged.query.n_docs)
            if judged.relevance[i] > judged.relevance[j]
        ]
    )
    expected = minimize(
        lambda weights: np.logaddexp(0, -pairs @ weights).sum() + weights @ weights / 2,
        np.zeros(WORLD.n_features),
        tol=1e-9,
    ).x
    assert offline_ranknet(WORLD) == pytest.approx(expected, abs=1e-4)
    assert offline_ranknet(WORLD) is offline_ranknet(WORLD)  # worked out once in a process


def test_a_swap_changes_ndcg_by_as_much_as_it_does() -> None:
    scores, ndcg = np.random.default_rng(0).random(len(WORLD.features)), NDCG(k=None)
    better, worse = graded_pairs(WORLD, 40, np.random.default_rng(0))
    before = ndcg.per_query(scores, WORLD).sum()
    for change, i, j in zip(swap_changes(scores, WORLD, better, worse), better, worse, strict=True):
        swapped = scores.copy()
        swapped[[i, j]] = scores[[j, i]]
        assert change == pytest.approx(abs(ndcg.per_query(swapped, WORLD).sum() - before))


def test_the_offline_lambdarank_comes_to_rest() -> None:
    """There, the pull of all pairs, counted at its own ranking, and of the regularisation nearly cancel."""
    weights = offline_lambdarank(WORLD)
    better, worse = graded_pairs(WORLD, 10**9, np.random.default_rng(0))
    pairs = WORLD.features[better] - WORLD.features[worse]
    counts = swap_changes(WORLD.features @ weights, WORLD, better, worse)
    pull = (counts / counts.mean() * expit(-pairs @ weights)) @ pairs - weights
    start = (counts / counts.mean() / 2) @ pairs
    assert np.linalg.norm(pull) < 0.05 * np.linalg.norm(start)
    assert offline_lambdarank(WORLD) is offline_lambdarank(WORLD)


def test_the_cosine_may_be_to_the_offline_lambdarank() -> None:
    policy = PDGD()
    seen = values(run(policy, (CosineToOffline(teacher="lambdarank"),)), "cosine to offline LambdaRank")
    a, b = policy.parameters, offline_lambdarank(WORLD)
    assert seen[60] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))
    with pytest.raises(SettingError, match="teacher must be one of ranknet, lambdarank, found 'tree'"):
        CosineToOffline(teacher="tree")  # type: ignore[arg-type]


def test_sampled_pairs_are_different_graded_and_of_one_query() -> None:
    everything = set(zip(*graded_pairs(WORLD, 10**9, np.random.default_rng(0)), strict=True))
    better, worse = graded_pairs(WORLD, 50, np.random.default_rng(0))
    assert len(set(zip(better, worse, strict=True))) == 50
    assert set(zip(better, worse, strict=True)) < everything
    assert (WORLD.relevance[better] > WORLD.relevance[worse]).all()
    query_of = np.repeat(np.arange(len(WORLD)), np.diff(WORLD.offsets))
    assert (query_of[better] == query_of[worse]).all()


def test_nothing_to_compare_with_is_no_direction() -> None:
    flat = QuerySet(WORLD.features, WORLD.offsets, np.zeros_like(WORLD.relevance), WORLD.ids)
    assert not offline_ranknet(flat).any()
    assert not offline_lambdarank(flat).any()


# What probes must not do


@pytest.mark.parametrize("policy", [*LINEAR, Random()], ids=lambda policy: policy.name)
def test_probes_change_nothing(policy: Policy) -> None:
    start = policy.state()
    bare, probed = (policy.from_state(start) for _ in range(2))
    plain = run(bare)
    assert [record for record in run(probed, PROBES) if record.metric in {r.metric for r in plain}] == plain
    assert {name: value.tobytes() for name, value in bare.state().items()} == {
        name: value.tobytes() for name, value in probed.state().items()
    }


def test_policies_in_which_there_is_nothing_to_see_are_passed_over() -> None:
    assert run(Random(), PROBES) == run(Random())
    assert {r.metric for r in run(PDGD(), PROBES)} - {r.metric for r in run(PDGD())} == {
        "cosine to offline RankNet"
    }


def test_short_lists_lack_low_ranks() -> None:
    query = Query("q", np.eye(2))
    policy = PairRank()
    judged = small_world()[0]
    look = Look(policy, replace(judged, query=query), Ranking(query, np.array([0, 1])), WORLD)
    assert [(measure.name, size) for measure, size in BlockSizes().values(look).items()] == [
        ("block size at rank 1", 2.0)
    ]
    alone = Query("q", np.eye(1))
    assert not CertainPairs().values(
        Look(policy, replace(judged, query=alone), Ranking(alone, np.array([0])), WORLD)
    )


# Looking less often


@dataclass(frozen=True, kw_only=True)
class Count(RoundProbe):
    """Gives the number of the look."""

    seen: ClassVar[list[str]] = []
    measures = (Measure("looks"),)

    def applies(self, policy: Policy) -> bool:
        return True

    def values(self, look: Look) -> Mapping[Measure, float]:
        self.seen.append(look.judged.query.id)
        return {self.measures[0]: len(self.seen)}


def test_a_probe_looks_first_after_a_checkpoint_and_then_every_few_rounds() -> None:
    Count.seen.clear()
    records = run(PDGD(), (Count(every=4),))
    stops = PROTOCOL.checkpoint_rounds()
    looks = [len(range(start, end, 4)) for start, end in pairwise(stops)]
    assert len(Count.seen) == sum(looks)
    ends = np.cumsum(looks)
    means = [np.mean(range(end - n + 1, end + 1)) for n, end in zip(looks, ends, strict=True)]
    assert list(values(records, "looks").values()) == means


def test_a_sum_of_few_looks_estimates_the_whole() -> None:
    exact, rough = (
        values(run(PairRank(), (RegretBound(every=every),)), "bound on pairwise regret") for every in (1, 4)
    )
    assert rough[60] == pytest.approx(exact[60], rel=0.5)
    assert all(later >= earlier for earlier, later in pairwise(exact.values()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Blocks(every=0),
        lambda: CertainPairs(top=1),
        lambda: BlockSizes(ranks=(0,)),
        lambda: BlockSizes(ranks=()),
        lambda: BlockSizeByPosition(queries=0),
        lambda: CosineToOffline(regularisation=0),
    ],
)
def test_probes_that_could_see_nothing_are_refused(make: type[Probe]) -> None:
    with pytest.raises(SettingError, match="found"):
        make()


# Probes in a sweep

SWEEP = Sweep(
    data=["synthetic:linear:queries=20"],
    users={"perfect": Preset("perfect")},
    policies={"pairrank": PairRank(), "random": Random()},
    seeds=[0],
    protocol=Protocol(rounds=20, checkpoints=2),
    probes={"blocks": Blocks()},
)


def test_probes_are_values() -> None:
    for probe in PROBES:
        assert pickle.loads(pickle.dumps(probe)) == probe
    assert execute(replace(SWEEP, seeds=range(2)), engine=Pool(2)).equals(
        execute(replace(SWEEP, seeds=range(2)))
    )


def test_the_spec_names_the_probes(tmp_path: Path) -> None:
    conduct(replace(SWEEP, about=["blocks"]), tmp_path)
    spec = json.loads((tmp_path / "spec.json").read_text())
    assert (spec["probes"], spec["about"]) == ({"blocks": "Blocks(every=10)"}, ["blocks"])


def test_a_run_with_other_probes_is_another_run(tmp_path: Path) -> None:
    bare, other = replace(SWEEP, probes={}), replace(SWEEP, probes={"blocks": Blocks(every=5)})
    for run_, differs in zip(SWEEP.runs(), (True, False), strict=True):  # there is nothing to see in random
        paths = {Ledger(tmp_path, sweep).path(run_) for sweep in (SWEEP, bare, other)}
        assert len(paths) == (3 if differs else 1)
    renamed = replace(SWEEP, about=["blocks"])
    assert Ledger(tmp_path, renamed).path(SWEEP.runs()[0]) == Ledger(tmp_path, SWEEP).path(SWEEP.runs()[0])


def test_two_probes_of_a_kind_are_refused() -> None:
    with pytest.raises(SettingError, match="two probes of a kind"):
        replace(SWEEP, probes={"often": Blocks(every=1), "seldom": Blocks(every=50)})
