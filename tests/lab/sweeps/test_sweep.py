"""A sweep gives the same files however it is run, and however often it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankloop.checks import small_world
from rankloop.errors import SettingError
from rankloop.lab.data import Dataset
from rankloop.lab.simulation.measures import make_measure
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.engines import Engine, InProcess, Pool, WorkerDied
from rankloop.lab.sweeps.results_folder import run_sweep, write_json, write_whole
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_cells import Progress
from rankloop.lab.sweeps.sweep_spec import write_spec
from rankloop.lab.users import PresetUser
from rankloop.metrics import NDCG
from rankloop.policies import DBGD, PDGD, PairRank, Random
from rankloop.types import Feedback
from tests.support.waiting import wait_until

SWEEP = Sweep(
    data=["linear(queries=20)"],
    users={"perfect": PresetUser("perfect"), "informational": PresetUser("informational")},
    policies={"pdgd": PDGD(), "dbgd": DBGD(), "random": Random()},
    seeds=range(2),
    protocol=Protocol(rounds=30, checkpoints=3),
)
FILES = ("results.parquet", "spec.json")


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def left_over(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.startswith(".")]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("expected")
    run_sweep(SWEEP, folder)
    return contents(folder)


def test_the_same_files_twice_and_on_two_processes(tmp_path: Path, expected: dict[str, bytes]) -> None:
    run_sweep(SWEEP, tmp_path / "again")
    run_sweep(SWEEP, tmp_path / "pool", engine=Pool(2))
    assert contents(tmp_path / "again") == expected
    assert contents(tmp_path / "pool") == expected


class Interrupted(Exception):
    pass


def stop_after(ticks: int) -> Callable[[Progress], None]:
    left = iter(range(ticks))

    def watch(_: Progress) -> None:
        if next(left, None) is None:
            raise Interrupted

    return watch


@pytest.mark.parametrize("engine", [InProcess(), Pool(2)], ids=str)
def test_an_interrupted_sweep_goes_on_where_it_stopped(
    tmp_path: Path, expected: dict[str, bytes], engine: Engine
) -> None:
    with pytest.raises(Interrupted):
        run_sweep(SWEEP, tmp_path, report=stop_after(100), engine=engine)
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert 0 < len(finished) < len(SWEEP.cells())
    assert not (tmp_path / "results.parquet").exists()
    run_sweep(SWEEP, tmp_path, engine=engine)
    assert contents(tmp_path) == expected
    assert all(path.stat().st_mtime_ns == before for path, before in finished.items())
    assert not left_over(tmp_path)


SCRIPT = """
import sys
from pathlib import Path
from tests.lab.sweeps.test_sweep import SWEEP
from rankloop.lab.sweeps.engines import Pool
from rankloop.lab.sweeps.results_folder import run_sweep
if __name__ == "__main__":
    run_sweep(SWEEP, Path(sys.argv[1]), engine=Pool(2))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_process_leaves_whole_files_and_no_orphans(
    tmp_path: Path, expected: dict[str, bytes], how: signal.Signals
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(out)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        wait_until(lambda: (out / "runs").exists() and len(list((out / "runs").glob("*.parquet"))) >= 2)
        process.send_signal(how)
        process.wait(timeout=120)
    wait_until(lambda: not members_of(process.pid))
    for path in (out / "runs").glob("*.parquet"):
        assert pl.read_parquet(path).height > 0
    run_sweep(SWEEP, out)
    assert contents(out) == expected


def members_of(session: int) -> list[int]:
    """Processes of a session that are still alive."""
    alive = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (
                    os.getsid(int(entry.name)) == session
                    and "Z" not in (entry / "stat").read_text().split()[2]
                ):
                    alive.append(int(entry.name))
            except (ProcessLookupError, FileNotFoundError):
                pass
    return alive


def test_a_damaged_run_is_done_again(tmp_path: Path, expected: dict[str, bytes]) -> None:
    run_sweep(SWEEP, tmp_path)
    victim = next((tmp_path / "runs").iterdir())
    victim.write_bytes(victim.read_bytes()[:100])
    run_sweep(SWEEP, tmp_path)
    assert contents(tmp_path) == expected


def test_more_seeds_reuse_what_is_there(tmp_path: Path) -> None:
    run_sweep(SWEEP, tmp_path)
    before = {path.name for path in (tmp_path / "runs").iterdir()}
    run_sweep(replace(SWEEP, seeds=range(3)), tmp_path)
    after = {path.name for path in (tmp_path / "runs").iterdir()}
    assert before < after
    assert len(after) == 3 * 2 * 3


@pytest.mark.parametrize(
    "change",
    [
        {"policies": {**SWEEP.policies, "pdgd": PDGD(learning_rate=0.2)}},
        {"users": {**SWEEP.users, "perfect": PresetUser("perfect", "every")}},
        {"protocol": replace(SWEEP.protocol, k=5)},
        {"data": ["linear(queries=21)"]},
    ],
)
def test_changed_settings_never_reuse_old_runs(tmp_path: Path, change: dict[str, object]) -> None:
    small = replace(SWEEP, seeds=[0], protocol=Protocol(rounds=5, checkpoints=1))
    run_sweep(small, tmp_path)
    old = {path.name for path in (tmp_path / "runs").iterdir()}
    changed = replace(small, **change)  # type: ignore[arg-type]
    run_sweep(changed, tmp_path)
    again = run_sweep(changed, tmp_path / "fresh")
    assert pl.read_parquet(tmp_path / "results.parquet").equals(again)
    assert {path.name for path in (tmp_path / "runs").iterdir()} > old


def test_a_trained_pattern_is_another_pattern(tmp_path: Path) -> None:
    small = replace(SWEEP, seeds=[0], protocol=Protocol(rounds=5, checkpoints=1))
    run_sweep(small, tmp_path)
    trained = PDGD().from_state({**PDGD().state(), "parameters": np.ones(20), "updates": np.array(3)})
    changed = replace(small, policies={**small.policies, "pdgd": trained})
    assert run_sweep(changed, tmp_path).equals(run_sweep(changed))


def test_a_dataset_at_hand_needs_no_name(tmp_path: Path) -> None:
    world = small_world()
    dataset = Dataset("mine", world, world, None, "v1")
    sweep = replace(SWEEP, data=[dataset], seeds=[0])
    results = run_sweep(sweep, engine=Pool(2))
    assert results["data"].unique().to_list() == ["mine"]
    assert results.equals(run_sweep(sweep))


@dataclass(kw_only=True, eq=False)
class Dies(Random):
    """Ends its process as a lack of memory would."""

    def learn(self, feedback: Feedback) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(kw_only=True, eq=False)
class Fails(Random):
    """Has a bug."""

    def learn(self, feedback: Feedback) -> None:
        raise ZeroDivisionError("a bug in the policy")


def test_a_dead_worker_is_reported_and_not_waited_for() -> None:
    with pytest.raises(WorkerDied, match="memory ran out"):
        run_sweep(replace(SWEEP, policies={"dies": Dies()}), engine=Pool(2))


@pytest.mark.parametrize("engine", [InProcess(), Pool(2)], ids=str)
def test_a_bug_in_a_policy_reaches_the_caller(engine: Engine) -> None:
    with pytest.raises(ZeroDivisionError, match="a bug in the policy"):
        run_sweep(replace(SWEEP, policies={"fails": Fails()}), engine=engine)


def test_the_spec_says_everything(tmp_path: Path) -> None:
    learning = {**SWEEP.policies, "slowly": PDGD(learning_rate=0.01), "my own": Fails()}
    sweep = replace(SWEEP, policies=learning, seeds=[0])
    write_json(tmp_path / "spec.json", write_spec(sweep))
    spec = json.loads((tmp_path / "spec.json").read_text())
    assert spec["policies"] == {
        "pdgd": "PDGD()",
        "dbgd": "DBGD()",
        "random": "Random()",
        "slowly": "PDGD(learning_rate=0.01)",
        "my own": f"{__name__}.Fails()",
    }
    assert spec["users"]["perfect"] == "perfect()"
    assert (spec["rounds"], spec["k"], spec["discount"], spec["seeds"]) == (30, 10, 0.9995, [0])


def test_a_quick_look_says_so_in_its_spec(tmp_path: Path) -> None:
    small = replace(SWEEP, seeds=[0], protocol=Protocol(rounds=5, checkpoints=1))
    for quick in (True, False):
        run_sweep(small, tmp_path, quick=quick)
        assert ("quick" in json.loads((tmp_path / "spec.json").read_text())) is quick


def test_empty_or_impossible_sweeps_are_refused() -> None:
    for name in ("data", "users", "policies", "seeds"):
        with pytest.raises(SettingError, match=f"{name} must name at least one"):
            replace(SWEEP, **{name: []})  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="a name of its own"):
        replace(SWEEP, data=["linear", "linear"])
    with pytest.raises(SettingError, match="different whole numbers"):
        replace(SWEEP, seeds=[1, 1])
    with pytest.raises(SettingError, match="workers must be a whole number of at least 1, found 0"):
        Pool(0)


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def fail(part: Path) -> None:
        part.write_text("half")
        raise OSError("disk full")

    (tmp_path / "kept").write_text("old")
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "kept", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == "old"


