"""Figures for a paper: learning curves as PDF or SVG, as wide as a column, in one size of type."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import polars as pl
import vl_convert

from rankloop.charts import chart_config, family, short_names, strokes
from rankloop.experiments.analysis.statistics import SummaryRow, curves
from rankloop.experiments.report.charts import (
    after_the_start,
    axis_title,
    band_strength,
    best_first,
    choose,
    has_bands,
    records,
    span_of,
)
from rankloop.experiments.report.latex import below, code, escape, key_told, queries_sentence, runs_told, slug
from rankloop.experiments.simulation.known_measures import NONE, measure_of
from rankloop.experiments.simulation.measures import Measure, Measures
from rankloop.types import SettingError

Format = Literal["pdf", "svg"]
Axes = Literal["none", "rounds", "values", "both"]
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
NARROW_PAGE = 300  # points; wider figures span both columns
NARROWEST_PANEL = 130  # points; narrower panels stand below each other
ONE_TWO_FIVE = (  # of a logarithmic axis, only these leading digits are labelled: others would collide
    "indexof([1, 2, 5], round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) >= 0"
    " ? format(datum.value, '~s') : ''"
)
SYMBOL = 26  # points for the stroke beside a name in the legend
LETTER = 0.52  # width of a letter, in sizes of type


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureStyle:
    """How figures are drawn: their width and type in points, which axes are logarithmic, how many lines.

    240 points are one column of two (ACM, IEEE), 505 the whole page. `smooth` draws means over so many
    checkpoints, taken within each run, up to the one shown. Of more policies than `lines`, the best of each
    family are drawn first, then the best of all.
    """

    width: int = 240
    font_size: int = 8
    log: Axes = "none"
    smooth: int = 1
    lines: int = 8

    def __post_init__(self) -> None:
        """Refuse what could not be read."""
        if self.log not in ("none", "rounds", "values", "both"):
            raise SettingError(f"log must be none, rounds, values or both, found {self.log!r}")
        for name, least in (("width", 150), ("font_size", 4), ("smooth", 1), ("lines", 1)):
            if getattr(self, name) < least:
                raise SettingError(f"{name} must be at least {least}, found {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with its name for files and labels, and its caption in LaTeX."""

    name: str
    spec: str
    caption: str
    note: str  # what it leaves out, and the key of short names; stands below the caption

    def render(self, kind: Format) -> bytes:
        """The figure as a file; a pixel of the specification is a point."""
        if kind == "pdf":
            return bytes(vl_convert.vegalite_to_pdf(self.spec))
        return str(vl_convert.vegalite_to_svg(self.spec)).encode()

    def latex(self, kind: Format, *, wide: bool) -> str:
        """The environment that shows the file with its caption."""
        star = "*" if wide else ""
        file = self.name if kind == "svg" else f"{self.name}.pdf"
        command = "includesvg" if kind == "svg" else "includegraphics"
        return (
            f"\\begin{{figure{star}}}[t]\n\\centering\n\\{command}{{figures/{file}}}\n"
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
) -> Figure:
    """The learning curves of one metric on one dataset, a panel per user, as wide as asked to a point or two.

    `rows` are the summary of the results, for the caption; `queries` says how many test queries there are.
    """
    measure = measure_of(metric, measures)
    own = results.filter(pl.col("metric") == metric, pl.col("data") == data)
    frame = choose(curves(smoothed(own, style.smooth)), metric=metric, data=data)
    shown, left_out = chosen_lines(best_first(frame, measure), style.lines, outside)
    everywhere = short_names(results["policy"].unique())  # the same names in all tables and figures
    short, look = {name: everywhere[name] for name in shown}, strokes(shown)
    first = 1 if style.log in ("rounds", "both") else 0  # a logarithmic axis has no place for round 0
    drawn = frame.filter(pl.col("policy").is_in(shown), pl.col("round") >= first)
    legend = [(short[name], look[name].colour, list(look[name].dash)) for name in shown]
    drawn = drawn.with_columns(policy=pl.col("policy").replace_strict(short))
    several = len({row.data for row in rows}) > 1
    cell = [row for row in rows if row.metric == metric and row.data == data]
    sentences = [
        f"{escape(axis_title(measure))}, {escape(data)}, mean over {runs_told(cell)}"
        + (r" with its 95\,\% band." if has_bands(drawn) else "."),
        queries_sentence(queries or {}, [data]) if metric.startswith("offline") else "",
        f"Smoothed over {style.smooth} checkpoints within each run." if style.smooth > 1 else "",
    ]
    return Figure(
        name=slug(f"{metric} {data}" if several else metric),
        spec=_fitted(drawn, measure, legend, style),
        caption=" ".join(filter(None, sentences)),
        note=" ".join(filter(None, [left_out_told(left_out), key_told(short)])),
    )


def smoothed(results: pl.DataFrame, checkpoints: int) -> pl.DataFrame:
    """Each value as the mean of its run over the last `checkpoints` values, so that bands stay honest."""
    run = ["data", "fold", "user", "policy", "seed", "metric"]
    mean = pl.col("value").rolling_mean(checkpoints, min_samples=1).over(run, order_by="round")
    return results if checkpoints == 1 else results.with_columns(value=mean)


