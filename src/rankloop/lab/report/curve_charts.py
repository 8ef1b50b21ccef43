"""Charts of learning curves and of profiles by position, for a page, as a picture and for a paper."""

from __future__ import annotations

import json
import textwrap
from functools import partial
from typing import Any

import altair as alt

from rankloop.charts import chart_config
from rankloop.lab.report.chart_files import measure_width
from rankloop.lab.report.chart_lines import ChartLines, ChartStyle
from rankloop.lab.simulation.measures import Measure

FOOT = 11  # pixels of the type below a picture
NARROWEST_PANEL = 130  # points of a panel in a paper; narrower ones stand below each other
TYPE = 8  # points of all type in a paper
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
# From the first rounds to the last: steps of one path through the palette, all readable on both backgrounds.
RAMP = ("#E69F00", "#D55E00", "#CC79A7", "#56B4E9", "#0072B2")
SHORT_NUMBER = "datum.value ? format(datum.value, '~s') : '0'"
ONE_TWO_FIVE = (  # of a logarithmic axis, only these leading digits are labelled: others would collide
    "indexof([1, 2, 5], round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) >= 0"
    " ? format(datum.value, '~s') : ''"
)


def draw_lines(lines: ChartLines, style: ChartStyle) -> alt.FacetChart:
    """Draw the lines as what they are: a profile or curves."""
    return draw_profile(lines, style) if lines.measure.profile else draw_curves(lines, style)


