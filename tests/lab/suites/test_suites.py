"""Every suite runs, answers what it asks, and has names that the command line understands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from rankloop.cli.lab.spec import from_spec
from rankloop.errors import SettingError
from rankloop.lab.analysis.sweep_analysis import analyse_sweep
from rankloop.lab.baselines import ALL_POLICIES
from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.data import FeatureGroups
from rankloop.lab.report.sweep_report_page import write_report
from rankloop.lab.simulation.probes import PROBES
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.suites import PICTURES, SUITES, TABLES
from rankloop.lab.suites.paper_items import ComputedTable, Picture, SetsTable, Suite
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep_spec import sweep_id
from rankloop.lab.users import read_user
from rankloop.naming import read_name, split_names
from rankloop.policies import Policy
from rankloop.policies.policy_names import read_policy, write_policy

SETS = ("optdigits", "letter")  # of labelled rows
SMALL = "linear(queries=15)"
FEW_ITEMS = "items(queries=15)"
FEW_VISITORS = "ads(queries=300, test_queries=60, ads=3)"
SMALL_SHOP = "synthetic:shop:users=60,items=24"

DISTINCT = list({id(suite): name for name, suite in SUITES.items()}.values())  # some figures appear twice


def small(suite: Suite) -> str:
    """A small world of the kind that a suite is about."""
    if suite.data[0] in SETS:
        return FEW_VISITORS
    return FEW_ITEMS if "items" in str(suite.data[0]) else SMALL


@pytest.mark.parametrize("name", SUITES)
def test_names_of_a_suite_stand_for_its_values(name: str) -> None:
    sweep = SUITES[name].sweep()
    for text, policy in sweep.policies.items():
        assert repr(read_policy(write_policy(policy, ALL_POLICIES), ALL_POLICIES)) == repr(policy)
        assert split_names(text) == [text]
    for key, user in sweep.users.items():
        assert read_user(key) == user
    for key, probe in sweep.probes.items():
        assert read_name(key, PROBES, noun="probe") == probe


def hardly_trained(policy: Policy) -> Policy:
    """Whoever is trained before the first round, by a few steps: 2,000 take longer than all rounds."""
    return replace(policy, steps=5) if isinstance(policy, OfflineRankNet) else policy


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Finished runs, keyed by what made them: figures of one experiment need them once."""
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize("name", DISTINCT)
def test_a_suite_measures_what_it_is_about(name: str, runs: Path, tmp_path: Path) -> None:
    suite = SUITES[name]
    groups = FeatureGroups(feature=1, threshold=0.5) if suite.groups else None
    sweep = suite.sweep(data=[small(suite)], rounds=6, seeds=1, groups=groups)
    sweep = replace(sweep, policies={key: hardly_trained(each) for key, each in sweep.policies.items()})
    (tmp_path / "runs").symlink_to(runs)
    results = run_sweep(sweep, tmp_path)
    named = {sweep.measures[metric] for metric in results["metric"].unique().to_list()}
    measured = {measure.profile or measure.name for measure in named}
    assert set(suite.about) <= measured
    assert bool(suite.about) == bool(suite.paper)
    write_report(analyse_sweep(results, sweep), tmp_path)
    if suite.about:
        assert len(list(tmp_path.glob("*.png"))) == len(suite.about)


def test_a_suite_may_have_other_data_rounds_and_seeds() -> None:
    sweep = SUITES["pairrank/fig6"].sweep(data=[SMALL], rounds=7, seeds=2)
    assert (sweep.data, sweep.protocol, len(sweep.seeds)) == ([SMALL], Protocol(rounds=7, checkpoints=25), 2)


def test_figures_3_and_4_share_their_runs(tmp_path: Path) -> None:
    for figure in ("pairrank/fig3", "pairrank/fig4"):
        run_sweep(SUITES[figure].sweep(data=[SMALL], rounds=3, seeds=1), tmp_path)
    sweep = SUITES["pairrank/fig3"].sweep(data=[SMALL], rounds=3, seeds=1)
    assert len(list((tmp_path / "runs").iterdir())) == len(set(map(sweep.representative, sweep.cells())))


def test_every_linear_policy_has_its_cosine() -> None:
    suite = SUITES["pairrank/fig5"]
    results = run_sweep(suite.sweep(data=[SMALL], rounds=5, seeds=1))
    found = results.filter(pl.col("metric") == suite.about[0])["policy"].unique().to_list()
    assert set(found) == set(suite.policies)


def test_the_page_of_suites_says_what_the_suites_say() -> None:
    page = (Path(__file__).parents[3] / "docs" / "suites.md").read_text("utf-8")
    known: dict[str, Suite | Picture | ComputedTable] = {**SUITES, **PICTURES, **TABLES}
    for name, suite in known.items():
        said = f"{suite.paper} | " if suite.paper else ""
        assert f"| `{name}` | {suite.title} | {said}`rankloop lab run {name}" in page


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_computed_and_written(name: str, tmp_path: Path) -> None:
    table = TABLES[name]
    shop = table.data == "synthetic:shop"
    plain = SMALL_SHOP if shop else SMALL if table.data else ""
    frames = table.frames(FEW_VISITORS if isinstance(table, SetsTable) else plain, quick=True)
    files = TABLES[name].write(frames, tmp_path, name)
    assert [pl.read_csv(file).height for file in files] == [frame.height for frame in frames.values()]


def test_the_tables_of_fixed_items_are_the_papers() -> None:
    losses, feedback = TABLES["topk/table3.1"].frames().values()
    assert losses.row(4) == ("312", 0, 2, 1, 3, 3, 5, 4, 6)
    assert feedback.row(3) == ("231", 0, 1, 0, 1, 0, 1, 0, 1)
    probabilities, means, regrets = TABLES["topk/tableB.1"].frames().values()
    assert probabilities.row(1) == ("p~", 0.0, 0.3, 0.0, 0.0, 0.15, 0.15, 0.4, 0.0)
    assert means.rows()[2:] == [("G/Z, p", 0.3533, 0.392, 0.3226), ("G/Z, p~", 0.3339, 0.3339, 0.4)]
    assert dict(regrets.rows()) == {"NDCG": 0.0142, "DCG": 0.0}
    with pytest.raises(SettingError, match="nothing but its definition, found data 'mq2008'"):
        TABLES["topk/table3.1"].frames("mq2008")


def test_a_suite_that_mixes_clicks_and_grades_can_be_run_again_from_its_spec(tmp_path: Path) -> None:
    sweep = SUITES["topk/one-protocol"].sweep(data=[SMALL], rounds=5, seeds=1)
    run_sweep(sweep, tmp_path)
    again = from_spec(tmp_path / "spec.json")
    assert again.judges == sweep.judges
    assert sweep_id(again) == sweep_id(sweep)
