"""The examples run as they are, and stay as short as promised."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
ESSENTIAL = {
    "compare.py": "| random |",
    "own_policy.py": "| Rocchio |",
    "own_network.py": "| own network |",
    "click_by_click.py": "learned: blue, red, green, white",
}


def lines_of_code(source: str) -> int:
    """Lines that are neither blank, nor comment, nor import, nor the docstring at the beginning."""
    docstring = ast.parse(source).body[0]
    assert isinstance(docstring, ast.Expr), "an example starts with a docstring"
    lines = source.splitlines()[docstring.end_lineno :]
    return sum(bool(line.strip()) and not line.startswith(("#", "from ", "import ")) for line in lines)


def test_every_example_is_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(ESSENTIAL)


@pytest.mark.parametrize("name", ESSENTIAL)
def test_example_runs_without_a_warning(name: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", "HOME": str(tmp_path), "PATH": ""},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ESSENTIAL[name] in ran.stdout
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"


@pytest.mark.parametrize("name", ESSENTIAL)
def test_example_says_how_to_run_it(name: str) -> None:
    docstring = ast.get_docstring(ast.parse((EXAMPLES / name).read_text("utf-8")))
    assert docstring
    assert f"`python examples/{name}`" in docstring


@pytest.mark.parametrize(("name", "most"), [("own_policy.py", 25), ("compare.py", 8)])
def test_example_is_short(name: str, most: int) -> None:
    assert lines_of_code((EXAMPLES / name).read_text("utf-8")) <= most
