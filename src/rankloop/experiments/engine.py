"""Runs a sweep on this machine: in this process, or in a pool of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import TypeAlias

import polars as pl
from threadpoolctl import threadpool_limits

from rankloop.experiments.ledger import Ledger, rows
from rankloop.experiments.loop import Record
from rankloop.experiments.sweep import Run, Sweep
from rankloop.types import RankloopError


@dataclass(frozen=True, slots=True)
class Tick:
    """News from a run: how far it is, and what was measured last."""

    run: Run
    record: Record


Watch: TypeAlias = Callable[[Tick], None]


class WorkerDied(RankloopError):
    """A worker process ended without saying why."""


def execute(
    sweep: Sweep, *, ledger: Path | None = None, workers: int = 1, watch: Watch = lambda _: None
) -> pl.DataFrame:
    """Do every run of a sweep, or take it from the ledger if it was done before.

    The rows are the same, in the same order, for any number of workers and after any interruption.

    >>> from rankloop.experiments import Protocol
    >>> from rankloop.policies import Random
    >>> from rankloop.users import Preset
    >>> sweep = Sweep(
    ...     data=["synthetic:linear"], users={"perfect": Preset("perfect")}, policies={"random": Random()},
    ...     seeds=[1], protocol=Protocol(rounds=10, checkpoints=1),
    ... )
    >>> execute(sweep)["metric"].unique(maintain_order=True).to_list()
    ['offline nDCG@10', 'online nDCG@10', 'cumulative nDCG@10', 'pairwise regret']
    """
    runs = list(dict.fromkeys(map(sweep.source, sweep.runs())))
    book = Ledger(ledger, sweep) if ledger else None
    done = {run: frame for run in runs if book and (frame := book.find(run)) is not None}
    todo = [run for run in runs if run not in done]
    for run, frame in done.items():
        watch(Tick(run, Record(sweep.protocol.rounds, "done before", float(frame.height))))
    work = _in_this_process if workers == 1 or len(todo) < 2 else _in_a_pool
    for run, frame in work(sweep, todo, min(workers, len(todo)), watch):
        done[run] = frame
        if book:
            book.keep(run, frame)
    return pl.concat([done[sweep.source(run)].with_columns(user=pl.lit(run.user)) for run in sweep.runs()])


def _in_this_process(
    sweep: Sweep, runs: list[Run], _workers: int, watch: Watch
) -> Iterator[tuple[Run, pl.DataFrame]]:
    for run in runs:
        yield run, _rows(sweep, run, watch)


def _rows(sweep: Sweep, run: Run, watch: Watch) -> pl.DataFrame:
    records = []
    with threadpool_limits(limits=1):  # one core a run; and sums do not depend on the number of cores
        for record in sweep.records(run):
            records.append(record)
            watch(Tick(run, record))
    return rows(run, records)


def _in_a_pool(
    sweep: Sweep, runs: list[Run], workers: int, watch: Watch
) -> Iterator[tuple[Run, pl.DataFrame]]:
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
            "where other processes cannot import it, as in a notebook: put it into a file, or use workers=1. "
            "Finished runs are kept; the same call goes on from there"
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
