"""Values by position in the list: where in a list something is so, and how that changes over the rounds.

A measure with a position is one point of a profile; all points of the profile together are one chart.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import altair as alt
import polars as pl

from rankloop.charts import chart_config
from rankloop.lab.report.curve_charts import (
    MOST_LINES,
    TOTAL_WIDTH,
    axis_title,
    band_strength,
    choose,
    has_bands,
    label_by,
    legend_of,
    span_of,
    value_axis,
    with_foot,
)
from rankloop.lab.simulation.known_measures import NONE, measure_of, point_of
from rankloop.lab.simulation.measures import Measure, Measures

# From the first rounds to the last: steps of one path through the palette, all readable on both backgrounds.
RAMP = ("#E69F00", "#D55E00", "#CC79A7", "#56B4E9", "#0072B2")


def fold_profiles(curves: pl.DataFrame, *, measures: Measures = NONE) -> pl.DataFrame:
    """The curves with all points of a profile under its name, and a column of their positions."""
    names = curves["metric"].unique(maintain_order=True).to_list()
    points = {name: point for name in names if (point := measure_of(name, measures)).profile}
    profiles = {name: point.profile for name, point in points.items()}
    positions = {name: point.position for name, point in points.items()}
    metric = pl.col("metric")
    return curves.with_columns(
        position=metric.replace_strict(positions, default=None, return_dtype=pl.Int64),
        metric=metric.replace(profiles),
    )


def position_profile(
    curves: pl.DataFrame,
    *,
    metric: str,
    data: str | None = None,
    measures: Measures = NONE,
    lines: int = MOST_LINES,
    outside: Collection[str] = (),
    interactive: bool = False,
    dark: bool = False,
) -> alt.FacetChart:
    """One chart: the mean of a profile over positions, a line per round, a panel per user and policy.

    `curves` is what `fold_profiles` returns. The options are those of `learning_curves`; of more policies
    than `lines`, as many have panels.
    """
    legend = legend_of(curves, metric=metric, data=data, lines=lines, outside=outside)
    rows = choose(curves, metric=metric, data=data).filter(pl.col("policy").is_in(legend.shown))
    rows = rows.sort("round", "position", maintain_order=True)
    users, policies, rounds = (
        rows[name].unique(maintain_order=True).to_list() for name in ("user", "policy", "round")
    )
    point = point_of(metric, measures)
    layers = _layers(point, rounds, span=span_of(rows), interactive=interactive)
    if not has_bands(rows):
        layers = layers[1:]
    width = min(max(TOTAL_WIDTH // len(users), 220), 560)
    panels = alt.layer(*layers, data=_records(rows)).properties(width=width, height=200)
    columns = alt.Column("user:N", sort=users, header=alt.Header(title=None))
    side = alt.Header(
        title=None,
        labelAngle=-90,
        labelFontSize=12,
        labels=len(policies) > 1,
        labelExpr=label_by(legend.short),
    )
    facets = panels.facet(column=columns, row=alt.Row("policy:N", sort=policies, header=side))
    if not interactive:
        facets = with_foot(facets, legend, room=width * len(users))
    chart: alt.FacetChart = facets.configure(**chart_config(dark=dark))
    return chart


def round_colours(rounds: list[int]) -> list[str]:
    """A colour for each round, from early to late.

    >>> round_colours([10, 100, 1000])
    ['#E69F00', '#CC79A7', '#0072B2']
    """
    last = max(len(rounds) - 1, 1)
    return [RAMP[round(i * (len(RAMP) - 1) / last)] for i in range(len(rounds))]


def _layers(
    point: Measure, rounds: list[int], *, span: tuple[float, float], interactive: bool
) -> list[alt.Chart]:
    words = "'after ' + format(datum.value, ',') + (datum.value == 1 ? ' round' : ' rounds')"
    symbol: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 260}
    legend = alt.Legend(title=None, labelExpr=words, symbolOpacity=1, **symbol)
    scale = alt.Scale(domain=rounds, range=round_colours(rounds))
    colour = alt.Color("round:O", scale=scale, legend=legend)
    positions = alt.X("position:Q", title="position", axis=alt.Axis(grid=False, tickCount=6))
    mean = alt.Y(
        "mean:Q",
        title=axis_title(point),
        scale=alt.Scale(domain=list(span), zero=False, nice=True),
        axis=value_axis(span),
    )
    strength = band_strength(len(rounds))
    band = alt.Chart().mark_area(opacity=strength, clip=True)
    band = band.encode(x=positions, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    line = alt.Chart().mark_line(strokeWidth=2.2, strokeJoin="round", clip=True)
    line = line.encode(x=positions, y=mean, color=colour)
    if not interactive:
        return [band, line]
    pick = alt.selection_point(name="pick", fields=["round"], bind="legend")
    line = line.encode(opacity=alt.condition(pick, alt.value(1.0), alt.value(0.12)))
    band = band.encode(opacity=alt.condition(pick, alt.value(strength), alt.value(0.02)))
    hover = alt.Chart().mark_point(size=90, opacity=0, filled=True)
    tooltip = [
        alt.Tooltip("policy:N"),
        *(alt.Tooltip(f"{name}:Q", format=",") for name in ("round", "position")),
        *(alt.Tooltip(f"{name}:Q", format=",.4~f") for name in ("mean", "low", "high")),
        alt.Tooltip("runs:Q"),
    ]
    line = line.add_params(pick).properties(name="lines")
    return [band, line, hover.encode(x=positions, y=mean, tooltip=tooltip)]


def _records(rows: pl.DataFrame) -> alt.InlineData:
    numbers = [pl.col(name).round_sig_figs(6) for name in ("mean", "low", "high")]
    return alt.InlineData(
        values=rows.select("user", "policy", "round", "position", "runs", *numbers).to_dicts()
    )
