"""The notebooks run from top to bottom, show what they say, and are stored without outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


def cells(name: str) -> list[dict[str, Any]]:
    notebook = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    found: list[dict[str, Any]] = notebook["cells"]
    assert len({cell["id"] for cell in found}) == len(found)
    return found


def shown(source: str, names: dict[str, Any]) -> object:
    """Run a cell as a notebook does; what its last line is worth, if that is an expression."""
    body = ast.parse(source)
    last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
    exec(compile(body, "cell", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    render = getattr(value, "_repr_mimebundle_", None)
    assert render is None or render(include=None, exclude=None)  # a chart is drawn
    return value


@pytest.mark.parametrize(
    ("name", "last", "printed"),
    [
        ("research.ipynb", "tables.tex", "| pairrank |"),
        ("shop.ipynb", True, "is better than the caller"),
    ],
)
def test_a_notebook_runs_from_top_to_bottom(
    name: str,
    last: object,
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    values = [shown("".join(cell["source"]), names) for cell in cells(name) if cell["cell_type"] == "code"]
    found = next(value for value in reversed(values) if value is not None)
    assert found == last
    assert printed in capsys.readouterr().out


def test_notebooks_are_stored_without_outputs() -> None:
    assert sorted(path.name for path in NOTEBOOKS.iterdir()) == ["research.ipynb", "shop.ipynb"]
    for name in ("research.ipynb", "shop.ipynb"):
        code = [cell for cell in cells(name) if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
