"""Run a sweep, a table or a picture for a person: progress, tables, report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.lab.sweep_inputs import make_engine, read_spec_file
from rankloop.cli.lab.sweep_progress import SweepProgress
from rankloop.errors import DataError
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis, analyse_sweep
from rankloop.lab.report.chart_files import write_chart
from rankloop.lab.report.chart_lines import ChartStyle
from rankloop.lab.report.paper_files import FigureKind, write_figures, write_tables
from rankloop.lab.report.result_tables import build_tables
from rankloop.lab.report.sweep_report_page import write_report
from rankloop.lab.report.table_formats import to_rich
from rankloop.lab.suites import Experiment
from rankloop.lab.suites.experiment_runner import (
    compute_table,
    describe_claims,
    draw_picture,
    write_parts,
)
from rankloop.lab.sweeps.engines import Engine, Pool
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.sweeps.sweep_spec import sweep_id

QUICK = (
    "A quick look, {rounds:,} rounds and {seeds} seeds, to see whether all is well: no numbers for a claim."
)


def run_and_report(
    sweep: Sweep,
    *,
    title: str,
    out: Path | None,
    workers: int | None,
    engine: str = "pool",
    notes: Mapping[str, str] | None = None,
    quick: bool = False,
) -> None:
    """Run a sweep with a progress display, print its table and write its report."""
    out = out or Path("rankloop-results") / sweep_id(sweep)
    runs = {sweep.representative(run) for run in sweep.cells()}
    chosen = make_engine(engine, workers, len(runs))
    CONSOLE.print(
        f"{len(sweep.data)} data × {len(sweep.users)} users × {len(sweep.policies)} policies: "
        f"{len(runs)} runs of {sweep.protocol.rounds:,} rounds, {describe_engine(chosen)}"
    )
    with SweepProgress(CONSOLE, runs=len(runs), rounds=sweep.protocol.rounds) as progress:
        results = run_sweep(sweep, out, engine=chosen, report=progress, quick=quick)
    analysis = analyse_folder(out, sweep, results, notes)
    page = print_analysis(analysis, out, title=title)
    for name, note in analysis.notes.items():
        CONSOLE.print(f"[dim]{name}: {note}[/]")
    if analysis.banner:
        CONSOLE.print(f"[bold yellow]{analysis.banner}[/]")
    CONSOLE.print(f"\nresults  {out / 'results.parquet'}\nreport   {page}", soft_wrap=True)


def print_picture(experiment: Experiment, *, data: str, out: Path | None) -> None:
    """Draw a picture of data, and print where it is."""
    chart = draw_picture(experiment, data=data)
    name = f"{experiment.id} {data or experiment.data[0]}".translate(str.maketrans("/: ", "---"))
    files = write_chart(chart, out or Path("rankloop-results"), name)
    CONSOLE.print(experiment.question)
    _print_claims(experiment)
    CONSOLE.print("\n".join(f"picture  {file}" for file in files), soft_wrap=True)


def print_table(
    experiment: Experiment, *, data: str, quick: bool, out: Path | None, engine: Engine | None = None
) -> None:
    """Compute a table, print it and where it is; an engine fits its models, if it has some."""
    if experiment.data and not CONSOLE.is_terminal:
        CONSOLE.print(f"computing on {data or ', '.join(experiment.data)} ...")
    with CONSOLE.status("computing"):
        parts = compute_table(experiment, data=data, quick=quick, engine=engine)
    CONSOLE.print(experiment.question)
    for name, part in parts.items():
        CONSOLE.print(_format_part(name, part), "")
    _print_claims(experiment)
    files = write_parts(parts, out or Path("rankloop-results"), experiment.id)
    CONSOLE.print("\n".join(f"table    {file}" for file in files), soft_wrap=True)


def _print_claims(experiment: Experiment) -> None:
    for name, text in describe_claims(experiment).items():
        CONSOLE.print(f"[dim]{name}: {text}[/]")


def _format_part(name: str, frame: pl.DataFrame) -> Table:
    shown = Table(title=name, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in frame.columns:
        shown.add_column(column, justify="right" if frame[column].dtype.is_numeric() else "left")
    for row in frame.iter_rows():
        shown.add_row(*(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row))
    return shown


def report_again(
    folder: Path,
    *,
    title: str,
    latex: bool = False,
    figures: FigureKind | None = None,
    style: ChartStyle,
) -> None:
    """Print the tables of finished results and write their report again, with files for a paper if asked."""
    path = folder / "results.parquet"
    if not path.exists():
        raise DataError(f"{path} does not exist: name a folder that `rankloop lab compare --out` has filled")
    sweep = read_spec_file(folder / "spec.json")
    try:
        results = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise DataError(
            f"{path} is damaged: `rankloop lab run {folder / 'spec.json'} --out {folder}` mends it"
        ) from error
    analysis = analyse_folder(folder, sweep, results)
    page = print_analysis(analysis, folder, title=title, lines=style.lines)
    if analysis.banner:
        CONSOLE.print(f"[bold yellow]{analysis.banner}[/]")
    CONSOLE.print(f"report   {page}", soft_wrap=True)
    files = [write_tables(analysis, folder)] if latex else []
    files += write_figures(analysis, folder, figures, style) if figures else []
    for file in files:
        CONSOLE.print(f"paper    {file}", soft_wrap=True)


def analyse_folder(
    folder: Path, sweep: Sweep, results: pl.DataFrame, notes: Mapping[str, str] | None = None
) -> SweepAnalysis:
    """Analyse the results of a folder, with what its spec says beyond the sweep."""
    spec = json.loads((folder / "spec.json").read_text("utf-8"))
    quick = QUICK.format(rounds=sweep.protocol.rounds, seeds=len(sweep.seeds))
    return analyse_sweep(
        results,
        sweep,
        query_counts=spec.get("test_queries", {}),
        notes=notes,
        banner=quick if spec.get("quick") else "",
    )


def print_analysis(
    analysis: SweepAnalysis, folder: Path, *, title: str, lines: int = ChartStyle().lines
) -> Path:
    """Write the report and print the tables that matter."""
    if not CONSOLE.is_terminal:
        CONSOLE.print("drawing the report ...")
    with CONSOLE.status("drawing the report"):
        page = write_report(analysis, folder, title, lines=lines)
    for metric in analysis.table_metrics:
        for table in build_tables(analysis, metric):
            CONSOLE.print(to_rich(table))
    return page


def describe_engine(engine: Engine) -> str:
    """Say where runs are done.

    >>> describe_engine(Pool(2))
    '2 at a time'
    """
    if isinstance(engine, Pool):
        return f"{engine.workers} at a time"
    where = getattr(engine, "address", "")
    return f"on the Ray cluster at {where}" if where else "on a Ray cluster of this machine"
