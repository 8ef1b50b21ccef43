"""Engines: where jobs are done, one after the other in this process or in several processes at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.queues import SimpleQueue
from typing import Any, Protocol, TypeAlias, TypeVar

from threadpoolctl import threadpool_limits

from rankloop.bounds import Count, check_settings
from rankloop.errors import RankloopError


class Job(Protocol):
    """What one call of a job function does, as a value that other processes can read."""

    @property
    def needs(self) -> Hashable:
        """The key of what is loaded for it; jobs of one key share it."""
        ...


Result = TypeVar("Result")
AnyJob = TypeVar("AnyJob", bound=Job)
# A job function is called with a job and what was loaded for it. It yields progress and returns the result,
# which depends on these two alone. Other processes must be able to import it.
JobFunction: TypeAlias = Callable[[AnyJob, Any], Generator[Any, None, Result]]
Loader: TypeAlias = Callable[[Any], Any]  # from a key to what jobs of that key need
Report: TypeAlias = Callable[[Any], None]  # called with what jobs yield


def ignore(progress: object) -> None:
    """Take no note of progress."""


class WorkerDied(RankloopError):
    """A worker process ended without saying why."""


class Engine(Protocol):
    """Does jobs, in any order, each by one core: the results are the same to the bit by any engine."""

    def map(
        self,
        function: JobFunction[AnyJob, Result],
        jobs: Sequence[AnyJob],
        *,
        load: Loader,
        report: Report = ignore,
    ) -> Iterator[tuple[int, Result]]:
        """Do every job, and give each result with the number of its job."""
        ...


@dataclass(frozen=True, eq=False)
class Given:
    """Loader of a value that is at hand, for jobs that all need the same."""

    value: Any

    def __call__(self, _: Hashable) -> Any:
        """Give the value, whatever the key."""
        return self.value


def run_here(function: JobFunction[AnyJob, Result], job: AnyJob, load: Loader, report: Report) -> Result:
    """Do a job in this process."""
    with threadpool_limits(limits=1):  # one core per job: sums do not depend on the number of cores
        steps = function(job, load(job.needs))
        while True:
            try:
                report(next(steps))
            except StopIteration as end:
                result: Result = end.value
                return result


@dataclass(frozen=True)
class InProcess:
    """One job after the other, in this process."""

    def map(
        self,
        function: JobFunction[AnyJob, Result],
        jobs: Sequence[AnyJob],
        *,
        load: Loader,
        report: Report = ignore,
    ) -> Iterator[tuple[int, Result]]:
        """Do every job."""
        kept = keep_latest(load)
        for number, job in enumerate(jobs):
            yield number, run_here(function, job, kept, report)


@dataclass(frozen=True)
class Pool:
    """As many jobs at a time as there are worker processes on this machine."""

    workers: Count

    def __post_init__(self) -> None:
        """Refuse a pool in which nobody works."""
        check_settings(self)

    def map(
        self,
        function: JobFunction[AnyJob, Result],
        jobs: Sequence[AnyJob],
        *,
        load: Loader,
        report: Report = ignore,
    ) -> Iterator[tuple[int, Result]]:
        """Do every job, each in one of the processes."""
        workers = min(self.workers, len(jobs))
        if workers > 1:
            return _run_in_processes(function, jobs, load, report, workers)
        return InProcess().map(function, jobs, load=load, report=report)


def keep_latest(load: Loader) -> Loader:
    """Load the same key only once as long as few others come between: jobs of one key follow each other."""
    return lru_cache(maxsize=2)(load)


def _run_in_processes(
    function: JobFunction[AnyJob, Result], jobs: Sequence[AnyJob], load: Loader, report: Report, workers: int
) -> Iterator[tuple[int, Result]]:
    context = multiprocessing.get_context("spawn")  # forking a process that has threads can hang it
    news: SimpleQueue[Any] = context.SimpleQueue()
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start, initargs=(function, load, news)
    )
    others = multiprocessing.active_children()
    waiting: dict[Future[Any], int] = {pool.submit(_work, job): number for number, job in enumerate(jobs)}
    try:
        while waiting:
            finished, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
            while not news.empty():
                report(news.get())
            for future in finished:
                yield waiting.pop(future), future.result()
        pool.shutdown()
    except BrokenProcessPool as error:
        raise WorkerDied(
            "a worker process died. Either memory ran out: use fewer workers. Or a policy or user is defined "
            "where other processes cannot import it, as in a notebook: put it into a file, or use "
            "engine=InProcess(). Finished runs are kept; the same call goes on from there"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()


_function: JobFunction[Any, Any]
_load: Loader
_news: SimpleQueue[Any]


def _start(function: JobFunction[Any, Any], load: Loader, news: SimpleQueue[Any]) -> None:
    """Make this process a worker: it leaves Ctrl-C to its parent, and does not outlive it."""
    global _function, _load, _news
    _function, _load, _news = function, keep_latest(load), news
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _work(job: Job) -> Any:
    return run_here(_function, job, _load, _news.put)
