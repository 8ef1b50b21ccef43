"""Finished cells are found again by cells that would give the same rows, and nothing is loaded twice."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_info
from torch import nn

import rankloop
from rankloop.checks import small_world
from rankloop.cli.lab.sweep_results import report_again
from rankloop.lab.data import Dataset, letor_cache
from rankloop.lab.report.chart_lines import ChartStyle
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps import sweep
from rankloop.lab.sweeps.code_digest import describe_arithmetic, digest_code
from rankloop.lab.sweeps.engines import Pool
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Cell, Sweep
from rankloop.lab.sweeps.sweep_cells import FoldLoader, cell_key
from rankloop.lab.users import PresetUser
from rankloop.policies import P2NeurRank, Random
from rankloop.scorers import Module

WORLD = Dataset("small", small_world(), small_world(), None, "small")
SMALL = Sweep(
    data=[WORLD],
    users={"perfect": PresetUser("perfect")},
    policies={"random": Random()},
    seeds=[0, 1],
    protocol=Protocol(rounds=3, checkpoints=1),
)


def network(n_features: int, width: int = 4) -> Any:
    return nn.Sequential(nn.Linear(n_features, width), nn.Tanh(), nn.Linear(width, 1))


def of_width(width: int) -> Callable[[int], Any]:
    return lambda n_features: network(n_features, width)


def key_of(make: Callable[[int], Any]) -> str:
    own = replace(SMALL, policies={"own": P2NeurRank(scorer=Module(make))})
    return cell_key(own, own.cells()[0], WORLD)


def test_networks_of_ones_own_are_told_apart_by_what_they_do() -> None:
    makers: list[Callable[[int], Any]] = [
        network,
        lambda n: nn.Linear(n, 1),
        lambda n: nn.Sequential(nn.Linear(n, 2), nn.Linear(2, 1)),
        partial(network, width=8),
        partial(network, width=16),
        of_width(8),
        of_width(16),
    ]
    assert len({key_of(make) for make in makers}) == len(makers)
    assert key_of(of_width(8)) == key_of(of_width(8))
    assert key_of(partial(network, width=8)) == key_of(partial(network, width=8))


# The code and the arithmetic


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("service/pages/shell.py", False),
        ("service/store/sqlite/schema.py", False),
        ("client/resources.py", False),
        ("connect/candidates.py", False),
        ("charts/theme.py", False),
        ("cli/lab/sweep_commands.py", False),
        ("demo/shop.py", False),
        ("types.py", True),
        ("policies/pairwise/pairrank.py", True),
        ("lab/simulation/loop.py", True),
        ("lab/users/click_models.py", True),
    ],
)
def test_only_code_that_a_run_passes_through_makes_it_another_run(
    file: str, counts: bool, tmp_path: Path
) -> None:
    package = tmp_path / "rankloop"
    shutil.copytree(Path(rankloop.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    assert digest_code(package) == digest_code()
    digest_code.cache_clear()
    (package / file).parent.mkdir(parents=True, exist_ok=True)
    with (package / file).open("a") as source:
        source.write("\n# changed\n")
    assert (digest_code(package) != digest_code()) is counts


def runs_in(folder: Path) -> set[str]:
    return {path.name for path in (folder / "runs").iterdir()}


@pytest.fixture
def other_kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """The folder is copied to a machine whose BLAS takes other instructions."""

    def copy() -> None:
        own = threadpool_info()
        others = [{**each, "architecture": "another one"} for each in own]
        monkeypatch.setattr("rankloop.lab.sweeps.code_digest.threadpool_info", lambda: others)
        describe_arithmetic.cache_clear()

    yield copy
    describe_arithmetic.cache_clear()


def test_rows_of_another_arithmetic_are_never_reused(
    tmp_path: Path, other_kernel: Callable[[], None]
) -> None:
    run_sweep(SMALL, tmp_path)
    here, before = describe_arithmetic(), runs_in(tmp_path)
    run_sweep(SMALL, tmp_path)
    assert runs_in(tmp_path) == before
    other_kernel()
    run_sweep(SMALL, tmp_path)
    assert len(runs_in(tmp_path)) == 2 * len(before)
    spec = json.loads((tmp_path / "spec.json").read_text())
    assert here != spec["arithmetic"] == describe_arithmetic()
    assert np.__version__ in here


# The number of test queries


def read_counts(folder: Path) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = json.loads((folder / "spec.json").read_text())["test_queries"]
    return counts


def test_test_queries_that_enter_the_mean_are_counted_while_running(tmp_path: Path) -> None:
    grades = WORLD.test.relevance.copy()
    ends = list(zip(WORLD.test.offsets[:-1], WORLD.test.offsets[1:], strict=True))
    for start, end in ends[:3]:
        grades[start:end] = 0
    data = replace(WORLD, test=replace(WORLD.test, relevance=grades))
    relevant = sum(bool(grades[start:end].any()) for start, end in ends)
    for without, count in (("skip", relevant), ("zero", len(ends))):
        protocol = replace(SMALL.protocol, without_relevant=without)  # type: ignore[arg-type]
        run_sweep(replace(SMALL, data=[data], protocol=protocol), tmp_path)
        assert read_counts(tmp_path) == {"small": [count]}


def test_every_fold_has_its_number_whoever_runs_for_it(tmp_path: Path) -> None:
    plain = "linear(queries=20, test_queries=9, seed=(1, 2))"
    ordered = "linear(queries=20, test_queries=9, seed=(1, 2), caller_order=decent)"
    run_sweep(replace(SMALL, data=[plain, ordered]), tmp_path)
    counts = read_counts(tmp_path)
    assert list(counts) == [plain, ordered]
    assert counts[plain] == counts[ordered] != []
    assert len(counts[plain]) == 2


def test_a_report_loads_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_sweep(replace(SMALL, data=["linear(queries=20)"]), tmp_path)
    sweep._load.cache_clear()
    monkeypatch.setattr(sweep, "load", lambda *_, **__: pytest.fail("data was loaded"))
    report_again(tmp_path, title="again", style=ChartStyle())
    assert "Offline means rest on" in (tmp_path / "report.html").read_text("utf-8")


# Hashes of files

HASHED: list[str] = []
if multiprocessing.current_process().name != "MainProcess":  # a worker notes what it hashes
    digest_file = hashlib.file_digest

    def note(file: Any, kind: Any) -> Any:
        HASHED.append(file.name)
        return digest_file(file, kind)

    hashlib.file_digest = note  # type: ignore[assignment]


@dataclass(frozen=True)
class Load:
    """A job that says which files were hashed so that its data was there."""

    needs: str
    number: int


def list_hashed(job: Load, dataset: Dataset) -> Generator[None, None, list[str]]:
    yield
    return [*HASHED, dataset.fingerprint]


def write_letor(folder: Path) -> None:
    folder.mkdir()
    for part in ("train", "test"):
        lines = [f"{row % 2} qid:{row // 4} 1:{row}.5 2:{row % 3}" for row in range(40)]
        (folder / f"{part}.txt").write_text("\n".join(lines) + "\n")
        os.utime(folder / f"{part}.txt", (1e9, 1e9))


def test_workers_do_not_hash_the_files_that_their_parent_has_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKLOOP_CACHE", str(tmp_path / "cache"))
    write_letor(tmp_path / "data")
    name = str(tmp_path / "data")
    asked = replace(SMALL, data=[name])
    fingerprint = asked.dataset(name).fingerprint
    jobs = [Load(name, number) for number in range(4)]
    for hashes, count in ((letor_cache.known_hashes(), 0), ({}, 2)):
        found = dict(Pool(2).map(list_hashed, jobs, load=FoldLoader(asked, hashes)))
        assert {tuple(hashed[-1:]) for hashed in found.values()} == {(fingerprint,)}
        assert {len(hashed) - 1 for hashed in found.values()} == {count}


def test_a_changed_file_is_hashed_again(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 1:0.5\n")
    first = letor_cache.hash_file(path)
    path.write_text("0 qid:1 1:0.5\n")  # of the same size, and perhaps within one tick of the clock
    second = letor_cache.hash_file(path)
    assert first != second
    os.utime(path, (1e9, 1e9))
    assert letor_cache.hash_file(path) == second
    letor_cache.remember_hashes({key: "known" for key in letor_cache.known_hashes() if key[0] == str(path)})
    assert letor_cache.hash_file(path) == "known"
    path.write_text("1 qid:1 1:0.25\n")
    assert letor_cache.hash_file(path) not in (first, second, "known")


def test_rows_have_the_cell_that_they_stand_for(tmp_path: Path) -> None:
    rows = run_sweep(SMALL, tmp_path)
    heads = rows.select("data", "fold", "user", "policy", "seed").unique(maintain_order=True).rows()
    assert [Cell(*head) for head in heads] == SMALL.cells()
    assert pl.read_parquet(tmp_path / "results.parquet").equals(rows)
