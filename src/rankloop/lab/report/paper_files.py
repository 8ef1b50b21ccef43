"""Files for a paper: `tables.tex`, and figures with the captions to show them by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.report.chart_files import render_chart
from rankloop.lab.report.chart_lines import ChartLines, ChartStyle, choose_lines
from rankloop.lab.report.curve_charts import draw_curves, title_axis
from rankloop.lab.report.latex_text import (
    HEAD,
    escape,
    format_code,
    format_figure,
    format_key,
    make_slug,
)
from rankloop.lab.report.result_tables import (
    ResultTable,
    build_change_table,
    build_summary_table,
    describe_offline,
    describe_runs,
)
from rankloop.lab.report.series_names import shorten_names
from rankloop.lab.report.table_formats import to_latex
from rankloop.lab.sweeps.results_folder import write_whole

NARROW_PAGE = 300  # points; wider figures span both columns

FigureKind = Literal["pdf", "svg"]
FIGURE_KINDS: tuple[FigureKind, ...] = ("pdf", "svg")


def write_tables(analysis: SweepAnalysis, folder: Path) -> Path:
    """Write `tables.tex`: the summary of each main metric with worst runs, and its changes."""
    tables: list[ResultTable] = []
    for metric in analysis.table_metrics:
        tables.append(build_summary_table(analysis, metric, with_worst=True))
        if any(change.metric == metric for change in analysis.changes):
            tables.append(build_change_table(analysis, metric))
    print_table = partial(to_latex, names=shorten_names(analysis.policies), remark=analysis.banner)
    text = "\n".join([HEAD, *(print_table(table, label=make_slug(table.title)) for table in tables)])
    write_whole(folder / "tables.tex", partial(Path.write_bytes, data=text.encode()))
    return folder / "tables.tex"


def write_figures(
    analysis: SweepAnalysis, folder: Path, kind: FigureKind = "pdf", style: ChartStyle | None = None
) -> list[Path]:
    """Write a figure of each main metric and dataset, and `figures.tex` with their captions."""
    style = style or ChartStyle(width=240, look="paper")
    data = analysis.results["data"].unique(maintain_order=True).to_list()
    files: dict[str, bytes] = {}
    shown = [HEAD]
    for metric in analysis.table_metrics:
        for name in data:
            lines = choose_lines(analysis, metric, data=name, style=style)
            slug = make_slug(f"{metric} {name}" if len(data) > 1 else metric)
            files[f"figures/{slug}.{kind}"] = render_chart(draw_curves(lines, style), kind)[kind]
            caption, note = describe_figure(analysis, lines, style)
            wide = style.width > NARROW_PAGE
            shown.append(format_figure(slug, kind, caption=caption, note=note, wide=wide))
    files["figures.tex"] = "\n".join(shown).encode()
    for file, content in files.items():
        write_whole(folder / file, partial(Path.write_bytes, data=content))
    return [folder / file for file in files]


def describe_figure(analysis: SweepAnalysis, lines: ChartLines, style: ChartStyle) -> tuple[str, str]:
    """Describe a figure in LaTeX: its caption, and the note of what it leaves out and what names mean."""
    chosen = [each for each in analysis.summaries if (each.metric, each.data) == (lines.metric, lines.data)]
    band = " with its 95 % band" if lines.has_bands else ""
    sentences = [
        f"{title_axis(lines.measure)}, {lines.data}, mean over {describe_runs(chosen)}{band}.",
        f"Smoothed over {style.smooth} checkpoints within each run." if style.smooth > 1 else "",
        describe_offline(analysis, lines.metric),
        analysis.banner,
    ]
    notes = [_describe_left_out(lines.left_out), format_key(lines.abbreviations)]
    return escape(" ".join(filter(None, sentences))), " ".join(filter(None, notes))


def _describe_left_out(policies: Sequence[str]) -> str:
    return f"Left out: {', '.join(map(format_code, policies))}." if policies else ""
