"""What each part of the package needs: every room imports where all that it should not need is blocked."""

from __future__ import annotations

import subprocess
import sys

import pytest

IMPORT_ALL = """
import importlib, sys
from importlib.abc import MetaPathFinder
from pathlib import Path

allowed, rooms = set(sys.argv[1].split()), sys.argv[2].split()

class Block(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in allowed or top.startswith("_sysconfigdata"):
            return None
        raise ModuleNotFoundError(f"{name} is blocked", name=name)

sys.meta_path.insert(0, Block())
import rankloop
root = Path(rankloop.__file__).parent
for room in rooms:
    file = root / f"{room}.py"
    for path in [file] if file.exists() else sorted((root / room).rglob("*.py")):
        name = ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
        if name in sys.argv[3].split():
            continue
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            print(name, "-", error)
"""
NOUNS = "errors candidate charts client"
CORE = """
policies errors types short_text bounds state_fields candidate naming policy caller_order scorers metrics
interleaving exploration learning exposure evaluation checks
"""  # policies first: a file of learning still imports them
LAB = "policies lab/data lab/users lab/theory lab/baselines lab/recommenders lab/simulation"
EXCEPT = "rankloop.lab.data.round_tables"  # reads logs of choices with Polars; nothing imports it on the way


@pytest.mark.parametrize(
    ("rooms", "allowed"),
    [
        pytest.param(NOUNS, "", id="nouns without arrays and the client: the standard library"),
        pytest.param(CORE, "numpy scipy", id="core: NumPy and SciPy"),
        pytest.param("policies recommend", "numpy scipy", id="recommend"),
        pytest.param(LAB, "numpy scipy", id="lab up to simulation"),
    ],
)
def test_a_room_imports_with_everything_blocked_that_it_should_not_need(rooms: str, allowed: str) -> None:
    command = [sys.executable, "-c", IMPORT_ALL, f"rankloop {allowed}", rooms, EXCEPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_room_that_needs_more_would_be_noticed() -> None:
    command = [sys.executable, "-c", IMPORT_ALL, "rankloop numpy scipy", "lab/data/round_tables", ""]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "rankloop.lab.data.round_tables - polars is blocked\n"