def chosen_lines(
    ordered: Sequence[str], most: int, outside: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Which policies are drawn, best first, and which are left out.

    Those shown for reference only keep their line; then comes the best of each family, then the best of all.

    >>> chosen_lines(["a:x=1", "a:x=2", "a", "b"], 3)
    (['a:x=1', 'a:x=2', 'b'], ['a'])
    """
    firsts = list({family(name): name for name in reversed(ordered)}.values())
    ranked = sorted(ordered, key=lambda name: (name not in outside, name not in firsts, ordered.index(name)))
    kept = set(ranked[:most])
    return [name for name in ordered if name in kept], [name for name in ordered if name not in kept]


def left_out_told(names: Sequence[str]) -> str:
    """The sentence on what a figure does not show; empty if it shows everything."""
    if not names:
        return ""
    return f"Left out: {', '.join(map(code, names))}."


def _fitted(drawn: pl.DataFrame, measure: Measure, legend: Sequence[Any], style: FigureStyle) -> str:
    """The specification whose picture is as wide as asked: drawn once, measured, and drawn again."""
    users = drawn["user"].unique(maintain_order=True).to_list()
    beside = style.width // len(users) >= NARROWEST_PANEL
    across = len(users) if beside else 1
    panel = style.width // across - 5 * style.font_size
    for _ in range(2):
        spec = _chart(drawn, measure, legend, style, users=users, panel=panel, beside=beside).to_json()
        found = re.search(r'width="(\d+)', vl_convert.vegalite_to_svg(spec))
        assert found
        panel -= -(-(int(found[1]) - style.width) // across)
    return _chart(drawn, measure, legend, style, users=users, panel=panel, beside=beside).to_json()


def _chart(
    drawn: pl.DataFrame,
    measure: Measure,
    legend: Sequence[tuple[str, str, list[int]]],
    style: FigureStyle,
    *,
    users: Sequence[str],
    panel: int,
    beside: bool,
) -> alt.FacetChart:
    layers = _layers(drawn, measure, _channels(legend, style), style)
    height = max(round(panel * (0.75 if beside else 0.42)), 70)
    layered = alt.layer(*layers, data=records(drawn)).properties(width=panel, height=height)
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start" if not beside else "middle")
    if beside:
        facets = layered.facet(column=alt.Column("user:N", sort=list(users), header=header))
    else:
        facets = layered.facet(row=alt.Row("user:N", sort=list(users), header=header))
    chart: alt.FacetChart = facets.configure(**_config(style.font_size))
    return chart


def _layers(
    drawn: pl.DataFrame, measure: Measure, channels: tuple[alt.Color, alt.StrokeDash], style: FigureStyle
) -> list[alt.Chart]:
    colour, dash = channels
    span = span_of(after_the_start(drawn))
    logarithmic = style.log in ("rounds", "both")
    shown = ONE_TWO_FIVE if logarithmic else "datum.value ? format(datum.value, '~s') : '0'"
    rounds = alt.X(
        "round:Q",
        title="rounds",
        scale=alt.Scale(type="log" if logarithmic else "linear", nice=False),
        axis=alt.Axis(grid=False, tickCount=4, labelExpr=shown, labelFlush=True),
    )
    scale = alt.Scale(domain=list(span), zero=False, nice=True)
    if style.log in ("values", "both"):
        scale = alt.Scale(type="log", domain=_positive_span(drawn), nice=False)
    value = alt.Axis(tickCount=4, format="~s" if span[1] >= 1e4 else "~g", titleFontWeight="normal")
    mean = alt.Y("mean:Q", title=measure.name, scale=scale, axis=value)
    line = alt.Chart().mark_line(strokeWidth=1.1, strokeJoin="round", clip=True)
    layers = [line.encode(x=rounds, y=mean, color=colour, strokeDash=dash)]
    if has_bands(drawn):
        strength = band_strength(drawn["policy"].n_unique())
        band = alt.Chart().mark_area(opacity=strength, clip=True)
        layers.insert(0, band.encode(x=rounds, y=alt.Y("low:Q"), y2="high:Q", color=colour))
    return layers


def _positive_span(drawn: pl.DataFrame) -> list[float]:
    """From the least to the greatest mean; a logarithmic axis has no place for others than positive ones."""
    low, high = drawn.select(low=pl.col("mean").min(), high=pl.col("mean").max()).row(0)
    if low <= 0:
        raise SettingError(
            f"a logarithmic axis needs values above 0, found {low:g}: leave the values linear, "
            "as in --log rounds"
        )
    return [low * 0.95, high * 1.05]


def _channels(
    entries: Sequence[tuple[str, str, list[int]]], style: FigureStyle
) -> tuple[alt.Color, alt.StrokeDash]:
    names = [name for name, _, _ in entries]
    colours, dashes = [colour for _, colour, _ in entries], [dash for _, _, dash in entries]
    widest = round(max(map(len, names)) * LETTER * style.font_size) + SYMBOL
    columns = max(min((style.width - 10) // widest, len(names)), 1)
    legend = alt.Legend(
        title=None,
        values=names,
        columns=columns,
        orient="bottom",
        direction="horizontal",
        labelLimit=style.width - SYMBOL,
        symbolOpacity=1,
        symbolType="stroke",
        symbolStrokeWidth=1.4,
        symbolSize=160,
    )
    return (
        alt.Color("policy:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("policy:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )


def _config(size: int) -> dict[str, Any]:
    """The look of the report on white paper, in one size of type."""
    config = chart_config(dark=False)
    sizes = {"labelFontSize": size, "titleFontSize": size, "titlePadding": 3, "labelPadding": 2}
    ink = {"labelColor": "#000000", "titleColor": "#000000", "domainColor": "#666666", "tickColor": "#666666"}
    return {
        **config,
        "font": FONT,
        "padding": 1,
        "axis": {**config["axis"], **sizes, **ink, "domain": True, "tickSize": 3, "gridWidth": 0.5},
        "legend": {"labelFontSize": size, "columnPadding": 8, "rowPadding": 1, "offset": 4, "padding": 0},
        "header": {"labelFontSize": size, "labelFontWeight": 600, "labelPadding": 3},
        "facet": {"spacing": 8},
    }
