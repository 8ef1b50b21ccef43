"""Runs a sweep for a person: progress, table, report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from rich.table import Table

from rankloop.cli.console import CONSOLE
from rankloop.cli.lab import engine as engines
from rankloop.cli.lab.banner import keep_banner, kept_banner
from rankloop.cli.lab.spec import from_spec
from rankloop.cli.lab.sweep_progress import SweepProgress
from rankloop.errors import DataError, SettingError
from rankloop.lab.analysis.changes import relative_changes
from rankloop.lab.analysis.policy_summaries import summarise
from rankloop.lab.analysis.query_counts import graded_queries, queries_note, queries_told
from rankloop.lab.data import load
from rankloop.lab.report.change_table import change_table
from rankloop.lab.report.chart_lines import FigureStyle
from rankloop.lab.report.paper_figure import Format
from rankloop.lab.report.paper_files import write_figures, write_tables
from rankloop.lab.report.result_tables import summary_table
from rankloop.lab.report.sweep_report_page import write_report
from rankloop.lab.report.worst_table import worst_table
from rankloop.lab.suites import PICTURES, TABLES
from rankloop.lab.suites.paper_items import PaperTable, Suite
from rankloop.lab.sweeps.engines import Pool
from rankloop.lab.sweeps.mapping import Mapper
from rankloop.lab.sweeps.study import conduct, sweep_id
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import LabelJudge


def study(
    sweep: Sweep,
    *,
    title: str,
    out: Path | None,
    workers: int | None,
    engine: str = "pool",
    notes: Mapping[str, str] | None = None,
    banner: str = "",
) -> None:
    """Do the sweep with a progress display, print its table and write its report."""
    out = out or Path("rankloop-results") / sweep_id(sweep)
    runs = {sweep.source(run) for run in sweep.runs()}
    chosen = engines.engine(engine, workers, len(runs))
    CONSOLE.print(
        f"{len(sweep.data)} data × {len(sweep.users)} users × {len(sweep.policies)} policies: "
        f"{len(runs)} runs of {sweep.protocol.rounds:,} rounds, {engines.told(chosen)}"
    )
    with SweepProgress(CONSOLE, runs=len(runs), rounds=sweep.protocol.rounds) as progress:
        results = conduct(sweep, out, engine=chosen, watch=progress)
    if banner:
        keep_banner(out, sweep, banner)
    banner = kept_banner(out, sweep)
    notes = {**(notes or {}), **conventions(sweep)}
    page = present(sweep, results, out, title=title, notes=notes, banner=banner)
    for name, note in notes.items():
        CONSOLE.print(f"[dim]{name}: {note}[/]")
    if banner:
        CONSOLE.print(f"[bold yellow]{banner}[/]")
    CONSOLE.print(f"\nresults  {out / 'results.parquet'}\nreport   {page}", soft_wrap=True)


def draw(what: str, *, data: str, out: Path | None) -> None:
    """Draw a picture of data and say where it is."""
    picture = PICTURES[what]
    name, out = data or picture.data, out or Path("rankloop-results")
    files = picture.write(load(name), out, f"{what} {name}".translate(str.maketrans("/: ", "---")))
    CONSOLE.print(f"{picture.title}\n[dim]what the paper shows: {picture.paper}[/]")
    CONSOLE.print("\n".join(f"picture  {file}" for file in files), soft_wrap=True)


def tabulate(what: str, *, data: str, quick: bool, out: Path | None, engine: Mapper | None = None) -> None:
    """Compute a table of a paper, print it and say where it is; an engine fits its models, if it has some."""
    table, out = TABLES[what], out or Path("rankloop-results")
    if table.data and not CONSOLE.is_terminal:
        CONSOLE.print(f"computing on {data or table.data} ...")
    with CONSOLE.status("computing"):
        if isinstance(table, PaperTable) and table.fits:
            frames = table.frames(data, quick=quick, engine=engine)
        elif engine is None or isinstance(engine, Pool):
            frames = table.frames(data, quick=quick)
        else:
            raise SettingError(f"{what} is computed in one process: leave --engine out")
    CONSOLE.print(table.title)
    for name, frame in frames.items():
        CONSOLE.print(_printed(name, frame), "")
    for note in table.notes:
        CONSOLE.print(f"[dim]{note}[/]")
    CONSOLE.print(f"[dim]what the paper shows: {table.paper}[/]")
    files = table.write(frames, out, what)
    CONSOLE.print("\n".join(f"table    {file}" for file in files), soft_wrap=True)


def _printed(name: str, frame: pl.DataFrame) -> Table:
    shown = Table(title=name, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in frame.columns:
        shown.add_column(column, justify="right" if frame[column].dtype.is_numeric() else "left")
    for row in frame.iter_rows():
        shown.add_row(*(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row))
    return shown


def redo_report(
    folder: Path,
    *,
    title: str,
    latex: bool = False,
    figures: Format | None = None,
    style: FigureStyle | None = None,
) -> None:
    """Print the tables of finished results and write their report again, with files for a paper if asked."""
    path = folder / "results.parquet"
    if not path.exists():
        raise DataError(f"{path} does not exist: name a folder that `rankloop compare --out` has filled")
    sweep = from_spec(folder / "spec.json")
    try:
        results = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise DataError(
            f"{path} is damaged: `rankloop run {folder / 'spec.json'} --out {folder}` mends it"
        ) from error
    style = style or FigureStyle()
    banner = kept_banner(folder, sweep)
    page = present(
        sweep, results, folder, title=title, notes=conventions(sweep), lines=style.lines, banner=banner
    )
    if banner:
        CONSOLE.print(f"[bold yellow]{banner}[/]")
    CONSOLE.print(f"report   {page}", soft_wrap=True)
    for file in paper_files(sweep, results, folder, latex=latex, figures=figures, style=style, remark=banner):
        CONSOLE.print(f"paper    {file}", soft_wrap=True)


def paper_files(
    sweep: Sweep,
    results: pl.DataFrame,
    folder: Path,
    *,
    latex: bool,
    figures: Format | None,
    style: FigureStyle,
    remark: str,
) -> list[Path]:
    """Write the tables and figures for a paper that were asked for; their captions end with the remark."""
    if not latex and not figures:
        return []
    rows = summarise(results, measures=sweep.measures, outside=sweep.outside)
    metrics = chosen_metrics(dict.fromkeys(row.metric for row in rows), sweep)
    queries = {data: queries_told(counts, warn=True) for data, counts in graded_queries(sweep).items()}
    files = []
    if latex:
        files = [
            write_tables(rows, folder, metrics=metrics, queries=queries, outside=sweep.outside, remark=remark)
        ]
    if figures:
        files += write_figures(
            results,
            rows,
            folder,
            metrics=metrics,
            kind=figures,
            style=style,
            measures=sweep.measures,
            queries=queries,
            outside=sweep.outside,
            remark=remark,
        )
    return files


def present(
    sweep: Sweep,
    results: pl.DataFrame,
    out: Path,
    *,
    title: str,
    notes: Mapping[str, str],
    banner: str = "",
    lines: int = FigureStyle().lines,
) -> Path:
    """Write the report and print the tables that matter."""
    queries = queries_note(graded_queries(sweep))
    if not CONSOLE.is_terminal:
        CONSOLE.print("drawing the report ...")
    with CONSOLE.status("drawing the report"):
        page = write_report(
            results,
            out,
            title=title,
            notes=notes,
            measures=sweep.measures,
            about=sweep.about,
            against=sweep.against,
            outside=sweep.outside,
            worst_runs=sweep.worst_runs,
            banner=banner,
            queries=queries,
            lines=lines,
        )
    rows = summarise(results, measures=sweep.measures, outside=sweep.outside)
    changes = relative_changes(results, sweep.against, measures=sweep.measures)
    for metric in chosen_metrics(dict.fromkeys(row.metric for row in rows), sweep):
        note = queries if sweep.measures[metric].kind == "offline" else ""
        CONSOLE.print(summary_table(rows, metric=metric, note=note))
        if sweep.worst_runs:
            CONSOLE.print(worst_table(rows, metric=metric))
        if changes:
            CONSOLE.print(change_table(changes, metric=metric))
    return page


def chosen_metrics(measured: Mapping[str, object], sweep: Sweep) -> list[str]:
    """What the sweep is about, or what was asked for, or the two tables of every paper: learned, seen."""
    asked = [measure.name for measure in sweep.protocol.measures]
    usual = [name for name, measure in sweep.measures.items() if measure.kind in ("offline", "cumulative")]
    return [metric for metric in sweep.about or asked or usual if metric in measured]


def about_the_paper(suite: Suite) -> dict[str, str]:
    """What to expect, if the suite comes from a paper."""
    return {"what the paper shows": suite.paper} if suite.paper else {}


def conventions(sweep: Sweep) -> dict[str, str]:
    """What must be known to compare the numbers with anyone else's."""
    protocol = sweep.protocol
    without = {"skip": "left out of the offline mean", "zero": "0 offline", "one": "1 offline"}
    answerable = any(measure.kind == "answerable" for measure in protocol.measured())
    return {
        "protocol": f"{protocol.rounds:,} rounds, {protocol.k} results shown; policies with the same seed "
        "meet the same queries and the same luck",
        **{
            measure.name: f"sum over rounds t of {measure.discount}^(t-1) · that of the list shown"
            for measure in protocol.measured()
            if measure.kind == "cumulative"
        },
        "queries without a relevant document": f"0 online, {without[protocol.without_relevant]}"
        + (", left out of what is answerable" if answerable else ""),
        "users": "decide to stop only after a click; those marked stop_at=every at every result they examine",
        **(
            {"skylines": f"{', '.join(sweep.outside)}: taught by the labels, shown for reference only"}
            if sweep.outside
            else {}
        ),
        **({"taught by grades": _taught(sweep)} if sweep.taught else {}),
        **({"probes": ", ".join(map(repr, sweep.probes.values()))} if sweep.probes else {}),
    }


def _taught(sweep: Sweep) -> str:
    """Who learns from grades in place of the user's clicks, and of how many results."""

    def graded(judge: LabelJudge) -> str:
        return "all candidates" if judge.whole_query else f"the first {judge.top_k or sweep.protocol.k}"

    return ", ".join(f"{name} ({graded(judge)})" for name, judge in sweep.taught.items())
