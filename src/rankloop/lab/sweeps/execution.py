"""Execution of a sweep: what is in the ledger is taken from there, the rest is done by an engine."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from rankloop.lab.sweeps.engines import Engine, Here, Tick, Watch
from rankloop.lab.sweeps.results_folder import Ledger
from rankloop.lab.sweeps.sweep import Run, Sweep

HERE = Here()


def execute(
    sweep: Sweep, *, ledger: Path | None = None, engine: Engine = HERE, watch: Watch = lambda _: None
) -> pl.DataFrame:
    """Do every run of a sweep, or take it from the ledger if it was done before.

    The rows are the same, in the same order, for any engine and after any interruption.

    >>> from rankloop.lab.simulation.protocol import Protocol
    >>> from rankloop.policies import Random
    >>> from rankloop.lab.users import PresetUser
    >>> sweep = Sweep(
    ...     data=["linear"], users={"perfect": PresetUser("perfect")},
    ...     policies={"random": Random()}, seeds=[1], protocol=Protocol(rounds=10, checkpoints=1),
    ... )
    >>> execute(sweep)["metric"].unique(maintain_order=True).to_list()
    ['offline nDCG@10', 'online nDCG@10', 'cumulative nDCG@10', 'pairwise regret']
    """
    runs = list(dict.fromkeys(map(sweep.source, sweep.runs())))
    book = Ledger(ledger, sweep) if ledger else None
    done = {run: frame for run in runs if book and (frame := book.find(run)) is not None}
    for run in done:
        watch(Tick(run, sweep.protocol.rounds))
    for run, frame in engine.work(sweep, [run for run in runs if run not in done], watch):
        done[run] = frame
        if book:
            book.keep(run, frame)
    return pl.concat([_as_of(run, done[sweep.source(run)]) for run in sweep.runs()])


def _as_of(run: Run, found: pl.DataFrame) -> pl.DataFrame:
    """The rows of a run, which may have been done for another one."""
    return found.with_columns(data=pl.lit(run.data), fold=pl.lit(run.fold), user=pl.lit(run.user))
