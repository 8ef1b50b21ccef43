"""Every suite runs, answers what it asks, and has names that the command line understands."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from rankloop.cli import names
from rankloop.experiments import PICTURES, SUITES, Picture, Protocol, Suite, conduct, execute, write_report
from rankloop.spelling import spell

SMALL = "synthetic:linear:queries=15"


@pytest.mark.parametrize("name", SUITES)
def test_names_of_a_suite_stand_for_its_values(name: str) -> None:
    sweep = SUITES[name].sweep()
    for text, policy in sweep.policies.items():
        assert repr(names.policy(spell(policy))) == repr(policy)
        assert names.split_names(text) == [text]
    for key, user in sweep.users.items():
        assert names.user(key) == user
    for key, probe in sweep.probes.items():
        assert names.probe(key) == probe


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_measures_what_it_is_about(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    sweep = suite.sweep(data=[SMALL], rounds=12, seeds=1)
    results = conduct(sweep, tmp_path)
    named = {sweep.measures[metric] for metric in results["metric"].unique().to_list()}
    measured = {measure.profile or measure.name for measure in named}
    assert set(suite.about) <= measured
    assert bool(suite.about) == bool(suite.paper)
    write_report(results, tmp_path, measures=sweep.measures, about=sweep.about)
    if suite.about:
        assert len(list(tmp_path.glob("*.png"))) == len(suite.about)


def test_a_suite_may_have_other_data_rounds_and_seeds() -> None:
    sweep = SUITES["pairrank/fig6"].sweep(data=[SMALL], rounds=7, seeds=2)
    assert (sweep.data, sweep.protocol, len(sweep.seeds)) == ([SMALL], Protocol(rounds=7, checkpoints=25), 2)


def test_figures_3_and_4_share_their_runs(tmp_path: Path) -> None:
    for figure in ("pairrank/fig3", "pairrank/fig4"):
        execute(SUITES[figure].sweep(data=[SMALL], rounds=3, seeds=1), ledger=tmp_path)
    sweep = SUITES["pairrank/fig3"].sweep(data=[SMALL], rounds=3, seeds=1)
    assert len(list(tmp_path.glob("*.parquet"))) == len({sweep.source(run) for run in sweep.runs()})


def test_every_linear_policy_has_its_cosine() -> None:
    suite = SUITES["pairrank/fig5"]
    results = execute(suite.sweep(data=[SMALL], rounds=5, seeds=1))
    found = results.filter(pl.col("metric") == suite.about[0])["policy"].unique().to_list()
    assert set(found) == set(suite.policies)


def test_the_page_of_suites_says_what_the_suites_say() -> None:
    page = (Path(__file__).parents[2] / "docs" / "suites.md").read_text("utf-8")
    known: dict[str, Suite | Picture] = {**SUITES, **PICTURES}
    for name, suite in known.items():
        assert (
            f"| `{name}` | {suite.title} | {suite.paper}{' | ' if suite.paper else ''}`rankloop run {name}"
            in page
        )
