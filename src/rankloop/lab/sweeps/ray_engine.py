"""Ray engine: jobs on a Ray cluster, of this machine or of many."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from threadpoolctl import threadpool_limits

from rankloop.bounds import Count, check_settings
from rankloop.errors import SettingError
from rankloop.lab.sweeps.code_digest import digest_code
from rankloop.lab.sweeps.engines import AnyJob, JobFunction, Loader, Report, Result, WorkerDied, ignore

RETRIES = 5  # times that a job is begun anew because its worker died
QUIET = {  # of Ray, for this process and those it starts
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


@dataclass(frozen=True)
class Ray:
    """As many jobs at a time as a Ray cluster has cores; without an address, one of this machine alone.

    What is loaded for a key, such as a dataset, is put into the cluster's object store once. A job whose
    worker died is done again, on another one. The machines of a cluster need the same rankloop, which is
    checked.
    """

    address: str = ""  # as in "10.0.0.5:6379", or "auto" on a machine of the cluster
    workers: Count | None = None  # on this machine alone: cores to use, or all

    def __post_init__(self) -> None:
        """Refuse a cluster that cannot be reached so, and to go on without Ray."""
        if self.address.startswith("ray://"):
            raise SettingError(
                f"{self.address} is for a Ray client: start this on a machine of the cluster, and give "
                "host:6379 or auto as its address"
            )
        check_settings(self)
        if self.workers is not None and self.address:
            raise SettingError("workers are for a cluster of this machine alone: leave the address out")
        _import_ray()

    def map(
        self,
        function: JobFunction[AnyJob, Result],
        jobs: Sequence[AnyJob],
        *,
        load: Loader,
        report: Report = ignore,
    ) -> Iterator[tuple[int, Result]]:
        """Do every job, each in a process of the cluster."""
        if not jobs:
            return
        with self._cluster() as ray, _raise_as_here(ray):
            yield from _run_on_cluster(ray, function, jobs, load, report)

    @contextmanager
    def _cluster(self) -> Iterator[Any]:
        """Ray, with a connection to the cluster; one that was there before is used and left."""
        ray = _import_ray()
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


@dataclass(frozen=True, slots=True)
class _Last:
    """The last word of a job: its result."""

    result: Any


def _import_ray() -> Any:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: PLC0415
    except ImportError as error:
        raise SettingError("this engine needs Ray: pip install 'rankloop[ray]'") from error
    return ray


def _run_on_cluster(
    ray: Any, function: JobFunction[AnyJob, Result], jobs: Sequence[AnyJob], load: Loader, report: Report
) -> Iterator[tuple[int, Result]]:
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
    shared = ray.put(function)
    loaded: dict[Hashable, Any] = {}
    waiting, streams = list(reversed(range(len(jobs)))), dict[Any, int]()
    try:
        while waiting or streams:
            while waiting and len(streams) < 2 * ray.cluster_resources().get("CPU", 1):
                number = waiting.pop()
                job = jobs[number]
                if job.needs not in loaded:
                    loaded[job.needs] = ray.put(load(job.needs))
                streams[task.remote([shared], [loaded[job.needs]], job, digest_code())] = number
            ready, _ = ray.wait(list(streams), num_returns=len(streams), timeout=0.1, fetch_local=False)
            for stream in ready:
                news = ray.get(next(stream))
                if isinstance(news, _Last):
                    yield streams.pop(stream), news.result
                else:
                    report(news)
    finally:
        for stream in streams:
            ray.cancel(stream, force=True)


@contextmanager
def _raise_as_here(ray: Any) -> Iterator[None]:
    """Raise errors of a worker as if they had happened here."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        raise WorkerDied(
            f"a run was begun {RETRIES + 1} times, and each time its worker died, as when memory runs out. "
            "Finished runs are kept; the same call goes on from there"
        ) from error


def _work(function: list[Any], loaded: list[Any], job: Any, source: str) -> Iterator[Any]:
    """Do a job on a worker: how it goes, and its result at last; lists keep references as they are."""
    if digest_code() != source:
        raise SettingError("a machine of the cluster has another rankloop than this one: install the same")
    with threadpool_limits(limits=1):  # one core per job, as in `run_here`
        result = yield from _fetch(function[0])(job, _fetch(loaded[0]))
    yield _Last(result)


@lru_cache(maxsize=3)  # the same object for all jobs of a worker, so that what is measured on it is kept
def _fetch(reference: Any) -> Any:
    return _import_ray().get(reference)