def draw_curves(lines: ChartLines, style: ChartStyle) -> alt.FacetChart:
    """Draw the mean over rounds with its 95 % band: a panel per user, all on one scale.

    A chart for a paper is as wide as asked to a point or two: it is drawn, measured, and drawn again.
    """
    users = len(lines.users)
    if style.look != "paper":
        return _draw_panels(lines, style, min(max(style.width // users, 220), 560), beside=True)
    beside = style.width // users >= NARROWEST_PANEL
    across = users if beside else 1
    panel = style.width // across - 5 * TYPE
    for _ in range(2):
        found = measure_width(_draw_panels(lines, style, panel, beside=beside))
        panel -= -(-(found - style.width) // across)
    return _draw_panels(lines, style, panel, beside=beside)


def draw_profile(lines: ChartLines, style: ChartStyle) -> alt.FacetChart:
    """Draw the means of a profile over positions: a line per round, a panel per user and policy."""
    rounds = lines.means["round"].unique().sort().to_list()
    words = "'after ' + format(datum.value, ',') + (datum.value == 1 ? ' round' : ' rounds')"
    legend = alt.Legend(title=None, labelExpr=words, **_symbol(3, 260))
    colours = alt.Scale(domain=rounds, range=spread_colours(len(rounds)))
    axis = alt.Axis(grid=False, tickCount=6)
    layers = _draw_layers(
        lines,
        style,
        x=alt.X("position:Q", title="position", axis=axis),
        channels={"color": alt.Color("round:O", scale=colours, legend=legend)},
        picked="round",
    )
    width = min(max(style.width // len(lines.users), 220), 560)
    panels = alt.layer(*layers, data=_list_points(lines)).properties(width=width, height=200)
    side = alt.Header(
        title=None,
        labelAngle=-90,
        labelFontSize=12,
        labels=len(lines.shown) > 1,
        labelExpr=_label_short(lines),
    )
    facets = panels.facet(
        column=alt.Column("user:N", sort=lines.users, header=alt.Header(title=None)),
        row=alt.Row("policy:N", sort=list(lines.shown), header=side),
    )
    return _finish(facets, lines, style, room=width * len(lines.users))


def spread_colours(count: int) -> list[str]:
    """Spread the colours of rounds from early to late.

    >>> spread_colours(3)
    ['#E69F00', '#CC79A7', '#0072B2']
    """
    last = max(count - 1, 1)
    return [RAMP[round(i * (len(RAMP) - 1) / last)] for i in range(count)]


def title_axis(measure: Measure) -> str:
    """Say what the numbers on the axis of values are, and if less is better."""
    title = measure.title or measure.name
    return f"{title} (lower is better)" if measure.direction == "lower" else title


def _draw_panels(lines: ChartLines, style: ChartStyle, width: int, *, beside: bool) -> alt.FacetChart:
    """Draw a panel of that width for each user, beside or below each other."""
    paper, log = style.look == "paper", style.log in ("rounds", "both")
    rounds = alt.X(
        "round:Q",
        title="rounds",
        scale=alt.Scale(type="log" if log else "linear", nice=not paper),
        axis=alt.Axis(
            grid=False, tickCount=4, labelExpr=ONE_TWO_FIVE if log else SHORT_NUMBER, labelFlush=True
        ),
    )
    room = width * len(lines.users) if not paper else style.width
    layers = _draw_layers(
        lines, style, x=rounds, channels=_style_policies(lines, style, room), picked="policy"
    )
    height = 240 if not paper else max(round(width * (0.75 if beside else 0.42)), 70)
    panels = alt.layer(*layers, data=_list_points(lines)).properties(width=width, height=height)
    header = alt.Header(title=None, labelOrient="top", labelAnchor="middle" if beside else "start")
    if beside:
        facets = panels.facet(column=alt.Column("user:N", sort=lines.users, header=header))
    else:
        facets = panels.facet(row=alt.Row("user:N", sort=lines.users, header=header))
    return _finish(facets, lines, style, room=room)


def _draw_layers(
    lines: ChartLines, style: ChartStyle, *, x: alt.X, channels: dict[str, Any], picked: str
) -> list[alt.Chart]:
    """Bands, if there are enough runs, the lines in front of them, and on a page what can be pointed at."""
    paper = style.look == "paper"
    scale = alt.Scale(domain=list(lines.span), zero=False, nice=True)
    if style.log in ("values", "both"):
        scale = alt.Scale(type="log", domain=list(lines.span), nice=False)
    large: dict[str, Any] = {"labelExpr": SHORT_NUMBER} if lines.span[1] >= 1e4 else {}
    title = lines.measure.name if paper else title_axis(lines.measure)
    y = alt.Y("mean:Q", title=title, scale=scale, axis=alt.Axis(tickCount=4 if paper else 5, **large))
    strength = min(0.15, 0.6 / lines.means[picked].n_unique())  # many bands are fainter
    band = alt.Chart().mark_area(opacity=strength, clip=True)
    band = band.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=channels["color"])
    line = alt.Chart().mark_line(strokeWidth=1.1 if paper else 2.2, strokeJoin="round", clip=True)
    line = line.encode(x=x, y=y, **channels)
    if style.look != "page":
        return [band, line] if lines.has_bands else [line]
    # Named by hand: Altair numbers them otherwise, and the same results would give another file.
    pick = alt.selection_point(name="pick", fields=[picked], bind="legend")
    band = band.encode(opacity=alt.condition(pick, alt.value(strength), alt.value(0.02)))
    line = line.encode(opacity=alt.condition(pick, alt.value(1.0), alt.value(0.12)))
    line = line.add_params(pick).properties(name="lines")
    where = ["round", "position"] if lines.measure.profile else ["round"]
    tooltip = [
        alt.Tooltip("policy:N"),
        *(alt.Tooltip(f"{name}:Q", format=",") for name in where),
        *(alt.Tooltip(f"{name}:Q", format=",.4~f") for name in ("mean", "low", "high")),
        alt.Tooltip("runs:Q"),
    ]
    hover = alt.Chart().mark_point(size=90, opacity=0, filled=True).encode(x=x, y=y, tooltip=tooltip)
    return [band, line, hover] if lines.has_bands else [line, hover]


def _style_policies(lines: ChartLines, style: ChartStyle, room: int) -> dict[str, Any]:
    """Colours and dashes of policies, and their legend: as many names beside each other as have room."""
    names, drawn = list(lines.line_styles), lines.line_styles.values()
    paper = style.look == "paper"
    letter, symbol = (0.52 * TYPE, 26) if paper else (7, 55)
    widths = [round(letter * len(name)) + symbol for name in lines.names.values()]
    below: dict[str, Any] = {"orient": "bottom", "direction": "horizontal"} if paper else {}
    legend = alt.Legend(
        title=None,
        values=list(lines.shown),
        columns=len(widths) if sum(widths) <= room else max(room // max(widths), 1),
        labelExpr=_label_short(lines),
        labelLimit=room - symbol,
        **(_symbol(1.4, 160) if paper else _symbol(3, 260)),
        **below,
    )
    colours = alt.Scale(domain=names, range=[each.colour for each in drawn])
    dashes = alt.Scale(domain=names, range=[list(each.dash) for each in drawn])
    return {
        "color": alt.Color("policy:N", scale=colours, legend=legend),
        "strokeDash": alt.StrokeDash("policy:N", scale=dashes, legend=legend),
    }


def _symbol(width: float, size: int) -> dict[str, Any]:
    return {
        "symbolType": "stroke",
        "symbolStrokeWidth": width,
        "symbolSize": size,
        "symbolOpacity": 1,
    }


def _finish(facets: alt.FacetChart, lines: ChartLines, style: ChartStyle, *, room: int) -> alt.FacetChart:
    """Give the chart its look; below a picture are the key of its names and what it leaves out."""
    if style.look == "paper":
        return facets.configure(**_configure_paper())  # type: ignore[no-any-return]
    paragraphs = [f"{brief}: {name}" for brief, name in lines.abbreviations.items()]
    if lines.left_out:
        paragraphs.append(f"left out: {'; '.join(lines.left_out)}")
    if style.look == "picture" and paragraphs:
        wrap = partial(textwrap.wrap, width=int(room / (0.55 * FOOT)), break_on_hyphens=False)
        text = [line for paragraph in paragraphs for line in wrap(paragraph)]
        title = alt.TitleParams(
            text, orient="bottom", anchor="start", fontSize=FOOT, fontWeight="normal", offset=14
        )
        facets = facets.properties(title=title)
    return facets.configure(**chart_config(dark=style.dark))  # type: ignore[no-any-return]


def _configure_paper() -> dict[str, Any]:
    """Give the look of the report on white paper, in one size of type."""
    config = chart_config(dark=False)
    sizes = {"labelFontSize": TYPE, "titleFontSize": TYPE, "titlePadding": 3, "labelPadding": 2}
    ink = {"labelColor": "#000000", "titleColor": "#000000", "domainColor": "#666666", "tickColor": "#666666"}
    lines = {"domain": True, "tickSize": 3, "gridWidth": 0.5, "titleFontWeight": "normal"}
    return {
        **config,
        "font": FONT,
        "padding": 1,
        "axis": {**config["axis"], **sizes, **ink, **lines},
        "legend": {"labelFontSize": TYPE, "columnPadding": 8, "rowPadding": 1, "offset": 4, "padding": 0},
        "header": {"labelFontSize": TYPE, "labelFontWeight": 600, "labelPadding": 3},
        "facet": {"spacing": 8},
    }


def _label_short(lines: ChartLines) -> str:
    """Write the expression by which Vega writes short names in place of whole ones."""
    return f"{json.dumps(dict(lines.names))}[datum.label]"


def _list_points(lines: ChartLines) -> alt.InlineData:
    """Give the means as plain values: inline, because Altair refuses long frames."""
    means = lines.means.drop("data")
    if not lines.measure.profile:
        return alt.InlineData(values=means.drop("position").to_dicts())
    return alt.InlineData(values=means.sort("round", "position", maintain_order=True).to_dicts())
