"""Files for a paper: `tables.tex`, and figures with the captions to show them by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from rankloop.lab.analysis.policy_summaries import SummaryRow
from rankloop.lab.report.chart_lines import FigureStyle
from rankloop.lab.report.latex_text import HEAD, summary_latex
from rankloop.lab.report.paper_figure import NARROW_PAGE, Format, paper_figure
from rankloop.lab.simulation.known_measures import NONE
from rankloop.lab.simulation.measures import Measures
from rankloop.lab.sweeps.files import write_whole


def write_tables(
    rows: Sequence[SummaryRow],
    folder: Path,
    *,
    metrics: Sequence[str],
    queries: Mapping[str, str] | None = None,
    outside: Collection[str] = (),
    remark: str = "",
) -> Path:
    """Write a LaTeX table of each metric into `tables.tex`; each caption ends with the remark."""
    table = partial(summary_latex, rows, queries=queries, outside=outside, remark=remark)
    tables = [table(metric=metric) for metric in metrics]
    text = "\n".join([HEAD, *tables])
    write_whole(folder / "tables.tex", partial(Path.write_bytes, data=text.encode()))
    return folder / "tables.tex"


def write_figures(
    results: pl.DataFrame,
    rows: Sequence[SummaryRow],
    folder: Path,
    *,
    metrics: Sequence[str],
    kind: Format,
    style: FigureStyle,
    measures: Measures = NONE,
    queries: Mapping[str, str] | None = None,
    outside: Collection[str] = (),
    remark: str = "",
) -> list[Path]:
    """Write a figure of each metric and dataset into `figures/`, and `figures.tex` with their captions."""
    draw = partial(
        paper_figure, results, rows, style=style, measures=measures, queries=queries, remark=remark
    )
    pairs = dict.fromkeys((row.metric, row.data) for row in rows if row.metric in metrics)
    figures = [draw(metric=metric, data=data, outside=outside) for metric, data in pairs]
    wide = style.width > NARROW_PAGE
    shown = "\n".join([HEAD, *(figure.latex(kind, wide=wide) for figure in figures)])
    files = {f"figures/{figure.name}.{kind}": figure.render(kind) for figure in figures}
    files["figures.tex"] = shown.encode()
    for name, content in files.items():
        write_whole(folder / name, partial(Path.write_bytes, data=content))
    return [folder / name for name in files]
