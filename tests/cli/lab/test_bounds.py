"""rankloop lab bounds: a table, its constants, and a plain word about what it is not."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from rankloop.cli import app

WORLD = ["--data", "linear(queries=20, test_queries=10)"]


@pytest.mark.parametrize(
    ("loss", "rows"),
    [
        ("listnet", ["Thm 35", "Thm 36", "Cor 37", "Cor 43", "Thm 44"]),
        ("rank-svm", ["Thm 35", "Thm 36", "Cor 37"]),
        ("smooth-dcg", ["Cor 37"]),
    ],
)
def test_each_loss_has_the_bounds_that_hold_for_it(loss: str, rows: list[str]) -> None:
    done = CliRunner().invoke(app, ["lab", "bounds", *WORLD, "--loss", loss], catch_exceptions=False)
    assert done.exit_code == 0
    assert re.findall(r"^(?:Thm|Cor) \d\d", done.stdout, re.MULTILINE) == rows
    assert "20 training queries" in done.stdout
    assert "no guarantee" in done.stdout


def test_an_unknown_loss_is_refused_with_a_suggestion() -> None:
    done = CliRunner().invoke(app, ["lab", "bounds", *WORLD, "--loss", "listnett"])
    assert done.exit_code
    assert "did you mean 'listnet'" in done.output