def test_worlds_of_a_range_are_folds(tmp_path: Path) -> None:
    data = "linear(queries=10, seed=(4, 5, 6))"
    sweep = Sweep(
        data=[data],
        users={"perfect": PresetUser("perfect")},
        policies={"random": Random()},
        seeds=[0],
        protocol=Protocol(rounds=3),
    )
    results = run_sweep(sweep, tmp_path)
    assert results["data"].unique().to_list() == [data]
    assert results["fold"].unique().sort().to_list() == [data.replace("(4, 5, 6)", seed) for seed in "456"]


def test_data_comes_with_an_order_and_who_does_not_look_at_it_is_run_once() -> None:
    names = ["linear(queries=20)", "linear(queries=20, caller_order='decent')"]
    names.append("linear(queries=20, caller_order='reversed')")
    sweep = Sweep(
        data=names,
        users={"perfect": PresetUser("perfect")},
        policies={"pairrank": PairRank(), "trusting": PairRank(caller_order="good")},
        seeds=range(1),
        protocol=Protocol(rounds=20, checkpoints=1, measures=(make_measure("first", NDCG(k=10)),)),
    )
    assert len({sweep.representative(run) for run in sweep.cells()}) == 4
    last = run_sweep(sweep).filter(pl.col("round") == 20)
    found = {(row["data"], row["policy"]): row["value"] for row in last.iter_rows(named=True)}
    assert len({found[name, "pairrank"] for name in names}) == 1
    _, decent, reverse = (found[name, "trusting"] for name in names)
    assert reverse < decent
    train, turned = (sweep.dataset(name).train for name in names[1:])
    assert train.caller_scores is not None
    assert turned.caller_scores is not None
    np.testing.assert_array_equal(train.caller_scores, -turned.caller_scores)
    with pytest.raises(SettingError, match="no order of the caller is called 'best'"):
        replace(sweep, data=["linear(caller_order=best)"]).cells()
