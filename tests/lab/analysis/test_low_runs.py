"""Low runs are counted against what is usual in their world, and tables show them to whoever asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from rankloop.cli.lab.spec import from_spec
from rankloop.lab.analysis.policy_summaries import summarise
from rankloop.lab.report.sweep_report_page import write_report
from rankloop.lab.report.worst_table import worst_table
from rankloop.lab.suites import SUITES

Runs = Mapping[str, Mapping[str, Sequence[float]]]  # by policy and world
WORLDS: Runs = {
    "steady": {"easy": (0.80, 0.82, 0.84), "hard": (0.40, 0.41, 0.35)},
    "bold": {"easy": (0.90, 0.86, 0.50), "hard": (0.20, 0.42, 0.43)},
    "oracle": {"easy": (0.99, 0.99, 0.99), "hard": (0.99, 0.99, 0.99)},
}
LOW = {"steady": 1, "bold": 2, "oracle": 0}  # below 7/8 of .86 and of .42: .7525, .3675


def results(values: Runs, metric: str = "offline nDCG@10", sign: float = 1.0) -> pl.DataFrame:
    rows = [
        ("worlds", fold, "user", policy, seed, 9, metric, sign * value)
        for policy, folds in values.items()
        for fold, runs in folds.items()
        for seed, value in enumerate(runs)
    ]
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_a_run_is_low_by_what_is_usual_in_its_world() -> None:
    """An oracle that is shown for reference only says nothing of what is usual."""
    rows = {row.policy: row for row in summarise(results(WORLDS), outside=["oracle"])}
    assert {policy: row.low_runs for policy, row in rows.items()} == LOW
    assert {policy: row.worst for policy, row in rows.items()} == {
        "steady": 0.35,
        "bold": 0.2,
        "oracle": 0.99,
    }


def test_where_less_is_better_high_runs_are_the_low_ones() -> None:
    turned = {policy: {"one": [2 - value for value in runs["easy"]]} for policy, runs in WORLDS.items()}
    rows = {row.policy: row for row in summarise(results(turned, "pairwise regret"), outside=["oracle"])}
    assert rows["bold"].low_runs == 1  # 1.5; usual is 1.14
    assert rows["steady"].low_runs == 0
    assert rows["bold"].worst == pytest.approx(1.5)


def test_a_world_in_which_all_fail_has_no_low_run() -> None:
    rows = summarise(results({"a": {"one": (0.1, 0.1)}, "b": {"one": (0.1, 0.1)}}))
    assert [row.low_runs for row in rows] == [0, 0]


def test_the_tables_show_them() -> None:
    console = Console(width=100, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(worst_table(summarise(results(WORLDS)[:12]), metric="offline nDCG@10"))
    text = capture.get()
    assert "0.3500, 1 of 6 low" in text
    assert "0.2000, 2 of 6 low" in text
    assert "by more than an eighth worse than the median" in " ".join(text.split())


def test_the_report_has_them_only_where_a_suite_asks(tmp_path: Path) -> None:
    asked = write_report(results(WORLDS), tmp_path / "asked", worst_runs=True).read_text("utf-8")
    plain = write_report(results(WORLDS), tmp_path / "plain").read_text("utf-8")
    assert "of 6 low" in asked
    assert "of 6 low" not in plain


def test_a_suite_that_asks_for_worst_runs_does_so_from_its_spec(tmp_path: Path) -> None:
    for name, asks in (("safe/lock-in", True), ("classic/baselines", False)):
        spec = SUITES[name].sweep().describe()
        (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        assert from_spec(tmp_path / "spec.json").worst_runs is asks
        assert ("worst_runs" in spec) is asks, "specs of other suites, and their ids, are as they were"
