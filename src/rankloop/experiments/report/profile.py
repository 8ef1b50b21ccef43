"""Values by position in the list: where in a list something is so, and how that changes over the rounds.

A metric whose name ends in `at position 17` is one point of a profile; all its points together are the
profile `... by position`, and one chart.
"""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import polars as pl

from rankloop.charts import chart_config
from rankloop.experiments.report.charts import (
    TOTAL_WIDTH,
    axis_title,
    band_strength,
    choose,
    has_bands,
    span_of,
    value_axis,
)

POINT = r"^(.+) at position (\d+)$"
BY_POSITION = " by position"
# From the first rounds to the last: steps of one path through the palette, all readable on both backgrounds.
RAMP = ("#E69F00", "#D55E00", "#CC79A7", "#56B4E9", "#0072B2")


def is_profile(metric: str) -> bool:
    """Whether a name is that of a profile.

    >>> is_profile("block size by position"), is_profile("blocks")
    (True, False)
    """
    return metric.endswith(BY_POSITION)


def fold_name(metric: str) -> str:
    """The profile that a metric is a point of; any other metric is its own.

    >>> fold_name("block size at position 17"), fold_name("blocks")
    ('block size by position', 'blocks')
    """
    return re.sub(POINT, rf"\1{BY_POSITION}", metric)


def fold_profiles(curves: pl.DataFrame) -> pl.DataFrame:
    """The curves with all points of a profile under its name, and a column of their positions."""
    metric = pl.col("metric")
    position = metric.str.extract(POINT, 2).cast(pl.Int64)
    return curves.with_columns(position=position, metric=metric.str.replace(POINT, f"${{1}}{BY_POSITION}"))


def position_profile(
    curves: pl.DataFrame,
    *,
    metric: str,
    data: str | None = None,
    interactive: bool = False,
    dark: bool = False,
) -> alt.FacetChart:
    """One chart: the mean of a profile over positions, a line per round, a panel per user and policy.

    `curves` is what `fold_profiles` returns. The options are those of `learning_curves`.
    """
    rows = choose(curves, metric=metric, data=data).sort("round", "position", maintain_order=True)
    users, policies, rounds = (
        rows[name].unique(maintain_order=True).to_list() for name in ("user", "policy", "round")
    )
    layers = _layers(metric, rounds, span=span_of(rows), interactive=interactive)
    if not has_bands(rows):
        layers = layers[1:]
    width = min(max(TOTAL_WIDTH // len(users), 220), 560)
    panels = alt.layer(*layers, data=_records(rows)).properties(width=width, height=200)
    columns = alt.Column("user:N", sort=users, header=alt.Header(title=None))
    side = alt.Header(title=None, labelAngle=-90, labelFontSize=12, labels=len(policies) > 1)
    facets = panels.facet(column=columns, row=alt.Row("policy:N", sort=policies, header=side))
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
    metric: str, rounds: list[int], *, span: tuple[float, float], interactive: bool
) -> list[alt.Chart]:
    words = "'after ' + format(datum.value, ',') + (datum.value == 1 ? ' round' : ' rounds')"
    symbol: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 260}
    legend = alt.Legend(title=None, labelExpr=words, symbolOpacity=1, **symbol)
    scale = alt.Scale(domain=rounds, range=round_colours(rounds))
    colour = alt.Color("round:O", scale=scale, legend=legend)
    positions = alt.X("position:Q", title="position", axis=alt.Axis(grid=False, tickCount=6))
    mean = alt.Y(
        "mean:Q",
        title=axis_title(metric).removesuffix(BY_POSITION),
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
