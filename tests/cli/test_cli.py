"""The command line as a person uses it: real processes, real files."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.cli.commands import import_all
from rankloop.cli.lab.lab_commands import LAB_COMMANDS
from tests.support.waiting import wait_until

SMALL = ["--data", "linear(queries=20)", "--rounds", "30", "--seeds", "2", "--workers", "1"]
QUICK = ["--quick", "--data", "linear(queries=20)", "--rounds", "20", "--workers", "1"]


def rankloop(*arguments: str, cwd: Path | None = None, expect: int = 0) -> str:
    """Run the command in a process of its own, as a person does, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "rankloop", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        env={**os.environ, "COLUMNS": "160", "NO_COLOR": "1"},
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


def asked(*arguments: str, expect: int = 0) -> str:
    """The same in this process, which has everything loaded."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == expect, result.output
    return result.output


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("compare") / "out"
    return out, rankloop(
        "lab", "compare", *SMALL, "--policies", "pdgd,random", "--stop", "both", "--out", str(out)
    )


def test_compare_prints_a_table_and_names_the_report(finished: tuple[Path, str]) -> None:
    out, printed = finished
    for word in (
        "offline nDCG@10",
        "cumulative nDCG@10",
        "pdgd",
        "navigational(stop_at=every)",
        "±",
        "100 %",
    ):
        assert word in printed
    assert str(out / "report.html") in printed
    assert {path.name for path in out.iterdir()} >= {
        "results.parquet",
        "spec.json",
        "summary.json",
        "report.html",
        "offline.png",
        "offline.svg",
    }
    results = pl.read_parquet(out / "results.parquet")
    assert results["user"].n_unique() == 5  # perfect users never stop: one reading of them is enough
    assert "stop_at=every" in (out / "report.html").read_text()


def test_the_same_command_again_takes_what_is_there(finished: tuple[Path, str]) -> None:
    out, _ = finished
    before = {path: path.read_bytes() for path in out.glob("*.*")}
    asked("lab", "compare", *SMALL, "--policies", "pdgd,random", "--stop", "both", "--out", str(out))
    assert {path: path.read_bytes() for path in out.glob("*.*")} == before


def test_run_repeats_a_spec(finished: tuple[Path, str], tmp_path: Path) -> None:
    out, _ = finished
    asked("lab", "run", str(out / "spec.json"), "--workers", "1", "--out", str(tmp_path))
    for name in ("results.parquet", "spec.json", "summary.json"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_run_takes_an_experiment(tmp_path: Path) -> None:
    arguments = [*QUICK, "--out", str(tmp_path)]
    printed = " ".join(asked("lab", "run", "classic/interleaving", *arguments).split())
    assert "A quick look, 20 rounds and 2 seeds" in printed
    assert 'class="banner"' in (tmp_path / "report.html").read_text()
    again = " ".join(rankloop("lab", "report", str(tmp_path), "--latex", "--figures", "svg").split())
    assert "A quick look, 20 rounds and 2 seeds" in again
    assert 'class="banner"' in (tmp_path / "report.html").read_text()
    for name in ("tables.tex", "figures.tex"):
        captions = [line for line in (tmp_path / name).read_text().splitlines() if "caption" in line]
        assert captions
        assert all("no numbers for a claim." in line for line in captions)
    assert "Offline means rest on " in printed
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert {row["policy"] for row in rows} >= {"dbgd", "MGD(candidates=49, interleaving=Probabilistic())"}
    asked("lab", "run", str(tmp_path / "spec.json"), "--workers", "1", "--out", str(tmp_path))


def test_an_experiment_of_a_paper_shows_its_figure_and_can_be_repeated(tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    small = [*QUICK, "--out", str(first)]
    printed = asked("lab", "run", "pairrank/fig7", *small)
    assert "figure 7b, WWW 2021: " in printed
    assert "a description, neither better nor worse" in " ".join(printed.split())  # it may be wrapped
    assert "offline nDCG@10" not in printed
    assert {path.name for path in first.glob("*.png")} == {"blocks.png", "block-size-by-position.png"}
    asked("lab", "run", str(first / "spec.json"), "--workers", "1", "--out", str(again))
    for name in ("results.parquet", "spec.json", "summary.json", "blocks.png"):
        assert (again / name).read_bytes() == (first / name).read_bytes()
    asked("lab", "report", str(first))
    assert {path.name for path in first.glob("*.png")} == {"blocks.png", "block-size-by-position.png"}


def test_compare_takes_probes(tmp_path: Path) -> None:
    choice = [
        "--policies",
        "pairrank,pdgd",
        "--users",
        "perfect",
        "--probes",
        "block-size(ranks=(1,2)),cosine",
    ]
    asked("lab", "compare", *SMALL, *choice, "--out", str(tmp_path))
    metrics = set(pl.read_parquet(tmp_path / "results.parquet")["metric"].to_list())
    assert {"block size at rank 2", "cosine to offline RankNet"} <= metrics
    asked("lab", "run", str(tmp_path / "spec.json"), "--workers", "1", "--out", str(tmp_path))


def test_a_spec_of_names_that_people_chose_runs(finished: tuple[Path, str], tmp_path: Path) -> None:
    spec = json.loads((finished[0] / "spec.json").read_text())
    spec["policies"] = {
        "ours": "PDGD(learning_rate=0.2)",
        "pdgd": "PDGD(scorer=Linear(), learning_rate=0.1, decay=1.0)",
    }
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    asked("lab", "run", str(path), "--workers", "1", "--out", str(tmp_path / "out"))
    again = json.loads((tmp_path / "out" / "spec.json").read_text())
    assert again["policies"] == {"ours": "PDGD(learning_rate=0.2)", "pdgd": "PDGD()"}


def test_a_spec_may_leave_out_what_nobody_asked_for(finished: tuple[Path, str], tmp_path: Path) -> None:
    spec = json.loads((finished[0] / "spec.json").read_text())
    path = tmp_path / "spec.json"
    path.write_text(
        json.dumps({key: spec[key] for key in spec if key not in ("probes", "main_metrics", "compare_with")})
    )
    asked("lab", "run", str(path), "--workers", "1", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "spec.json").read_bytes() == (finished[0] / "spec.json").read_bytes()


def test_every_metric_can_be_asked_for(tmp_path: Path) -> None:
    wanted = "offline ERR@10, online MRR,offline Precision(relevant_from=2)@5,cumulative nDCG@5"
    choice = ["--policies", "pdgd", "--users", "perfect", "--measures", wanted, "--out", str(tmp_path)]
    printed = asked("lab", "compare", *SMALL, *choice)
    metrics = {each.strip() for each in wanted.split(",")}
    assert set(pl.read_parquet(tmp_path / "results.parquet")["metric"].to_list()) == metrics
    assert all(metric in " ".join(printed.split()) for metric in metrics)  # long titles are wrapped
    before = {name: (tmp_path / name).read_bytes() for name in ("results.parquet", "spec.json")}
    asked("lab", "run", str(tmp_path / "spec.json"), "--workers", "1", "--out", str(tmp_path / "again"))
    assert {name: (tmp_path / "again" / name).read_bytes() for name in before} == before


OWN = """
from dataclasses import dataclass
from rankloop.policies import EpsilonGreedy

