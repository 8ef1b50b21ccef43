"""The map of the source: every folder is on it, nothing is invented, and it says what the source says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.test_docs import ROOT

SOURCE = ROOT / "src" / "rankloop"
MAP = dict(
    re.findall(r"^\| `(\S+)` \| (.+) \|$", (ROOT / "docs" / "map.md").read_text("utf-8"), re.MULTILINE)
)
FOLDERS = sorted(path.parent for path in SOURCE.glob("*/**/__init__.py"))
TOP = sorted(path for path in SOURCE.glob("*.py") if not path.name.startswith("__"))
BY_FILE = sorted(
    path
    for folder in ("service", "store")
    for path in SOURCE.glob(f"{folder}/**/*.py")
    if path.name != "__init__.py"
)


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix() + ("/" if path.is_dir() else "")


def first_line(path: Path) -> str:
    """What a folder or a file says it is."""
    text = (path / "__init__.py" if path.is_dir() else path).read_text("utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


@pytest.mark.parametrize("path", [*FOLDERS, *TOP, *BY_FILE], ids=name)
def test_the_map_says_what_the_source_says(path: Path) -> None:
    line = first_line(path).removesuffix(".")
    assert MAP.get(name(path)) == line, f"docs/map.md should have the line | `{name(path)}` | {line} |"


def test_nothing_on_the_map_is_invented() -> None:
    assert set(MAP) == {name(path) for path in (*FOLDERS, *TOP, *BY_FILE)}


def test_every_folder_with_source_is_a_package() -> None:
    assert {path.parent for path in SOURCE.glob("*/**/*.py")} == set(FOLDERS)
