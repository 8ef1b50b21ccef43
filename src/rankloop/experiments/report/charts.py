"""Learning curves: how every policy does while it learns, one panel per user model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from rankloop.charts import chart_config, short_names, strokes
from rankloop.experiments.simulation.known_measures import NONE, measure_of
from rankloop.experiments.simulation.measures import Measure, Measures
from rankloop.types import SettingError

TOTAL_WIDTH = 930  # pixels for all panels together
MOST_POINTS = 200  # per line: more cannot be told apart on a panel and only make the file large
FEWEST_FOR_A_BAND = 3  # the interval of two runs is so wide that it would hide the lines
LONGEST_NAME = 50  # letters of a policy's name in a legend of several columns
LONG = 32  # letters of a name, from which on the legend of a page has short ones


def learning_curves(
    curves: pl.DataFrame,
    *,
    metric: str,
    data: str | None = None,
    measures: Measures = NONE,
    interactive: bool = False,
    dark: bool = False,
) -> alt.FacetChart:
    """One chart: the mean of `metric` over rounds with its 95 % band, a panel per user.

    `curves` is what `statistics.curves` returns. Give the whole frame even for one metric: the colour
    of a policy depends on all policies in it, so that it is the same in every chart. With several data
    sets, `data` chooses one. `measures` say what each is; the usual ones are known. `interactive` adds
    tooltips and a legend that can be clicked.
    """
    rows, measure = choose(curves, metric=metric, data=data), measure_of(metric, measures)
    users = rows["user"].unique(maintain_order=True).to_list()
    width = min(max(TOTAL_WIDTH // len(users), 220), 560)
    channels = _policy_channels(
        curves["policy"].to_list(),
        shown=best_first(rows, measure),
        room=width * len(users),
        short=brief_names(curves["policy"].to_list()) if interactive else {},
    )
    strength = band_strength(rows["policy"].n_unique())
    layers = _layers(
        measure, *channels, span=span_of(after_the_start(rows)), strength=strength, interactive=interactive
    )
    if not has_bands(rows):
        layers = layers[1:]
    panels = alt.layer(*layers, data=records(rows)).properties(width=width, height=240)
    facets = panels.facet(column=alt.Column("user:N", sort=users, header=alt.Header(title=None)))
    chart: alt.FacetChart = facets.configure(**chart_config(dark=dark))
    return chart


def brief_names(policies: Sequence[str]) -> dict[str, str]:
    """The short names for the legend of a page, where a key can stand below; none if all names are short.

    >>> brief_names(["pdgd", "pairrank:certainty=width(0.1),exploration=optimistic"])
    {'pairrank:certainty=width(0.1),exploration=optimistic': 'pairrank', 'pdgd': 'pdgd'}
    >>> brief_names(["pdgd", "mgd:step=0.1"])
    {}
    """
    return short_names(policies) if max(map(len, policies), default=0) > LONG else {}


def axis_title(measure: Measure) -> str:
    """What the numbers on the vertical axis are.

    >>> axis_title(measure_of("offline nDCG@10")), axis_title(measure_of("pairwise regret"))
    ('nDCG@10 on held-out queries', 'cumulative pairwise regret (lower is better)')
    """
    title = measure.title or measure.name
    return f"{title} (lower is better)" if measure.direction == "lower" else title


def _layers(
    measure: Measure,
    colour: alt.Color,
    dash: alt.StrokeDash,
    *,
    span: tuple[float, float],
    strength: float,
    interactive: bool,
) -> list[alt.Chart]:
    thousands = alt.Axis(grid=False, tickCount=4, labelExpr="datum.value ? format(datum.value, '~s') : '0'")
    rounds = alt.X("round:Q", title="rounds", axis=thousands)
    scale = alt.Scale(domain=list(span), zero=False, nice=True)
    mean = alt.Y("mean:Q", title=axis_title(measure), scale=scale, axis=value_axis(span))
    band = (
        alt.Chart()
        .mark_area(opacity=strength, clip=True)
        .encode(x=rounds, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    )
    line = alt.Chart().mark_line(strokeWidth=2.2, strokeJoin="round", clip=True)
    line = line.encode(x=rounds, y=mean, color=colour, strokeDash=dash)
    if not interactive:
        return [band, line]
    # Named by hand: Altair numbers them otherwise, and the same results would give another file.
    pick = alt.selection_point(name="pick", fields=["policy"], bind="legend")
    picked = alt.condition(pick, alt.value(1.0), alt.value(0.12))
    line = line.encode(opacity=picked).add_params(pick).properties(name="lines")
    band = band.encode(opacity=alt.condition(pick, alt.value(strength), alt.value(0.02)))
    hover = alt.Chart().mark_point(size=90, opacity=0, filled=True)
    tooltip = [
        alt.Tooltip("policy:N"),
        alt.Tooltip("round:Q", format=","),
        *(alt.Tooltip(f"{name}:Q", format=",.4~f") for name in ("mean", "low", "high")),
        alt.Tooltip("runs:Q"),
    ]
    return [band, line, hover.encode(x=rounds, y=mean, tooltip=tooltip)]


def _policy_channels(
    policies: Sequence[str], *, shown: Sequence[str], room: int, short: Mapping[str, str]
) -> tuple[alt.Color, alt.StrokeDash]:
    drawn = strokes(policies)
    names, colours = list(drawn), [stroke.colour for stroke in drawn.values()]
    dashes = [list(stroke.dash) for stroke in drawn.values()]
    symbol: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 260}
    told = [short.get(name, name) for name in shown]
    widths = [7 * min(len(name), LONGEST_NAME) + 55 for name in told]  # about what a name and its line take
    if short:
        symbol["labelExpr"] = f"{json.dumps(short)}[datum.label] || datum.label"
    columns = len(shown) if sum(widths) <= room else max(room // max(widths), 1)
    limit = 7 * LONGEST_NAME if columns > 1 else room - 55  # alone in its row, a name may be as long as that
    legend = alt.Legend(
        title=None, values=shown, columns=columns, labelLimit=limit, symbolOpacity=1, **symbol
    )
    return (
        alt.Color("policy:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("policy:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )


def choose(curves: pl.DataFrame, *, metric: str, data: str | None) -> pl.DataFrame:
    """The rows of one metric on one data set."""
    rows = curves.filter(pl.col("metric") == metric)
    if rows.is_empty():
        raise SettingError(f"no curve has the metric {metric!r}; there are: {_known(curves, 'metric')}")
    if data is not None:
        rows = rows.filter(pl.col("data") == data)
    if rows["data"].n_unique() != 1:
        raise SettingError(f"a chart shows one data set; choose data from: {_known(curves, 'data')}")
    return rows


def span_of(rows: pl.DataFrame) -> tuple[float, float]:
    """What the vertical axis shows: all means with some air; the bands of few runs may reach further."""
    low, high = rows.select(low=pl.col("mean").min(), high=pl.col("mean").max()).row(0)
    air = 0.1 * (high - low) or 0.1
    top = high + air if high > 1 else min(high + air, 1.02)  # shares and nDCG end at 1
    return (low - air if low < 0 else max(low - air, 0.0)), top


def after_the_start(rows: pl.DataFrame) -> pl.DataFrame:
    """All but the first 1 % of the rounds: a policy that knows nothing yet would squeeze all that follows."""
    return rows.filter(pl.col("round") >= 0.01 * pl.col("round").max())


def value_axis(span: tuple[float, float]) -> alt.Axis:
    """The vertical axis, with short labels for large numbers: 20M."""
    return alt.Axis(tickCount=5, format="~s") if span[1] >= 1e5 else alt.Axis(tickCount=5)


def has_bands(rows: pl.DataFrame) -> bool:
    """Whether there are enough runs for intervals that can be drawn."""
    return bool((rows["runs"] >= FEWEST_FOR_A_BAND).any())


def band_strength(lines: int) -> float:
    """How opaque a band is: many bands are fainter, so that the lines stay in front.

    >>> band_strength(2), band_strength(10)
    (0.15, 0.06)
    """
    return min(0.15, 0.6 / lines)


def best_first(rows: pl.DataFrame, measure: Measure) -> list[str]:
    """Policies by their last mean over users, so that the legend reads like the curves do."""
    last = rows.group_by("user", "policy").agg(pl.col("mean").sort_by("round").last())
    standing = last.group_by("policy").agg(pl.col("mean").mean().round_sig_figs(6))
    worst_last = standing.sort("mean", "policy", descending=[measure.direction != "lower", False])
    return worst_last["policy"].to_list()


def records(rows: pl.DataFrame) -> alt.InlineData:
    """The rows as plain values, thinned; inline because Altair refuses long frames."""
    rounds = rows["round"].unique().sort()
    step = -(-len(rounds) // MOST_POINTS)
    kept = rounds.reverse().gather_every(step).to_list()  # from the end: the last round is the result
    columns = ["user", "policy", "round", "runs"]
    numbers = [pl.col(name).round_sig_figs(6) for name in ("mean", "low", "high")]
    return alt.InlineData(
        values=rows.filter(pl.col("round").is_in(kept)).select(*columns, *numbers).to_dicts()
    )


def _known(curves: pl.DataFrame, column: str) -> str:
    return ", ".join(map(repr, sorted(set(curves[column].to_list()))))