@dataclass(kw_only=True, eq=False)
class Bold(EpsilonGreedy):
    boldness: float = 0.5
"""


def test_a_policy_of_ones_own_is_compared_in_other_processes_and_again(tmp_path: Path) -> None:
    (tmp_path / "my_rankers.py").write_text(OWN)
    choice = ["--policies", "my_rankers.Bold(boldness=0.1, epsilon=0.2),pdgd", "--users", "perfect"]
    rankloop("lab", "compare", *SMALL, *choice, "--workers", "2", "--out", "out", cwd=tmp_path)
    spec = json.loads((tmp_path / "out" / "spec.json").read_text())
    name = "my_rankers.Bold(boldness=0.1, epsilon=0.2)"
    assert set(spec["policies"]) == {name, "pdgd"}
    assert spec["policies"][name] == "my_rankers.Bold(epsilon=0.2, boldness=0.1)"
    rankloop("lab", "run", "out/spec.json", "--workers", "1", "--out", "again", cwd=tmp_path)
    for file in ("results.parquet", "spec.json", "summary.json"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "out" / file).read_bytes()


def test_policies_taught_by_labels_are_compared_like_any_other(tmp_path: Path) -> None:
    names = "pdgd,OfflineRankNet(scorer=Linear(), steps=20)"
    printed = asked(
        "lab", "compare", *SMALL, "--policies", names, "--users", "perfect", "--out", str(tmp_path)
    )
    printed = " ".join(printed.split())  # it may be wrapped
    assert (
        "OfflineRankNet(scorer=Linear(), steps=20): taught by the labels, shown for reference only" in printed
    )
    assert json.loads((tmp_path / "spec.json").read_text())["policies"] == {
        "pdgd": "PDGD()",
        "OfflineRankNet(scorer=Linear(), steps=20)": "OfflineRankNet(scorer=Linear(), steps=20)",
    }


def test_policies_are_compared_under_a_user_who_grades(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    policies = "Slam(measure='ap'),ListNet(learning_rate=0.1)"
    users = "labels,labels(top_k=2, noise=0.1)"
    asked("lab", "compare", *SMALL, "--policies", policies, "--users", users, "--out", "out")
    spec = json.loads((tmp_path / "out" / "spec.json").read_text())
    assert list(spec["users"]) == ["labels", "labels(top_k=2, noise=0.1)"]
    asked("lab", "run", "out/spec.json", "--workers", "1", "--out", "again")
    for file in ("results.parquet", "spec.json"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "out" / file).read_bytes()


def test_report_can_be_written_again(finished: tuple[Path, str]) -> None:
    out, _ = finished
    assert "offline nDCG@10" in asked("lab", "report", str(out), "--title", "Once more")
    assert "Once more" in (out / "report.html").read_text()


def test_damaged_results_are_named(finished: tuple[Path, str], tmp_path: Path) -> None:
    out = finished[0]
    for name in ("spec.json", "results.parquet"):
        (tmp_path / name).write_bytes((out / name).read_bytes())
    (tmp_path / "results.parquet").write_bytes(b"junk")
    printed = asked("lab", "report", str(tmp_path), expect=2)
    assert "results.parquet is damaged" in printed
    assert "Traceback" not in printed


def test_list_knows_everything() -> None:
    printed = asked("lab", "list")
    for word in ("PDGD", "EpsilonGreedy", "informational", "nonlinear", "cosine", "pairrank/fig3"):
        assert word in printed


def test_data_commands(tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text("".join(f"{n % 3} qid:{n // 4} 1:{n} 2:0.5\n" for n in range(40)))
    assert "10 queries, 40 documents, 2 features, 3 grades: good" in asked("lab", "data", "check", str(file))
    assert "grades" in asked("lab", "data", "info", "linear")
    assert "ready" in asked("lab", "data", "prepare", str(file))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lab", "compare", "--policies", "pdgdd"], "did you mean 'PDGD'?"),
        (["lab", "compare", "--policies", "my_rankers.Bold"], "no module is called 'my_rankers'"),
        (["lab", "compare", "--policies", "rankloop.policies.Bold"], "rankloop.policies has no class 'Bold'"),
        (["lab", "compare", "--policies", "rankloop.scorers.MLP"], "is no policy"),
        (["lab", "compare", "--measures", "ERR@10"], "no measure is called 'ERR@10'"),
        (["lab", "compare", "--measures", "offline ERRR"], "no metric is called 'ERRR'"),
        (["lab", "compare", "--data", "liner"], "did you mean 'linear'?"),
        (["lab", "compare", "--data", "nowhere"], "RANKLOOP_DATA"),
        (["lab", "compare", "--stop", "never"], "choose from click, every, both"),
        (["lab", "compare", "--probes", "block"], "did you mean 'blocks'?"),
        (["lab", "compare", "--probes", "blocks(every=0)"], "every must be a whole number of at least 1"),
        (["lab", "compare", "--probes", "blocks,blocks(every=2)"], "two probes of a kind"),
        (["lab", "compare", "--users", ""], "users must name at least one"),
        (
            ["lab", "compare", "--policies", "RTopKItems(gain=ndcg)"],
            "RTopKItems: gain must be 'exponential' or 'linear', found ndcg",
        ),
        (["lab", "compare", "--measures", "regret ERR"], "best fixed order in hindsight is known for DCG"),
        (["lab", "run", "classic/base"], "did you mean 'classic/baselines'?"),
        (["lab", "run", "missing.json"], "missing.json"),
        (["lab", "run", "missing.json", "--quick"], "says everything"),
        (["lab", "run", "p2neurrank/fig2.14", "--rounds", "10"], "a table of its own length"),
        (["lab", "report", "missing"], "does not exist"),
        (["lab", "data", "check", "missing.txt"], "missing.txt"),
    ],
)
def test_mistakes_get_one_sentence_and_change_nothing(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = asked(*arguments, expect=2)
    assert message in printed
    assert "Traceback" not in printed
    assert not list(tmp_path.iterdir())


def test_an_output_that_is_a_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    printed = asked("lab", "compare", *SMALL, "--policies", "random", "--out", str(file), expect=2)
    assert "notes.txt: File exists" in printed
    assert "Traceback" not in printed
    assert file.read_text() == "mine"


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    file.write_text("1 qid:1 1:0.5\n0 qid:1 1:abc\n")
    assert "bad.txt, line 2: expected" in asked("lab", "data", "check", str(file), expect=2)


def test_a_spec_of_unknown_values_is_refused(finished: tuple[Path, str], tmp_path: Path) -> None:
    spec = json.loads((finished[0] / "spec.json").read_text())
    spec["users"]["perfect"] = "Cascade(click=(0.1, 0.9))"
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    assert "no spec that can be run again: no user is called" in asked("lab", "run", str(path), expect=2)


@pytest.mark.parametrize(
    "command", [["lab"], *(["lab", each] for each in LAB_COMMANDS), ["lab", "data", "info"]]
)
def test_help_explains(command: list[str]) -> None:
    assert "Usage" in asked(*command, "--help")


@pytest.mark.parametrize(
    ("name", "command"),
    [each for each in import_all(LAB_COMMANDS) if not getattr(each[1], "commands", {})],
)
def test_the_help_of_a_command_of_the_lab_has_examples_that_it_can_read(name: str, command: Any) -> None:
    own = ["rankloop", "lab", *name.split()]
    quoted = [shlex.split(each) for each in re.findall("`([^`]+)`", command.help)]
    examples = [each[len(own) :] for each in quoted if each[: len(own)] == own]
    assert examples
    for arguments in examples:
        command.make_context(name, list(arguments))
    assert " ".join(own) in asked("lab", *name.split(), "--help")


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["lab", "compare", "--data", "linear", "--rounds", "2000", "--seeds", "3", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "rankloop", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: list((out / "runs").glob("*.parquet")))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everyone
    printed = "".join(process.communicate(timeout=120))
    assert process.returncode == 130, printed
    assert "Stopped. Run the same command again to continue" in printed
    assert "Traceback" not in printed
    assert not [path for path in out.rglob("*") if path.name.startswith(".")]
    assert not (out / "results.parquet").exists()
