"""Figures for a paper: learning curves as PDF or SVG, as wide as a column, in one size of type."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from rankloop.lab.analysis.policy_summaries import SummaryRow, curves
from rankloop.lab.report.chart_lines import Drawing, FigureStyle
from rankloop.lab.report.curve_charts import axis_title, best_first, choose, chosen_lines, has_bands
from rankloop.lab.report.latex_text import below, code, escape, key_told, queries_sentence, runs_told, slug
from rankloop.lab.report.paper_vega import vega_picture
from rankloop.lab.report.series_names import short_names, strokes
from rankloop.lab.simulation.known_measures import NONE, measure_of
from rankloop.lab.simulation.measures import Measures

Format = Literal["pdf", "svg"]
FORMATS: tuple[Format, ...] = ("pdf", "svg")
NARROW_PAGE = 300  # points; wider figures span both columns
SHOWN = {  # how LaTeX shows a file of each format
    "pdf": r"\includegraphics{figures/%s.pdf}",
    "svg": r"\includesvg{figures/%s}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with its name for files and labels, and its caption in LaTeX."""

    name: str
    drawing: Drawing
    caption: str
    note: str  # what it leaves out, and the key of short names; stands below the caption

    def render(self, kind: Format) -> bytes:
        """The figure as a file."""
        return vega_picture(self.drawing, kind)

    def latex(self, kind: Format, *, wide: bool) -> str:
        """The environment that shows the file with its caption."""
        star = "*" if wide else ""
        return (
            f"\\begin{{figure{star}}}[t]\n\\centering\n{SHOWN[kind] % self.name}\n"
            f"\\caption{{{self.caption}}}\n\\label{{fig:{self.name}}}\n"
            + "".join(f"{line}\n" for line in below(self.note))
            + f"\\end{{figure{star}}}\n"
        )


def paper_figure(
    results: pl.DataFrame,
    rows: Sequence[SummaryRow],
    *,
    metric: str,
    data: str,
    style: FigureStyle,
    measures: Measures = NONE,
    queries: Mapping[str, str] | None = None,
    outside: Collection[str] = (),
    remark: str = "",
) -> Figure:
    """The learning curves of one metric on one dataset, a panel per user, as wide as asked to a point or two.

    `rows` are the summary of the results, for the caption; `queries` says how many test queries there are; a
    `remark` ends it.
    """
    measure = measure_of(metric, measures)
    own = results.filter(pl.col("metric") == metric, pl.col("data") == data)
    frame = choose(curves(smoothed(own, style.smooth)), metric=metric, data=data)
    shown, left_out = chosen_lines(best_first(frame, measure), style.lines, outside)
    everywhere = short_names(results["policy"].unique())  # the same names in all tables and figures
    short, look = {name: everywhere[name] for name in shown}, strokes(shown)
    first = 1 if style.log in ("rounds", "both") else 0  # a logarithmic axis has no place for round 0
    drawn = frame.filter(pl.col("policy").is_in(shown), pl.col("round") >= first)
    lines = {short[name]: look[name] for name in shown}
    drawn = drawn.with_columns(policy=pl.col("policy").replace_strict(short))
    several = len({row.data for row in rows}) > 1
    cell = [row for row in rows if row.metric == metric and row.data == data]
    sentences = [
        f"{escape(axis_title(measure))}, {escape(data)}, mean over {runs_told(cell)}"
        + (r" with its 95\,\% band." if has_bands(drawn) else "."),
        queries_sentence(queries or {}, [data]) if metric.startswith("offline") else "",
        f"Smoothed over {style.smooth} checkpoints within each run." if style.smooth > 1 else "",
        escape(remark),
    ]
    return Figure(
        name=slug(f"{metric} {data}" if several else metric),
        drawing=Drawing(means=drawn, measure=measure, lines=lines, style=style),
        caption=" ".join(filter(None, sentences)),
        note=" ".join(filter(None, [left_out_told(left_out), key_told(short)])),
    )


def smoothed(results: pl.DataFrame, checkpoints: int) -> pl.DataFrame:
    """Each value as the mean of its run over the last `checkpoints` values, so that bands stay honest."""
    run = ["data", "fold", "user", "policy", "seed", "metric"]
    mean = pl.col("value").rolling_mean(checkpoints, min_samples=1).over(run, order_by="round")
    return results if checkpoints == 1 else results.with_columns(value=mean)


def left_out_told(names: Sequence[str]) -> str:
    """The sentence on what a figure does not show; empty if it shows everything."""
    if not names:
        return ""
    return f"Left out: {', '.join(map(code, names))}."
