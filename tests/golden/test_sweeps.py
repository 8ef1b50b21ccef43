"""Every sweep of the experiments gives the values that it once gave, in small.

A record has the size of the sweep as it stands, and for each cell of a small version (number of the measure,
round, value), with cells and measures numbered in the order of the results. Users, probes and computed tables
have records of their own. All data is made up: nothing is read but what is written here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.data import FeatureGroups, change_name, load
from rankloop.lab.data.best_feature_order import find_best_feature
from rankloop.lab.data.dataset_names import read_dataset_name
from rankloop.lab.simulation.measured_examination import measure_examination
from rankloop.lab.simulation.measures import read_measure
from rankloop.lab.simulation.offline_rankers import train_lambdarank, train_ranknet
from rankloop.lab.simulation.probes import Probe, make_probe
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.suites import EXPERIMENTS, Experiment
from rankloop.lab.suites.experiment_runner import compute_table, make_sweep
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep, UserChoice
from rankloop.lab.users import AdUser, Cascade, LabelJudge, PositionBased, PresetUser
from rankloop.policies import (
    MGD,
    PDGD,
    FairExpPairRank,
    LinUCB,
    OlRankNet,
    PairRank,
    PePairRank,
    Policy,
    Random,
    RTopK,
    RTopKItems,
    Slam,
)
from rankloop.query_set import QuerySet
from rankloop.scorers import MLP
from rankloop.types import Ranking
from tests.golden.records import Numbers, check, check_ids

ROUNDS = 8
DOCUMENTS = "linear(queries=15, test_queries=10)"
SPARSE = "nonlinear(queries=12, test_queries=6)"
ITEMS = "items(queries=15)"
VISITORS = "ads(queries=100, test_queries=30, ads=3)"
SHOP = "shop(users=60, items=24)"

SWEEPS = {
    "s01": "classic/baselines",
    "s02": "classic/stop",
    "s03": "classic/interleaving",
    "s04": "pairrank/fig3",
    "s05": "pairrank/fig4",
    "s06": "pairrank/fig5",
    "s07": "pairrank/fig6",
    "s08": "pairrank/fig2.6",
    "s09": "pairrank/fig7",
    "s10": "pairrank/fig2.7",
    "s11": "pairrank/certain",
    "s12": "pairrank/regret",
    "s13": "pepairrank/fig2.9",
    "s14": "neural/fig4",
    "s15": "neural/fig2.4",
    "s16": "neural/order",
    "s17": "neural/fig5",
    "s18": "neural/fig2.5",
    "s19": "neural/fig6",
    "s20": "neural/training",
    "s21": "p2neurrank/fig2.10",
    "s22": "p2neurrank/fig2.11",
    "s23": "p2neurrank/fig2.12",
    "s24": "p2neurrank/fig2.13",
    "s25": "dsp/table2",
    "s26": "dsp/table3",
    "s27": "dsp/fig2",
    "s28": "dsp/fig3ab",
    "s29": "dsp/fig3c",
    "s30": "dsp/fig3d",
    "s31": "dsp/fig4a",
    "s32": "dsp/fig4b",
    "s33": "explicit/fig2.1",
    "s34": "explicit/fig2.2",
    "s35": "topk/fig3.1",
    "s36": "topk/fig3.2",
    "s37": "topk/fig3.3",
    "s38": "topk/peers",
    "s39": "topk/fig3.4",
    "s40": "topk/fig3.5",
    "s41": "topk/one-protocol",
    "s42": "topk/tuning",
    "s43": "ads/online",
    "s44": "fair/fig3.2",
    "s45": "fair/fig3.4",
    "s46": "fair/fig3.5",
    "s47": "fair/fig3.6",
    "s48": "fair/fig3.7",
    "s49": "fair/fig3.8",
    "s50": "safe/start",
    "s51": "safe/lock-in",
}
CLICK, STOP = (0.05, 0.3, 0.5, 0.7, 0.95), (0.1, 0.2, 0.3, 0.5, 0.6)
USERS: dict[str, tuple[UserChoice, str, tuple[Policy, ...]]] = {
    "u01": (PresetUser("perfect"), DOCUMENTS, (PairRank(), PDGD())),
    "u02": (PresetUser("navigational"), DOCUMENTS, (PairRank(), PDGD())),
    "u03": (PresetUser("informational"), DOCUMENTS, (PairRank(), PDGD())),
    "u04": (PresetUser("navigational", "every"), DOCUMENTS, (PairRank(), MGD())),
    "u05": (PresetUser("informational", "every"), DOCUMENTS, (PairRank(), MGD())),
    "u06": (Cascade(click=CLICK, stop=STOP), DOCUMENTS, (PairRank(), PDGD())),
    "u07": (Cascade(click=CLICK, stop=STOP, stop_at="every"), DOCUMENTS, (PairRank(), PDGD())),
    "u08": (PositionBased(click=CLICK, eta=0.7), DOCUMENTS, (PairRank(), PDGD())),
    "u09": (AdUser(match=0.7, otherwise=0.2), VISITORS, (LinUCB(), Random())),
    "u10": (LabelJudge(), DOCUMENTS, (Slam(), RTopK())),
    "u11": (LabelJudge(top_k=3, noise=0.2), DOCUMENTS, (Slam(), RTopK(top_k=3))),
    "u12": (LabelJudge(whole_query=True, noise=0.1), DOCUMENTS, (Slam(), RTopK())),
    "u13": (LabelJudge(top_k=2), ITEMS, (RTopKItems(top_k=2), Random())),
    "u14": (
        PresetUser("informational"),
        "nonlinear(queries=15, test_queries=5)",
        (PairRank(), PDGD()),
    ),
    "u15": (PresetUser("navigational"), ITEMS, (RTopKItems(), Random())),
}
NEURAL = OlRankNet(scorer=MLP(8), covariance="diagonal", learning_rate=0.01)
KNOWING: tuple[Policy, ...] = (PairRank(), PePairRank(), NEURAL)
PROBES: dict[str, tuple[Probe, tuple[Policy, ...]]] = {
    "r01": (make_probe("block-size-by-position", rounds=(2, 5, 8), queries=4), KNOWING),
    "r02": (make_probe("block-size", every=1), KNOWING),
    "r03": (make_probe("block-size", every=3, ranks=(2, 4)), KNOWING),
    "r04": (make_probe("blocks", every=1), KNOWING),
    "r05": (make_probe("certain", every=1), KNOWING),
    "r06": (make_probe("certain", every=2, top=4), KNOWING),
    "r07": (make_probe("cosine", pairs=500), (PairRank(), MGD())),
    "r08": (make_probe("cosine", teacher="lambdarank", pairs=500, regularisation=0.1), (PairRank(), MGD())),
    "r09": (make_probe("duels"), (MGD(), MGD(step=0.5))),
    "r10": (make_probe("duels", every=2, top=3), (MGD(candidates=2),)),
    "r11": (make_probe("exposure"), (FairExpPairRank(), PairRank())),
    "r12": (
        make_probe("exposure", beta=1.5, epsilon=0.2, examination="log2"),
        (FairExpPairRank(beta=1.5), PairRank()),
    ),
    "r13": (
        make_probe("exposure", examination="reciprocal"),
        (FairExpPairRank(examination="reciprocal"), Random()),
    ),
    "r14": (make_probe("regret-bound"), KNOWING),
    "r15": (make_probe("regret-bound", every=2), KNOWING),
    "r16": (make_probe("uncertain", every=1), KNOWING),
    "r17": (make_probe("violated", every=1), (FairExpPairRank(tolerance=0.1), PairRank())),
}
MEASURES = {
    "m01": ("offline nDCG@5", "online nDCG@5", "cumulative nDCG@5", "average nDCG@5", "first nDCG@5"),
    "m02": ("answerable nDCG@10", "pairwise regret", "online Precision@3", "offline AP", "offline MRR"),
    "m03": ("cumulative ERR@5", "offline DCG@10", "average DCG@10", "online AP@5"),
}
TABLE_DATA = {
    "t01": ("topk/table3.1", ""),
    "t02": ("topk/tableB.1", ""),
    "t03": ("theory/table4.1", "linear(queries=40, test_queries=20)"),
    "t04": ("theory/exploration", "linear(queries=40, test_queries=20)"),
    "t05": ("fair/table3.1", SPARSE),
    "t06": ("ads/table5.1", f"{VISITORS},{VISITORS}"),
    "t07": ("recommend/table4.1", SHOP),
    "t08": ("recommend/table4.2", SHOP),
    "t09": ("recommend/table4.3", SHOP),
    "t10": ("recommend/table4.5", SHOP),
    "t11": ("recommend/fig4.3", SHOP),
    "t12": ("recommend/fig4.5", SHOP),
    "t13": ("recommend/fig4.6", SHOP),
    "t14": ("recommend/fig4.7", SHOP),
    "t15": ("recommend/fig4.8", SHOP),
    "t16": ("recommend/fig4.9", SHOP),
    "t17": ("recommend/fig4.10", SHOP),
    "t18": ("recommend/explanations", SHOP),
    "t19": ("safe/interleaving", "linear(queries=15, test_queries=10)"),
    "t20": ("ads/fig5.1", f"{VISITORS}"),
    "t21": ("ads/fig5.2", f"{VISITORS}"),
}
LEFT_OUT = {  # estimates with records in test_results.py, times, and counts that their test states
    "safe/off-policy",
    "p2neurrank/fig2.14",
    "topk/observability",
}
TAUGHT = {"o01": train_ranknet, "o02": train_lambdarank}


@pytest.mark.parametrize("record", SWEEPS)
def test_sweep(record: str) -> None:
    experiment = EXPERIMENTS[SWEEPS[record]]
    data, groups = small(experiment)
    whole = make_sweep(experiment)
    sweep = make_sweep(experiment, data=data, rounds=ROUNDS, seeds=1, groups=groups)
    policies = {name: hardly_trained(policy) for name, policy in sweep.policies.items()}
    first = dict([next(iter(sweep.users.items()))])
    few = dict(list(policies.items())[:1])
    judges = {name: judge for name, judge in sweep.judges.items() if name in few}
    protocol = whole.protocol
    check(
        record,
        size=[
            protocol.rounds,
            protocol.k,
            protocol.checkpoints,
            experiment.quick_rounds,
            experiment.train_queries,
        ],
        runs=[len(whole.users), len(whole.policies), len(whole.seeds), len(whole.cells())],
        rounds=protocol.checkpoint_rounds(),
        policies=cells_of(replace(sweep, policies=policies, users=first, data=data[:1])),
        users=cells_of(replace(sweep, policies=few, compare_with={}, judges=judges, seeds=(0, 1))),
    )


@pytest.mark.parametrize("record", USERS)
def test_user(record: str) -> None:
    user, data, policies = USERS[record]
    check(record, cells=cells_of(sweep_of(user, data, policies)))


@pytest.mark.parametrize("record", USERS)
def test_what_a_user_does(record: str) -> None:
    """Few rounds hide small changes of a probability, 400 lists do not."""
    choice, data, policies = USERS[record]
    dataset, rng = load(data), np.random.default_rng(21)
    user = sweep_of(choice, data, policies).user("them", dataset)
    said: list[Numbers] = []
    for number in range(400):
        judged = dataset.train[number % len(dataset.train)]
        ranking = Ranking(judged.query, rng.permutation(judged.query.n_docs)[:10])
        feedback = user.respond(ranking, judged.relevance, rng)
        said.append([feedback.ranking.order, feedback.reward, feedback.judged, feedback.truly_examined])
    check(f"k{record[1:]}", said=said)


def test_examination_as_it_is_measured() -> None:
    train = load(DOCUMENTS).train
    position = PositionBased(click=CLICK, eta=0.7)
    cascade = Cascade(click=CLICK, stop=STOP, stop_at="every")
    check(
        "e01", looks=[measure_examination(user, train, 5, lists=500, seed=3) for user in (position, cascade)]
    )


@pytest.mark.parametrize("record", PROBES)
def test_probe(record: str) -> None:
    probe, policies = PROBES[record]
    sweep = sweep_of(PresetUser("informational"), DOCUMENTS, policies)
    groups = FeatureGroups(feature=2, threshold=0.5)
    check(record, cells=cells_of(replace(sweep, probes={"it": probe}, groups=groups)))


@pytest.mark.parametrize("record", MEASURES)
def test_measures(record: str) -> None:
    measures = tuple(read_measure(name) for name in MEASURES[record])
    sweep = sweep_of(PresetUser("informational"), DOCUMENTS, (PairRank(),))
    check(record, cells=cells_of(replace(sweep, protocol=replace(sweep.protocol, measures=measures))))


@pytest.mark.parametrize("record", TAUGHT)
def test_ranker_that_the_labels_teach(record: str) -> None:
    teach: Callable[..., object] = TAUGHT[record]
    train: QuerySet = load(DOCUMENTS).train
    weights = teach(train, pairs=800, seed=2, regularisation=0.5)
    check(record, weights=np.asarray(weights), feature=find_best_feature(train))


@pytest.mark.parametrize("record", TABLE_DATA)
def test_table(record: str) -> None:
    name, data = TABLE_DATA[record]
    parts = compute_table(EXPERIMENTS[name], data=data, quick=True)
    check(record, parts=[numbers_of(frame) for frame in parts.values()])


def test_all_are_here() -> None:
    kinds = {
        kind: [each.id for each in EXPERIMENTS.values() if each.kind == kind] for kind in ("sweep", "table")
    }
    assert sorted(SWEEPS.values()) == sorted(kinds["sweep"])
    assert sorted([*LEFT_OUT, *(name for name, _ in TABLE_DATA.values())]) == sorted(kinds["table"])
    said = [f"k{record[1:]}" for record in USERS]
    check_ids([*SWEEPS, *USERS, *said, "e01", *PROBES, *MEASURES, *TAUGHT, *TABLE_DATA])


def small(experiment: Experiment) -> tuple[list[str], FeatureGroups | None]:
    """Small data of the kinds that a sweep is about, and how to make groups in it."""
    names = experiment.data or ("nonlinear",)
    if experiment.own_groups:
        return [SPARSE], FeatureGroups(**experiment.own_groups)
    if names[0] in ("optdigits", "letter"):
        return [VISITORS], None
    if names[0].startswith("items"):
        return [ITEMS], None
    orders = [str(order) for name in names if (order := read_dataset_name(name)[1].get("caller_order"))]
    several = any(isinstance(read_dataset_name(name)[1].get("seed"), tuple) for name in names)
    world = change_name(DOCUMENTS, seed=(3, 4)) if several else DOCUMENTS
    plain = [] if orders and len(names) == 1 else [world]
    return [*plain, *(change_name(world, caller_order=order) for order in orders)], None


def hardly_trained(policy: Policy) -> Policy:
    """Whoever is trained before the first round, by a few steps: 2,000 take longer than all rounds."""
    return replace(policy, steps=3) if isinstance(policy, OfflineRankNet) else policy


def sweep_of(user: UserChoice, data: str, policies: tuple[Policy, ...]) -> Sweep:
    return Sweep(
        data=[data],
        users={"them": user},
        policies={str(number): policy for number, policy in enumerate(policies)},
        seeds=(0, 5),
        protocol=Protocol(rounds=ROUNDS, k=6, checkpoints=4),
    )


def cells_of(sweep: Sweep) -> list[list[tuple[int, int, float]]]:
    """For each cell, in the order of the results, (number of the measure, round, value)."""
    measures: dict[str, int] = {}
    cells: dict[object, list[tuple[int, int, float]]] = {}
    for row in run_sweep(sweep).iter_rows(named=True):
        number = measures.setdefault(row["metric"], len(measures))
        cell = (row["data"], row["fold"], row["user"], row["policy"], row["seed"])
        cells.setdefault(cell, []).append((number, row["round"], row["value"]))
    return list(cells.values())


def numbers_of(frame: pl.DataFrame) -> list[Numbers]:
    """The columns with numbers, from left to right; what is missing is None."""
    return [column.to_list() for column in frame.iter_columns() if column.dtype.is_numeric()]
