"""Figures for a paper drawn by Vega: PDF with its type embedded, or SVG."""

from __future__ import annotations

import re
from typing import Any, Literal

import altair as alt
import vl_convert

from rankloop.charts import chart_config
from rankloop.lab.report.chart_lines import SYMBOL, TYPE, Drawing
from rankloop.lab.report.curve_charts import band_strength, has_bands, records

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
ONE_TWO_FIVE = (  # of a logarithmic axis, only these leading digits are labelled: others would collide
    "indexof([1, 2, 5], round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) >= 0"
    " ? format(datum.value, '~s') : ''"
)


def vega_picture(drawing: Drawing, kind: Literal["pdf", "svg"]) -> bytes:
    """The figure as a file; a pixel of the specification is a point."""
    spec = _fitted(drawing)
    if kind == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec))
    return str(vl_convert.vegalite_to_svg(spec)).encode()


def _fitted(drawing: Drawing) -> str:
    """The specification whose picture is as wide as asked: drawn once, measured, and drawn again."""
    style = drawing.style
    across = len(drawing.users) if drawing.beside else 1
    panel = style.width // across - 5 * TYPE
    for _ in range(2):
        found = re.search(r'width="(\d+)', vl_convert.vegalite_to_svg(_chart(drawing, panel).to_json()))
        assert found
        panel -= -(-(int(found[1]) - style.width) // across)
    return _chart(drawing, panel).to_json()


def _chart(drawing: Drawing, panel: int) -> alt.FacetChart:
    height = max(round(panel * (0.75 if drawing.beside else 0.42)), 70)
    layered = alt.layer(*_layers(drawing), data=records(drawing.means)).properties(width=panel, height=height)
    users = list(drawing.users)
    anchor: Literal["start", "middle"] = "middle" if drawing.beside else "start"
    header = alt.Header(title=None, labelOrient="top", labelAnchor=anchor)
    if drawing.beside:
        facets = layered.facet(column=alt.Column("user:N", sort=users, header=header))
    else:
        facets = layered.facet(row=alt.Row("user:N", sort=users, header=header))
    chart: alt.FacetChart = facets.configure(**_config())
    return chart


def _layers(drawing: Drawing) -> list[alt.Chart]:
    colour, dash = _channels(drawing)
    span = drawing.span
    shown = ONE_TWO_FIVE if drawing.log_rounds else "datum.value ? format(datum.value, '~s') : '0'"
    rounds = alt.X(
        "round:Q",
        title="rounds",
        scale=alt.Scale(type="log" if drawing.log_rounds else "linear", nice=False),
        axis=alt.Axis(grid=False, tickCount=4, labelExpr=shown, labelFlush=True),
    )
    scale = alt.Scale(domain=list(span), zero=False, nice=True)
    if drawing.log_values:
        scale = alt.Scale(type="log", domain=list(span), nice=False)
    value = alt.Axis(tickCount=4, format="~s" if span[1] >= 1e4 else "~g", titleFontWeight="normal")
    mean = alt.Y("mean:Q", title=drawing.measure.name, scale=scale, axis=value)
    line = alt.Chart().mark_line(strokeWidth=1.1, strokeJoin="round", clip=True)
    layers = [line.encode(x=rounds, y=mean, color=colour, strokeDash=dash)]
    if has_bands(drawing.means):
        band = alt.Chart().mark_area(opacity=band_strength(len(drawing.lines)), clip=True)
        layers.insert(0, band.encode(x=rounds, y=alt.Y("low:Q"), y2="high:Q", color=colour))
    return layers


def _channels(drawing: Drawing) -> tuple[alt.Color, alt.StrokeDash]:
    names, strokes = list(drawing.lines), drawing.lines.values()
    colours, dashes = [stroke.colour for stroke in strokes], [list(stroke.dash) for stroke in strokes]
    legend = alt.Legend(
        title=None,
        values=names,
        columns=drawing.legend_columns,
        orient="bottom",
        direction="horizontal",
        labelLimit=drawing.style.width - SYMBOL,
        symbolOpacity=1,
        symbolType="stroke",
        symbolStrokeWidth=1.4,
        symbolSize=160,
    )
    return (
        alt.Color("policy:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("policy:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )


def _config() -> dict[str, Any]:
    """The look of the report on white paper, in one size of type."""
    config, size = chart_config(dark=False), TYPE
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
