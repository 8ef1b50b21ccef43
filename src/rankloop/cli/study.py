"""Runs a sweep for a person: progress, table, report."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from rankloop.cli.console import CONSOLE
from rankloop.cli.progress import SweepProgress
from rankloop.experiments import Sweep, conduct, summarise, summary_table, sweep_id, write_report


def study(sweep: Sweep, *, title: str, out: Path | None, workers: int | None) -> None:
    """Do the sweep with a progress display, print its table and write its report."""
    out = out or Path("rankloop-results") / sweep_id(sweep)
    runs = sweep.runs()
    workers = min(workers or os.cpu_count() or 1, len(runs))
    CONSOLE.print(
        f"{len(sweep.data)} data × {len(sweep.users)} users × {len(sweep.policies)} policies: "
        f"{len(runs)} runs of {sweep.protocol.rounds:,} rounds, {workers} at a time"
    )
    with SweepProgress(CONSOLE, runs=len(runs), rounds=sweep.protocol.rounds) as progress:
        results = conduct(sweep, out, workers=workers, watch=progress)
    with CONSOLE.status("drawing the report"):
        page = write_report(results, out, title=title, notes=conventions(sweep))
    show(results)
    for name, note in conventions(sweep).items():
        CONSOLE.print(f"[dim]{name}: {note}[/]")
    CONSOLE.print(f"\nresults  {out / 'results.parquet'}\nreport   {page}", soft_wrap=True)


def show(results: pl.DataFrame) -> None:
    """Print the two tables of every paper: what was learned, and what users saw meanwhile."""
    rows = summarise(results)
    for metric in dict.fromkeys(row.metric for row in rows):
        if metric.startswith(("offline", "cumulative")):
            CONSOLE.print(summary_table(rows, metric=metric))


def conventions(sweep: Sweep) -> dict[str, str]:
    """What must be known to compare the numbers with anyone else's."""
    protocol = sweep.protocol
    without = {"skip": "left out of the offline mean", "zero": "0 offline", "one": "1 offline"}
    return {
        "protocol": f"{protocol.rounds:,} rounds, {protocol.k} results shown; policies with the same seed "
        "meet the same queries and the same luck",
        "cumulative": f"sum over rounds t of {protocol.discount}^(t-1) · nDCG@{protocol.k} of the list shown",
        "queries without a relevant document": f"0 online, {without[protocol.without_relevant]}",
        "users": "decide to stop only after a click; those marked stop=every at every result they examine",
    }
