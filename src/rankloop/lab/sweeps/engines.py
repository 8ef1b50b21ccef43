"""Engines: where the runs of a sweep are done, in this process or in a pool of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing.queues import SimpleQueue
from typing import Protocol, TypeAlias

import polars as pl
from threadpoolctl import threadpool_limits

from rankloop.errors import RankloopError, SettingError
from rankloop.lab.simulation.loop import Record
from rankloop.lab.sweeps.mapping import Job, Result, Shared
from rankloop.lab.sweeps.results_folder import rows
from rankloop.lab.sweeps.sweep import Run, Sweep


@dataclass(frozen=True, slots=True)
class Tick:
    """News from a run: how far it is, and what was measured last; nothing, if it was done before."""

    run: Run
    round: int
    record: Record | None = None


Watch: TypeAlias = Callable[[Tick], None]
Done: TypeAlias = tuple[Run, pl.DataFrame]


class WorkerDied(RankloopError):
    """A worker process ended without saying why."""


class Engine(Protocol):
    """Does runs and gives their rows, in any order: a run is a pure function of the sweep and the run."""

    def work(self, sweep: Sweep, runs: Sequence[Run], watch: Watch) -> Iterator[Done]:
        """Do every run, and tell `watch` how it goes."""
        ...


@dataclass(frozen=True)
class Here:
    """One run after the other, in this process."""

    def work(self, sweep: Sweep, runs: Sequence[Run], watch: Watch) -> Iterator[Done]:
        """Do every run."""
        for run in runs:
            yield run, _rows(sweep, run, watch)

    def map(
        self, function: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> Iterator[Result]:
        """`function(shared, job)` of every job."""
        return (function(shared, job) for job in jobs)


@dataclass(frozen=True)
class Pool:
    """As many runs at a time as there are worker processes on this machine."""

    workers: int

    def __post_init__(self) -> None:
        """Refuse a pool in which nobody works."""
        if type(self.workers) is not int or self.workers < 1:
            raise SettingError(f"workers must be a whole number of at least 1, found {self.workers}")

    def work(self, sweep: Sweep, runs: Sequence[Run], watch: Watch) -> Iterator[Done]:
        """Do every run, each in one of the processes."""
        workers = min(self.workers, len(runs))
        return _in_processes(sweep, runs, workers, watch) if workers > 1 else Here().work(sweep, runs, watch)

    def map(
        self, function: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> Iterator[Result]:
        """`function(shared, job)` of every job, each in one of the processes."""
        context = multiprocessing.get_context("spawn")
        try:
            with ProcessPoolExecutor(min(self.workers, len(jobs)), mp_context=context) as pool:
                yield from pool.map(partial(function, shared), jobs)
        except BrokenProcessPool as error:
            raise WorkerDied("a worker process died, as when memory runs out: use fewer workers") from error


def _rows(sweep: Sweep, run: Run, watch: Watch) -> pl.DataFrame:
    records = []
    with threadpool_limits(limits=1):  # one core a run; and sums do not depend on the number of cores
        for record in sweep.records(run):
            records.append(record)
            watch(Tick(run, record.round, record))
    return rows(run, records)


def _in_processes(sweep: Sweep, runs: Sequence[Run], workers: int, watch: Watch) -> Iterator[Done]:
    context = multiprocessing.get_context("spawn")  # forking a process that has threads can hang it
    news: SimpleQueue[Tick] = context.SimpleQueue()
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(sweep, news))
    others = multiprocessing.active_children()
    waiting: dict[Future[pl.DataFrame], Run] = {pool.submit(_work, run): run for run in runs}
    try:
        while waiting:
            finished, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
            while not news.empty():
                watch(news.get())
            for future in finished:
                yield waiting.pop(future), future.result()
        pool.shutdown()
    except BrokenProcessPool as error:
        raise WorkerDied(
            "a worker process died. Either memory ran out: use fewer workers. Or a policy or user is defined "
            "where other processes cannot import it, as in a notebook: put it into a file, or use "
            "engine=Here(). Finished runs are kept; the same call goes on from there"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()


_sweep: Sweep
_news: SimpleQueue[Tick]


def _start(sweep: Sweep, news: SimpleQueue[Tick]) -> None:
    """Make this process a worker: it leaves Ctrl-C to its parent, and does not outlive it."""
    global _sweep, _news
    _sweep, _news = sweep, news
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _work(run: Run) -> pl.DataFrame:
    return _rows(_sweep, run, _news.put)
