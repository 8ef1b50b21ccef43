"""Every experiment answers what it asks, by names that the command line understands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankloop.cli.lab.sweep_inputs import read_spec_file
from rankloop.errors import SettingError
from rankloop.lab.analysis.sweep_analysis import analyse_sweep
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.data import FeatureGroups
from rankloop.lab.report.sweep_report_page import write_report
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.suites import EXPERIMENTS, Experiment, find_experiment
from rankloop.lab.suites.experiment_runner import compute_table, describe_claims, make_sweep, write_parts
from rankloop.lab.suites.paper_items import read_experiments
from rankloop.lab.sweeps.engines import InProcess, Pool
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep_spec import sweep_id
from rankloop.naming import split_names
from rankloop.policies import Policy
from rankloop.policies.policy_names import read_policy, write_policy

SMALL = "linear(queries=15)"
VISITORS = "ads(queries=300, test_queries=60, ads=3)"
SMALL_SHOP = "shop(users=60, items=24)"
SWEEPS = [name for name, each in EXPERIMENTS.items() if each.kind == "sweep"]
TABLES = [name for name, each in EXPERIMENTS.items() if each.kind == "table"]


@pytest.mark.parametrize("name", SWEEPS)
def test_a_sweep_is_made_of_names_and_measures_what_it_is_about(name: str) -> None:
    experiment = EXPERIMENTS[name]
    sweep = make_sweep(experiment)
    for text, policy in sweep.policies.items():
        assert repr(read_policy(write_policy(policy, ALL_POLICIES), ALL_POLICIES)) == repr(policy)
        assert split_names(text) == [text]
    measured = {measure.profile or measure.name for measure in sweep.measures.values()}
    assert set(experiment.main_metrics) <= measured
    assert (list(sweep.policies), list(sweep.users)) == (experiment.policies, experiment.users)


def hardly_trained(policy: Policy) -> Policy:
    """Whoever is trained before the first round, by a few steps: 2,000 take longer than all rounds."""
    return replace(policy, steps=5) if isinstance(policy, OfflineRankNet) else policy


@pytest.mark.parametrize(
    "name", ["classic/baselines", "pairrank/fig7", "dsp/fig3c", "fair/fig3.8", "neural/fig6"]
)
def test_a_report_draws_what_a_sweep_is_about(name: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    groups = FeatureGroups(feature=1, threshold=0.5) if experiment.groups else None
    sweep = make_sweep(experiment, data=[SMALL], rounds=6, seeds=1, groups=groups)
    sweep = replace(sweep, policies={key: hardly_trained(each) for key, each in sweep.policies.items()})
    results = run_sweep(sweep, tmp_path)
    write_report(analyse_sweep(results, sweep), tmp_path)
    if experiment.main_metrics:
        assert len(list(tmp_path.glob("*.png"))) == len(experiment.main_metrics)


def test_a_sweep_may_have_other_data_rounds_and_seeds() -> None:
    sweep = make_sweep(EXPERIMENTS["pairrank/fig6"], data=[SMALL], rounds=7, seeds=2)
    assert (sweep.data, sweep.protocol, len(sweep.seeds)) == ([SMALL], Protocol(rounds=7, checkpoints=25), 2)


def test_figures_3_and_4_share_their_runs(tmp_path: Path) -> None:
    for figure in ("pairrank/fig3", "pairrank/fig4"):
        sweep = make_sweep(EXPERIMENTS[figure], data=[SMALL], rounds=3, seeds=1)
        run_sweep(sweep, tmp_path)
    assert len(list((tmp_path / "runs").iterdir())) == len(set(map(sweep.representative, sweep.cells())))


def test_every_linear_policy_has_its_cosine() -> None:
    experiment = EXPERIMENTS["pairrank/fig5"]
    results = run_sweep(make_sweep(experiment, data=[SMALL], rounds=5, seeds=1))
    found = results.filter(pl.col("metric") == experiment.main_metrics[0])["policy"].unique().to_list()
    assert set(found) == set(experiment.policies)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_computed_and_written(name: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    small = SMALL if experiment.data else ""
    if name.startswith("recommend/"):
        small = SMALL_SHOP
    if name.startswith("ads/"):
        small = VISITORS
    parts = compute_table(experiment, data=small, quick=True)
    files = write_parts(parts, tmp_path, name)
    assert [pl.read_csv(file).height for file in files] == [part.height for part in parts.values()]


def test_the_tables_of_fixed_items_are_the_papers() -> None:
    losses, feedback = compute_table(EXPERIMENTS["topk/table3.1"]).values()
    assert losses.row(4) == ("312", 0, 2, 1, 3, 3, 5, 4, 6)
    assert feedback.row(3) == ("231", 0, 1, 0, 1, 0, 1, 0, 1)
    probabilities, means, regrets = compute_table(EXPERIMENTS["topk/tableB.1"]).values()
    assert probabilities.row(1) == ("p~", 0.0, 0.3, 0.0, 0.0, 0.15, 0.15, 0.4, 0.0)
    assert means.rows()[2:] == [("G/Z, p", 0.3533, 0.392, 0.3226), ("G/Z, p~", 0.3339, 0.3339, 0.4)]
    assert dict(regrets.rows()) == {"NDCG": 0.0142, "DCG": 0.0}


def test_each_loss_has_the_bounds_that_hold_for_it() -> None:
    world = "linear(queries=20, test_queries=10)"
    parts = compute_table(EXPERIMENTS["theory/table4.1"], data=world, quick=True)
    assert {loss: part["theorem"].to_list() for loss, part in parts.items()} == {
        "ListNet": ["Thm 35", "Thm 36", "Cor 37", "Cor 43", "Thm 44"],
        "SmoothDCG": ["Cor 37"],
        "RankSVM": ["Thm 35", "Thm 36", "Cor 37"],
    }


def test_what_can_be_learned_from_how_many_grades() -> None:
    (table,) = compute_table(EXPERIMENTS["topk/observability"]).values()
    found = {(items, name): (first, fast, rate) for items, name, first, fast, rate in table.rows()}
    auc = {3: (1, 2), 4: (3, 4), 5: (3, 5)}
    for items in (3, 4, 5):
        for name in ("SumLoss", "PairwiseLoss", "DCG"):
            assert found.pop((items, name)) == (1, items - 1, "T^(2/3)")
        for name in ("NDCG", "AP"):
            assert found.pop((items, name)) == (items - 1, items, "T")
        assert found.pop((items, "AUC"))[:2] == auc[items]
        for n in range(1, items):
            assert found.pop((items, f"Precision@{n}")) == (1, 1, "T^(1/2)")
    assert found == {}


def test_a_table_refuses_what_it_does_not_take() -> None:
    with pytest.raises(SettingError, match="from its definition alone, found data 'mq2008'"):
        compute_table(EXPERIMENTS["topk/table3.1"], data="mq2008")
    with pytest.raises(SettingError, match="computed in one process: leave --engine out"):
        compute_table(EXPERIMENTS["topk/table3.1"], engine=InProcess())


def test_a_table_may_be_given_processes_that_it_does_not_need() -> None:
    parts = compute_table(EXPERIMENTS["topk/table3.1"], engine=Pool(2))
    assert list(parts) == ["losses", "feedback"]


def test_an_engine_fits_the_models_of_a_table() -> None:
    experiment = EXPERIMENTS["recommend/fig4.3"]
    here, elsewhere = (
        compute_table(experiment, data=SMALL_SHOP, quick=True, engine=engine)
        for engine in (None, InProcess())
    )
    assert here["pairs"].equals(elsewhere["pairs"])


def test_a_sweep_that_mixes_clicks_and_grades_can_be_run_again_from_its_spec(tmp_path: Path) -> None:
    sweep = make_sweep(EXPERIMENTS["topk/one-protocol"], data=[SMALL], rounds=5, seeds=1)
    run_sweep(sweep, tmp_path)
    again = read_spec_file(tmp_path / "spec.json")
    assert again.judges == sweep.judges
    assert sweep_id(again) == sweep_id(sweep)


def test_claims_are_those_of_figures_and_tables_and_the_notes_of_an_experiment() -> None:
    assert describe_claims(find_experiment("safe/off-policy")).keys() == {"note 1", "note 2", "note 3"}
    assert (
        "smallest under navigational"
        in describe_claims(find_experiment("pairrank/fig7"))["figure 7b, WWW 2021"]
    )


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"polices": ["pdgd"]}, "has no field 'polices': did you mean 'policies'"),
        ({"policies": ["$thee"]}, "no list is called 'thee'"),
        ({"policies": ["$two"], "compare_with": "first"}, "compare_with is \"next\".*found 'first'"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused(entry: dict[str, Any], complaint: str) -> None:
    found = {"lists": {"two": ["pdgd", "mgd"]}, "experiments": {"mine": {"question": "?", **entry}}}
    with pytest.raises(SettingError, match=complaint):
        read_experiments("own.toml", found)


def test_lists_of_a_file_are_filled_in_and_compared() -> None:
    entry = {"question": "?", "policies": ["$two", "mgd(step=0.5)"], "compare_with": "without settings"}
    found = read_experiments("own.toml", {"lists": {"two": ["pdgd", "mgd"]}, "experiments": {"mine": entry}})
    assert found["mine"] == Experiment(
        id="mine",
        source="own",
        question="?",
        policies=["pdgd", "mgd", "mgd(step=0.5)"],
        compare_with={"mgd(step=0.5)": "mgd"},
    )
