"""Ray engine: the runs of a sweep on a Ray cluster, of this machine or of many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl
from threadpoolctl import threadpool_limits

from rankloop.errors import SettingError
from rankloop.lab.simulation.loop import Record
from rankloop.lab.sweeps.engines import Done, Tick, Watch, WorkerDied
from rankloop.lab.sweeps.mapping import Job, Result, Shared
from rankloop.lab.sweeps.results_folder import own_source, rows
from rankloop.lab.sweeps.sweep import Run, Sweep

RETRIES = 5  # times that a run is begun anew because its worker died
QUIET = {  # of Ray, for this process and those it starts
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


@dataclass(frozen=True)
class Ray:
    """As many runs at a time as a Ray cluster has cores; without an address, one of this machine alone.

    Each dataset, and the sweep, is put into the cluster's object store once. A run whose worker died is done
    again, on another one. The machines of a cluster need the same rankloop, which is checked.
    """

    address: str = ""  # as in "10.0.0.5:6379", or "auto" on a machine of the cluster
    workers: int | None = None  # on this machine alone: cores to use, or all

    def __post_init__(self) -> None:
        """Refuse a cluster that cannot be reached so, and to go on without Ray."""
        if self.address.startswith("ray://"):
            raise SettingError(
                f"{self.address} is for a Ray client: start this on a machine of the cluster, and give "
                "host:6379 or auto as its address"
            )
        if self.workers is not None and (self.address or self.workers < 1):
            raise SettingError("workers must be at least 1, and are for a cluster of this machine alone")
        _ray()

    def work(self, sweep: Sweep, runs: Sequence[Run], watch: Watch) -> Iterator[Done]:
        """Do every run, each in a process of the cluster."""
        if not runs:
            return
        with self._cluster() as ray, _as_here(ray):
            yield from _on_cluster(ray, sweep, runs, watch)

    def map(
        self, function: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> Iterator[Result]:
        """`function(shared, job)` of every job, by processes of the cluster; what is shared is put once."""
        with self._cluster() as ray:
            task = ray.remote(num_cpus=1, max_retries=RETRIES)(_apply)
            reference = [ray.put(shared)]
            waiting = [task.remote(function, reference, job, own_source()) for job in jobs]
            try:
                with _as_here(ray):
                    while waiting:
                        yield ray.get(waiting[0])
                        waiting.pop(0)
            finally:
                for each in waiting:
                    ray.cancel(each, force=True)

    @contextmanager
    def _cluster(self) -> Iterator[Any]:
        """Ray, with a connection to the cluster; one that was there before is used and left."""
        ray = _ray()
        if ray.is_initialized():
            yield ray
            return
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self.address:
                ray.init(address=self.address, **quiet)
            else:
                ray.init(address="local", num_cpus=self.workers, include_dashboard=False, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise SettingError(f"no Ray cluster at {self.address or 'this machine'}: {error}") from error
        try:
            yield ray
        finally:
            ray.shutdown()


def _ray() -> Any:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: PLC0415
    except ImportError as error:
        raise SettingError("this engine needs Ray: pip install 'rankloop[ray]'") from error
    return ray


def _on_cluster(ray: Any, sweep: Sweep, runs: Sequence[Run], watch: Watch) -> Iterator[Done]:
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
    shared = ray.put(sweep)
    datasets: dict[str, Any] = {}
    waiting, streams = list(reversed(runs)), dict[Any, Run]()
    try:
        while waiting or streams:
            while waiting and len(streams) < 2 * ray.cluster_resources().get("CPU", 1):
                run = waiting.pop()
                if run.fold not in datasets:
                    datasets[run.fold] = ray.put(sweep.dataset(run.fold))
                streams[task.remote([shared], [datasets[run.fold]], run, own_source())] = run
            ready, _ = ray.wait(list(streams), num_returns=len(streams), timeout=0.1, fetch_local=False)
            for stream in ready:
                news = _next(ray, stream)
                if isinstance(news, Tick):
                    watch(news)
                else:
                    yield streams.pop(stream), news
    finally:
        for stream in streams:
            ray.cancel(stream, force=True)


@contextmanager
def _as_here(ray: Any) -> Iterator[None]:
    """Errors on a worker as if they had happened here."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        raise WorkerDied(
            f"a run was begun {RETRIES + 1} times, and each time its worker died, as when memory runs out. "
            "Finished runs are kept; the same call goes on from there"
        ) from error


def _next(ray: Any, stream: Any) -> Tick | pl.DataFrame:
    """What a run says next; its last word are its rows."""
    found: Tick | pl.DataFrame = ray.get(next(stream))
    return found


def _apply(function: Callable[[Shared, Job], Result], shared: list[Any], job: Job, source: str) -> Result:
    """Do a job on a worker; the list keeps its reference as it is."""
    _check_source(source)
    return function(_fetched(shared[0]), job)


def _check_source(source: str) -> None:
    if own_source() != source:
        raise SettingError("a machine of the cluster has another rankloop than this one: install the same")


def _work(sweep: list[Any], dataset: list[Any], run: Run, source: str) -> Iterator[Tick | pl.DataFrame]:
    """Do a run on a worker: how it goes, and its rows at last; lists keep references as they are."""
    _check_source(source)
    records: list[Record] = []
    with threadpool_limits(limits=1):  # one core a run; and sums do not depend on the number of cores
        for record in _fetched(sweep[0]).records(run, _fetched(dataset[0])):
            records.append(record)
            yield Tick(run, record.round, record)
    yield rows(run, records)


@lru_cache(maxsize=3)  # the same object for all runs of a worker, so that what is measured on it is kept
def _fetched(reference: Any) -> Any:
    return _ray().get(reference)
