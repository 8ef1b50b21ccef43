"""Probes see what is there, change nothing, and are part of what a run is."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from rankloop.checks import small_world
from rankloop.errors import SettingError
from rankloop.lab.simulation.loop import Record, simulate
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.offline_rankers import (
    graded_pairs,
    swap_changes,
    train_lambdarank,
    train_ranknet,
)
from rankloop.lab.simulation.order_probes import count_certain_pairs, read_block_sizes
from rankloop.lab.simulation.probes import PROBES, Probe, Round, Values, make_probe, probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.engines import Pool
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_cells import cell_key
from rankloop.lab.users import PresetUser
from rankloop.metrics import NDCG
from rankloop.policies import DBGD, MGD, PDGD, PairRank, PePairRank, Policy, Random, RankNet
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, Feedback, FloatArray, Query, Ranking

WORLD, HELD_OUT = small_world(), small_world(seed=8)
USER = PresetUser("informational").for_grades(3)
PROTOCOL = Protocol(rounds=60, k=5, checkpoints=6)
ALL: tuple[Probe, ...] = (
    make_probe("certain", every=1),
    make_probe("blocks", every=1),
    make_probe("block-size", every=1, ranks=(1, 3)),
    make_probe("regret-bound"),
    make_probe("uncertain", every=1),
    make_probe("block-size-by-position", rounds=(10, 30), queries=4),
    make_probe("cosine"),
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


SLOW = [Measure(name) for name in ("certain", "count", "at 1", "at 3", "open")]


@probe("reference", measures=SLOW, needs=Policy, every=1)
def read_everything(round: Round) -> Values:
    """Everything at once, the slow way."""
    assert isinstance(round.policy, PairRank | PePairRank)
    features = round.judged.query.features
    found = blocks(round.policy, features)
    share = share_of_certain_pairs(round.policy, features, 10)
    certain = round.policy.certain_orders(round.judged.query)
    read = (share, len(found), size_at(1, found), size_at(3, found), open_pairs(certain))
    return dict(zip((measure.name for measure in SLOW), read, strict=True))


@probe("slow-bound", measures=[Measure("bound"), Measure("by block")], needs=Policy, every=1, reduce="sum")
def bound_slowly(round: Round) -> Values:
    assert isinstance(round.policy, PairRank | PePairRank)
    certain = round.policy.certain_orders(round.judged.query)
    found = blocks(round.policy, round.judged.query.features)
    within = [open_pairs(certain[np.ix_(sorted(block), sorted(block))]) for block in found]
    return {
        "bound": sum(range(open_pairs(certain) + 1)),
        "by block": sum(sum(range(n + 1)) for n in within),
    }


@pytest.mark.parametrize("policy", [PairRank(), PairRank(exploration="random"), PePairRank()], ids=repr)
def test_every_probe_agrees_with_its_reference(policy: Policy) -> None:
    records = run(policy, (*ALL, make_probe("reference"), make_probe("slow-bound")))
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


@probe("slow-duels", measures=[Measure("lost")], needs=Policy, every=1, reduce="sum")
def duel_slowly(round: Round) -> Values:
    """Every ranker by itself: how surely the best one beats it, beyond a half."""
    assert isinstance(round.policy, MGD)
    query, directions = round.judged.query, round.ranking.evidence["directions"]
    now = round.policy.parameters if round.policy.parameters.size else np.zeros(query.features.shape[1])

    def loss(weights: FloatArray) -> float:
        scores = [query.features @ each for each in (train_lambdarank(WORLD), weights)]
        orders = [sorted(range(query.n_docs), key=lambda i, s=s: (-s[i], i)) for s in scores]  # type: ignore[misc]
        best, own = (NDCG(k=10)(np.array(order), round.judged.relevance) for order in orders)
        return float(1 / (1 + np.exp(own - best)) - 0.5)

    rivals = [loss(now + round.policy.radius * direction) for direction in directions]
    return {"lost": loss(now) + sum(rivals) / len(rivals)}


@pytest.mark.parametrize("policy", [DBGD(radius=0.5), MGD(candidates=3)], ids=repr)
def test_dueling_regret_is_what_every_compared_ranker_loses_to_the_best(policy: Policy) -> None:
    records = run(policy, (make_probe("duels"), make_probe("slow-duels")))
    found = values(records, "dueling regret")
    assert found == pytest.approx(values(records, "lost"))
    assert found[60] > 0
    assert not values(run(PDGD(), (make_probe("duels"),)), "dueling regret")


def test_block_sizes_by_position_are_means_over_the_longest_lists() -> None:
    policy = PairRank()
    records = run(policy, ALL)
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
        seen = values(run(policy, ALL), "cosine to offline RankNet")
        a, b = policy.state()["parameters"], train_ranknet(WORLD)
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
    assert train_ranknet(WORLD) == pytest.approx(expected, abs=1e-4)
    assert train_ranknet(WORLD) is train_ranknet(WORLD)  # worked out once in a process


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
    weights = train_lambdarank(WORLD)
    better, worse = graded_pairs(WORLD, 10**9, np.random.default_rng(0))
    pairs = WORLD.features[better] - WORLD.features[worse]
    counts = swap_changes(WORLD.features @ weights, WORLD, better, worse)
    pull = (counts / counts.mean() * expit(-pairs @ weights)) @ pairs - weights
    start = (counts / counts.mean() / 2) @ pairs
    assert np.linalg.norm(pull) < 0.05 * np.linalg.norm(start)
    assert train_lambdarank(WORLD) is train_lambdarank(WORLD)


def test_the_cosine_may_be_to_the_train_lambdarank() -> None:
    policy = PDGD()
    seen = values(run(policy, (make_probe("cosine", teacher="lambdarank"),)), "cosine to offline LambdaRank")
    a, b = policy.parameters, train_lambdarank(WORLD)
    assert seen[60] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))
    with pytest.raises(SettingError, match="teacher must be 'ranknet' or 'lambdarank', found 'tree'"):
        make_probe("cosine", teacher="tree")


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
    assert not train_ranknet(flat).any()
    assert not train_lambdarank(flat).any()


# What probes must not do


@pytest.mark.parametrize("policy", [*LINEAR, Random()], ids=lambda policy: type(policy).__name__)
def test_probes_change_nothing(policy: Policy) -> None:
    start = policy.state()
    bare, probed = (policy.from_state(start) for _ in range(2))
    plain = run(bare)
    assert [record for record in run(probed, ALL) if record.metric in {r.metric for r in plain}] == plain
    assert {name: value.tobytes() for name, value in bare.state().items()} == {
        name: value.tobytes() for name, value in probed.state().items()
    }


def test_policies_in_which_there_is_nothing_to_see_are_passed_over() -> None:
    assert run(Random(), ALL) == run(Random())
    assert {r.metric for r in run(PDGD(), ALL)} - {r.metric for r in run(PDGD())} == {
        "cosine to offline RankNet"
    }


def test_short_lists_lack_low_ranks() -> None:
    query = Query("q", np.eye(2))
    policy = PairRank()
    judged = replace(small_world()[0], query=query)
    ranking = Ranking(query, np.array([0, 1]))
    seen = Round(policy, judged, ranking, Feedback(ranking, np.zeros(2, dtype=bool)), WORLD)
    assert read_block_sizes(seen) == {"block size at rank 1": 2.0}
    alone = Query("q", np.eye(1))
    assert not count_certain_pairs(replace(seen, judged=replace(judged, query=alone)))


# Calling less often


CALLS: list[str] = []


@probe("count", measures=[Measure("calls")], needs=Policy)
def count_calls(round: Round) -> Values:
    """The number of the call."""
    CALLS.append(round.judged.query.id)
    return {"calls": len(CALLS)}


def test_a_probe_is_called_first_after_a_checkpoint_and_then_every_few_rounds() -> None:
    CALLS.clear()
    records = run(PDGD(), (make_probe("count", every=4),))
    stops = PROTOCOL.checkpoint_rounds()
    calls = [len(range(start, end, 4)) for start, end in pairwise(stops)]
    assert len(CALLS) == sum(calls)
    ends = np.cumsum(calls)
    means = [np.mean(range(end - n + 1, end + 1)) for n, end in zip(calls, ends, strict=True)]
    assert list(values(records, "calls").values()) == means


def test_a_sum_of_few_looks_estimates_the_whole() -> None:
    exact, rough = (
        values(run(PairRank(), (make_probe("regret-bound", every=every),)), "bound on pairwise regret")
        for every in (1, 4)
    )
    assert rough[60] == pytest.approx(exact[60], rel=0.5)
    assert all(later >= earlier for earlier, later in pairwise(exact.values()))


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "blocks", "every": 0},
        {"name": "certain", "top": 1},
        {"name": "block-size", "ranks": (0,)},
        {"name": "block-size", "ranks": ()},
        {"name": "block-size-by-position", "queries": 0},
        {"name": "cosine", "regularisation": 0},
        {"name": "duels", "top": 0},
    ],
)
def test_probes_that_could_read_nothing_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="found"):
        make_probe(**settings)


def test_names_and_settings_that_do_not_exist_are_refused() -> None:
    with pytest.raises(SettingError, match="no probe is called 'block': did you mean"):
        make_probe("block")
    with pytest.raises(SettingError, match="blocks has no setting 'top'"):
        make_probe("blocks", top=3)
    with pytest.raises(SettingError, match="cosine has no setting 'every'"):  # it is called at checkpoints
        make_probe("cosine", every=3)
    with pytest.raises(SettingError, match="two probes are called 'blocks'"):
        probe("blocks", measures=(), needs=Policy)(count_calls)


@probe("surprise", measures=[Measure("expected")], needs=Policy)
def give_another_name(round: Round) -> Values:
    return {"unexpected": 1.0}


def test_a_value_without_a_measure_is_refused() -> None:
    with pytest.raises(SettingError, match="the probe surprise gave 'unexpected'"):
        run(PDGD(), (make_probe("surprise"),))


@pytest.mark.parametrize("kind", PROBES.values(), ids=str)
def test_a_probe_measures_under_its_own_name_what_it_reads(kind: type[Probe]) -> None:
    own = kind()
    assert repr(own).startswith(f"{own.kind.name}(")
    assert pickle.loads(pickle.dumps(own)) == own
    assert {measure.kind for measure in own.measures.values()} <= {own.kind.name, ""}


# Probes in a sweep

SWEEP = Sweep(
    data=["linear(queries=20)"],
    users={"perfect": PresetUser("perfect")},
    policies={"pairrank": PairRank(), "random": Random()},
    seeds=[0],
    protocol=Protocol(rounds=20, checkpoints=2),
    probes={"blocks": make_probe("blocks")},
)


def test_probes_are_values() -> None:
    for each in ALL:
        assert pickle.loads(pickle.dumps(each)) == each
    assert run_sweep(replace(SWEEP, seeds=range(2)), engine=Pool(2)).equals(
        run_sweep(replace(SWEEP, seeds=range(2)))
    )


def test_the_spec_names_the_probes(tmp_path: Path) -> None:
    run_sweep(replace(SWEEP, main_metrics=["blocks"]), tmp_path)
    spec = json.loads((tmp_path / "spec.json").read_text())
    assert (spec["probes"], spec["main_metrics"]) == ({"blocks": "blocks()"}, ["blocks"])


def test_a_run_with_other_probes_is_another_run() -> None:
    bare, other = replace(SWEEP, probes={}), replace(SWEEP, probes={"blocks": make_probe("blocks", every=5)})
    dataset = SWEEP.dataset(SWEEP.cells()[0].fold)
    for cell, differs in zip(SWEEP.cells(), (True, False), strict=True):  # there is nothing to read in random
        keys = {cell_key(sweep, cell, dataset) for sweep in (SWEEP, bare, other)}
        assert len(keys) == (3 if differs else 1)
        assert cell_key(replace(SWEEP, main_metrics=["blocks"]), cell, dataset) in keys


def test_two_probes_of_a_kind_are_refused() -> None:
    with pytest.raises(SettingError, match="two probes of a kind"):
        replace(
            SWEEP, probes={"often": make_probe("blocks", every=1), "seldom": make_probe("blocks", every=50)}
        )
