"""The base install ranks, learns and keeps a log; what it lacks is named with the extra that brings it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SERVE = ("litestar", "uvicorn", "httptools", "prometheus_client", "jinja2")
LAB = ("polars", "altair", "vl_convert")
OTHERS = ("threadpoolctl", "sklearn", "lightgbm", "torch", "psycopg", "ray", "textblob", "onnx", "pandas")
COMMAND = ("click", "typer", "rich", "msgspec")

BLOCK = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def run(blocked: tuple[str, ...], script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A script in a new process that cannot import some modules."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BLOCK.format(blocked=set(blocked)) + script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def python_examples() -> list[str]:
    """The Python blocks of the README that need no server: the service in one's own process, and a policy."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.M)
    return [block for block in blocks if "RankingService(" in block or "PairRank()" in block]


def test_the_base_install_runs_the_examples_of_the_readme(tmp_path: Path) -> None:
    examples = python_examples()
    assert len(examples) >= 2
    for number, example in enumerate(examples):
        (folder := tmp_path / str(number)).mkdir()
        done = run((*SERVE, *LAB, *OTHERS), example, folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "module",
    [
        *("policies", "checks", "evaluation", "exposure", "recommend", "metrics", "interleaving"),
        *("lab.users", "lab.theory", "lab.baselines", "lab.simulation.loop"),
    ],
)
def test_the_core_and_the_simulator_need_numpy_and_scipy_only(module: str, tmp_path: Path) -> None:
    done = run((*SERVE, *LAB, *OTHERS, *COMMAND), f"import rankloop.{module}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_log_is_backed_up_and_restored_without_an_extra(tmp_path: Path) -> None:
    script = """
from pathlib import Path
from rankloop.service.extensions.registry import load_registry
from rankloop.service.operations.backup import back_up, restore
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.store import Decision, write

with DataDirectory(Path("data")).open() as log:
    write(log, lambda transaction: transaction.append(Decision(at=1.0, ranker="shop", kind="mode")))
for name in ("log.db", "log.jsonl"):
    back_up(DataDirectory(Path("data")), Path(name), said={})
    restore(Path(name), DataDirectory(Path("copy of " + name)), load_registry().part_types)
"""
    done = run((*SERVE, *LAB, *OTHERS), script, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "missing", "extra"),
    [
        (["serve"], SERVE, "serve"),
        (["lab", "compare", "--rounds", "2"], LAB, "lab"),
        (["lab", "compare-recommenders"], LAB, "lab"),
        (["demo"], SERVE, "serve"),
    ],
)
def test_a_command_names_the_extra_it_misses(
    command: list[str], missing: tuple[str, ...], extra: str, tmp_path: Path
) -> None:
    done = run(
        missing, f"sys.argv = ['rankloop', *{command!r}]\nfrom rankloop.cli import app\napp()", tmp_path
    )
    assert done.returncode == 2, done.stderr
    sentence = " ".join(done.stderr.split())
    assert f"Expected the extra package `{extra}`, found none" in sentence
    assert f"run `pip install 'rankloop[{extra}]'`" in sentence


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["evaluate", "nowhere"], "nowhere holds no log of a service"),
        (["lab", "data", "info", "linear(queries=3, test_queries=2)"], "documents"),
        (["lab", "recommend", "explain", "--help"], "rankloop lab recommend explain"),
        (["lab", "--help"], "compare-recommenders"),
    ],
)
def test_a_command_that_needs_no_extra_does_without(command: list[str], says: str, tmp_path: Path) -> None:
    script = f"sys.argv = ['rankloop', *{command!r}]\nfrom rankloop.cli import app\napp()"
    done = run((*SERVE, *LAB, *OTHERS), script, tmp_path)
    assert says in " ".join((done.stdout + done.stderr).split()), done.stderr
    assert "Expected the extra" not in done.stderr


def test_help_needs_no_extra(tmp_path: Path) -> None:
    script = "sys.argv = ['rankloop', '--help']\nfrom rankloop.cli import app\napp()"
    done = run((*SERVE, *LAB, *OTHERS, "numpy", "scipy"), script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "serve" in done.stdout
