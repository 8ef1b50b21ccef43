"""A wheel in a clean environment: what each install promises runs, and what it lacks is named."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_extras import ROOT, python_examples

OFFLINE = re.compile(r"No matching distribution found|NewConnectionError|ConnectionError|name resolution")
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]

LOADED = """
import sys
before = set(sys.modules)
import rankloop.policies, rankloop.checks, rankloop.recommend, rankloop.evaluation
found = {name: module for name, module in sys.modules.items() if name not in before}
homes = {str(getattr(module, "__file__", "")).partition("site-packages")[2].split("/")[1:2][0]
         for module in found.values() if "site-packages" in str(getattr(module, "__file__", ""))}
print(" ".join(sorted(homes)))
"""

SERVED = """
from urllib.request import urlopen
from rankloop import RankingService
from rankloop.service.http import AppContext, Keys, running
from rankloop.service.pages import Pages, page_routes

service = RankingService("shop.db", background=True)
service.rankers.create("shop")
context = AppContext(
    service=service.facade, keys=Keys.fresh()[0], routes=page_routes(Pages(public=True))
)
with running(context) as url:
    for path in ("/v1/health", "/overview", "/learned?ranker=shop", "/assets/style.css", "/assets/vega.js"):
        with urlopen(url + path) as answer:
            print(answer.status, path)
service.close()
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as a wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (built,) = folder.glob("rankloop-*.whl")
    return built


def pip(*words: str) -> None:
    done = subprocess.run([*PIP, *words], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip("no package index can be reached, so nothing can be installed")
    assert done.returncode == 0, done.stderr


class Environment:
    """An environment with the wheel and one extra, and nothing else."""

    def __init__(self, wheel: Path, extra: str, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        python = str(folder / "env" / "bin" / "python")
        pip("--python", python, "install", f"{wheel}[{extra}]" if extra else str(wheel))

    def run(self, *words: str, fails: bool = False) -> str:
        """What a program of the environment prints, on either stream; warnings are errors."""
        done = subprocess.run(
            [str(self.folder / "env" / "bin" / words[0]), *words[1:]],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={"PATH": "", "HOME": str(self.folder), "PYTHONWARNINGS": "error", "COLUMNS": "200"},
        )
        assert (done.returncode != 0) == fails, done.stderr
        return " ".join((done.stdout + done.stderr).split())


def test_the_base_install_ranks_learns_and_keeps_a_log(wheel: Path, tmp_path: Path) -> None:
    base = Environment(wheel, "", tmp_path)
    examples = python_examples()
    assert len(examples) >= 2
    for example in examples:
        base.run("python", "-c", example)
    assert (tmp_path / "shop.db").exists()
    assert set(base.run("python", "-c", LOADED).split()) <= {"numpy", "scipy", "rankloop"}
    assert "serve" in base.run("rankloop", "--help")
    for command, extra in (("serve", "serve"), ("demo", "serve"), ("lab compare", "lab")):
        assert f"extra package `{extra}`" in base.run("rankloop", *command.split(), fails=True)


@pytest.mark.extras
def test_the_extra_serve_serves_the_pages_and_the_api(wheel: Path, tmp_path: Path) -> None:
    served = Environment(wheel, "serve", tmp_path)
    assert served.run("python", "-c", SERVED).count("200 /") == 5
    assert "extra package `lab`" in served.run("rankloop", "lab", "compare", fails=True)


@pytest.mark.extras
def test_the_extra_lab_compares_and_reports(wheel: Path, tmp_path: Path) -> None:
    lab = Environment(wheel, "lab", tmp_path)
    small = "--data linear --rounds 50 --seeds 2 --workers 1 --out first"
    lab.run("rankloop", "lab", "compare", *small.split())
    lab.run("rankloop", "lab", "report", "first")
    assert list((tmp_path / "first").glob("*.html"))
    assert "extra package `serve`" in lab.run("rankloop", "serve", fails=True)
