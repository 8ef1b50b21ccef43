"""`rankloop lab trec`: policies leave runs that can be graded."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.lab.data import read_qrels, read_run

DATA = "linear(queries=40, test_queries=20)"


def asked(*words: str, expect: int = 0) -> str:
    result = CliRunner().invoke(app, ["lab", "trec", *words], env={"COLUMNS": "120"})
    assert result.exit_code == expect, result.output
    return result.output


def test_policies_leave_runs_that_are_graded(tmp_path: Path) -> None:
    written = asked(
        *("write", "--data", DATA, "--policies", "pairrank,random,OfflineRankNet(scorer=Linear(), steps=20)"),
        *("--rounds", "60", "--out", str(tmp_path)),
    ).splitlines()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == 4
    assert all(any(line.endswith(name) for line in written) for name in files)
    (qrels,) = tmp_path.glob("*.qrels")
    runs = sorted(tmp_path.glob("*.run"))
    assert all(set(read_run(run)) == set(read_qrels(qrels)) for run in runs)
    for run in runs:
        run.rename(tmp_path / run.name.split(".")[1])  # short, so that no line is folded
    told = asked(
        "evaluate", str(qrels), f"{tmp_path}/random", f"{tmp_path}/pairrank", "--metrics", "nDCG@10,AP"
    )
    found = dict(re.findall(r"│ (random|pairrank) +│ +([\d.]+) │", told))
    assert float(found["pairrank"]) > float(found["random"]) + 0.1
    assert "20 of 20" in told
    assert "20 test queries: few" in told


def test_mistakes_are_told(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 0.5 me\n1 Q0 b two\n")
    assert "line 2: expected <query> Q0" in asked(
        "evaluate", f"{tmp_path}/qrels", f"{tmp_path}/run", expect=2
    )
    assert "no metric is called" in asked(
        "evaluate", f"{tmp_path}/qrels", f"{tmp_path}/run", "--metrics", "mdcg", expect=2
    )
