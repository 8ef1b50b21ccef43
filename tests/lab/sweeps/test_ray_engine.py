"""Ray: the same files as locally, to the bit, whatever happens to a worker on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankloop.checks import small_world
from rankloop.cli.lab.sweep_inputs import make_engine
from rankloop.cli.lab.sweep_results import describe_engine
from rankloop.errors import SettingError
from rankloop.lab.data import Dataset
from rankloop.lab.data.review_data import load_reviews
from rankloop.lab.recommendation import compare_recommenders
from rankloop.lab.suites import find_experiment
from rankloop.lab.suites.experiment_runner import compute_table
from rankloop.lab.sweeps.engines import Pool
from rankloop.lab.sweeps.ray_engine import Ray
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep_cells import Progress
from rankloop.policies import Random
from rankloop.recommend import IALS, FacT, MostPopular
from rankloop.recommend.reviews import Reviews
from rankloop.types import Feedback
from tests.lab.sweeps.test_sweep import SWEEP, contents, expected, members_of
from tests.support.waiting import wait_until

ray = pytest.importorskip("ray", reason="no Ray: pip install 'rankloop[ray]' to run its tests")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

ONE = Dataset(name="at-hand", train=small_world(), vali=None, test=small_world(), fingerprint="one")
__all__ = ["expected"]  # a fixture


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """One of two workers, as someone else started it: it is used, and left."""
    with Ray(workers=2)._cluster():
        yield


@dataclass(kw_only=True, eq=False)
class Deadly(Random):
    """Kills the worker it is in, once."""

    mark: str = ""

    def learn(self, feedback: Feedback) -> None:
        if self.mark and not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(kw_only=True, eq=False)
class Failing(Random):
    """Cannot learn."""

    def learn(self, feedback: Feedback) -> None:
        raise SettingError("this policy cannot learn")


def test_the_same_files_and_each_dataset_once(
    cluster: None, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    put, stored, ticks = ray.put, list[Any](), list[Progress]()

    def watched(value: Any) -> Any:
        stored.append(value)
        return put(value)

    monkeypatch.setattr(ray, "put", watched)
    run_sweep(SWEEP, tmp_path, engine=Ray(), report=ticks.append)
    assert contents(tmp_path) == expected
    assert [type(each) for each in stored] == [partial, Dataset]
    assert ray.is_initialized()
    rounds = {run: [tick.round for tick in ticks if tick.cell == run] for run in SWEEP.cells()}
    assert all(found == sorted(found) and found[-1] == 30 for found in rounds.values())


def test_a_run_whose_worker_was_killed_is_done_again(cluster: None, tmp_path: Path) -> None:
    policies = {"random": Random(), "deadly": Deadly(mark=str(tmp_path / "killed"))}
    sweep = replace(SWEEP, data=[ONE], policies=policies)
    found = run_sweep(sweep, engine=Ray())
    assert (tmp_path / "killed").exists()
    assert found.equals(run_sweep(sweep))


def test_an_error_on_a_worker_is_what_it_would_be_here(cluster: None) -> None:
    sweep = replace(SWEEP, policies={"failing": Failing()})
    with pytest.raises(SettingError, match="this policy cannot learn") as told_here:
        run_sweep(sweep, engine=Ray())
    assert type(told_here.value) is SettingError


@dataclass(kw_only=True, eq=False)
class DeadlyPopular(MostPopular):
    """Kills the worker that fits it, once."""

    mark: str = ""

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        if self.mark and not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        super()._learn(reviews, rng)


def test_recommenders_are_the_same_to_the_bit_also_when_a_worker_is_killed(
    cluster: None, tmp_path: Path
) -> None:
    parts, mark = load_reviews("shop"), tmp_path / "killed"
    models = {"ials": IALS(d=4), "popular": DeadlyPopular(mark=str(mark)), "fact": FacT(d=4, depth=2)}
    there, measured = compare_recommenders(parts, models, seeds=2, engine=Ray())
    assert mark.exists()
    here, expected = compare_recommenders(parts, models, seeds=2)
    assert there.equals(here)
    for name, found in expected.items():
        assert all((measured[name].plain[k] == values).all() for k, values in found.plain.items())
    with pytest.raises(SettingError, match="is computed in one process"):
        compute_table(find_experiment("recommend/table4.1"), quick=True, engine=Ray())


SCRIPT = """
import sys
from pathlib import Path
from tests.lab.sweeps.test_sweep import SWEEP
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.ray_engine import Ray
from rankloop.lab.sweeps.results_folder import run_sweep
from dataclasses import replace
if __name__ == "__main__":
    long = replace(SWEEP, protocol=Protocol(rounds=3000, checkpoints=3))
    run_sweep(long, Path(sys.argv[1]), engine=Ray(workers=2))
"""


def test_ctrl_c_keeps_what_is_done_and_leaves_nobody_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, text=True) as process:
        wait_until(lambda: (tmp_path / "runs").exists() and any((tmp_path / "runs").glob("*.parquet")))
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in said
    assert not (tmp_path / "results.parquet").exists()
    wait_until(lambda: not members_of(process.pid))


def test_an_engine_is_named_on_the_command_line() -> None:
    assert make_engine("pool", 9, runs=3) == Pool(3)
    assert make_engine("ray", 9, runs=3) == Ray(workers=3)
    assert make_engine("ray:auto", None, runs=3) == Ray("auto")
    assert (
        describe_engine(make_engine("ray:10.0.0.5:6379", None, runs=3))
        == "on the Ray cluster at 10.0.0.5:6379"
    )
    with pytest.raises(SettingError, match="pool, ray or ray:address"):
        make_engine("dask", None, runs=3)
    with pytest.raises(SettingError, match="--workers is for this machine"):
        make_engine("ray:auto", 2, runs=3)
    with pytest.raises(SettingError, match="start this on a machine of the cluster"):
        make_engine("ray:ray://head:10001", None, runs=3)
