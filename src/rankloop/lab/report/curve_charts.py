"""Learning curves: how every policy does while it learns, one panel per user model."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from rankloop.charts import chart_config
from rankloop.errors import SettingError
from rankloop.lab.report.series_names import family, key, short_names, strokes
from rankloop.lab.simulation.known_measures import NONE, measure_of
from rankloop.lab.simulation.measures import Measure, Measures

TOTAL_WIDTH = 930  # pixels for all panels together
MOST_POINTS = 200  # per line: more cannot be told apart on a panel and only make the file large
FEWEST_FOR_A_BAND = 3  # the interval of two runs is so wide that it would hide the lines
MOST_LINES = 8  # of a chart, unless more are asked for: the eye follows no more
FOOT = 11  # pixels of the type below a picture


def learning_curves(
    curves: pl.DataFrame,
    *,
    metric: str,
    data: str | None = None,
    measures: Measures = NONE,
    lines: int = MOST_LINES,
    outside: Collection[str] = (),
    width: int = TOTAL_WIDTH,
    interactive: bool = False,
    dark: bool = False,
) -> alt.FacetChart:
    """One chart: the mean of `metric` over rounds with its 95 % band, a panel per user.

    `curves` is what `statistics.curves` returns. Give the whole frame even for one metric: the colour
    of a policy depends on all policies in it, so that it is the same in every chart. With several data
    sets, `data` chooses one. `measures` say what each is; the usual ones are known. Of more policies than
    `lines` those are drawn that `chosen_lines` chooses. Long names are shortened, and a picture has the key
    below it. All panels together are about `width` pixels wide. `interactive` adds tooltips and a legend that
    can be clicked, and leaves the key to the page.
    """
    measure = measure_of(metric, measures)
    legend = legend_of(curves, metric=metric, data=data, measures=measures, lines=lines, outside=outside)
    rows = choose(curves, metric=metric, data=data).filter(pl.col("policy").is_in(legend.shown))
    users = rows["user"].unique(maintain_order=True).to_list()
    panel = min(max(width // len(users), 220), 560)
    channels = _policy_channels(curves["policy"].to_list(), legend, room=panel * len(users))
    strength = band_strength(rows["policy"].n_unique())
    layers = _layers(
        measure, *channels, span=span_of(after_the_start(rows)), strength=strength, interactive=interactive
    )
    if not has_bands(rows):
        layers = layers[1:]
    panels = alt.layer(*layers, data=records(rows)).properties(width=panel, height=240)
    facets = panels.facet(column=alt.Column("user:N", sort=users, header=alt.Header(title=None)))
    if not interactive:
        facets = with_foot(facets, legend, room=panel * len(users))
    chart: alt.FacetChart = facets.configure(**chart_config(dark=dark))
    return chart


@dataclass(frozen=True, slots=True)
class Legend:
    """Which policies a chart draws, the best first, which it leaves out, and how each is called in it."""

    shown: Sequence[str]
    left_out: Sequence[str]
    short: Mapping[str, str]  # of those shown

    @property
    def key(self) -> dict[str, str]:
        """Short names, and what they stand for."""
        return key(dict(self.short))


def legend_of(
    curves: pl.DataFrame,
    *,
    metric: str,
    data: str | None,
    measures: Measures = NONE,
    lines: int = MOST_LINES,
    outside: Collection[str] = (),
) -> Legend:
    """The legend of one chart; a policy has the same short name in all charts of these curves."""
    rows = choose(curves, metric=metric, data=data)
    shown, left_out = chosen_lines(best_first(rows, measure_of(metric, measures)), lines, outside)
    short = short_names(curves["policy"].unique())
    return Legend(shown, left_out, {name: short[name] for name in shown})


def with_foot(chart: alt.FacetChart, legend: Legend, *, room: int) -> alt.FacetChart:
    """The chart with the key of its short names below it, and with what it leaves out, if there is any."""
    paragraphs = [f"{brief}: {name}" for brief, name in legend.key.items()]
    if legend.left_out:
        paragraphs.append(f"left out: {'; '.join(legend.left_out)}")
    wrap = partial(textwrap.wrap, width=int(room / (0.55 * FOOT)), break_on_hyphens=False)
    lines = [line for paragraph in paragraphs for line in wrap(paragraph)]
    style: dict[str, Any] = {"orient": "bottom", "anchor": "start", "fontSize": FOOT, "fontWeight": "normal"}
    return chart.properties(title=alt.TitleParams(lines, **style, offset=14)) if lines else chart


def label_by(short: Mapping[str, str]) -> str:
    """The expression by which Vega writes short names in place of whole ones.

    >>> label_by({"MGD(step=0.1)": "mgd"})
    '{"MGD(step=0.1)": "mgd"}[datum.label]'
    """
    return f"{json.dumps(dict(short))}[datum.label]"


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
    policies: Sequence[str], chosen: Legend, *, room: int
) -> tuple[alt.Color, alt.StrokeDash]:
    drawn = strokes(policies)
    names, colours = list(drawn), [stroke.colour for stroke in drawn.values()]
    dashes = [list(stroke.dash) for stroke in drawn.values()]
    symbol: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 260}
    widths = [7 * len(name) + 55 for name in chosen.short.values()]  # about what a name and its line take
    columns = len(widths) if sum(widths) <= room else max(room // max(widths), 1)
    legend = alt.Legend(
        title=None,
        values=list(chosen.shown),
        columns=columns,
        labelExpr=label_by(chosen.short),
        labelLimit=room - 55,
        symbolOpacity=1,
        **symbol,
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


def chosen_lines(
    ordered: Sequence[str], most: int, outside: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Which policies are drawn, best first, and which are left out.

    Those shown for reference only keep their line; then comes the best of each family, then the best of all.

    >>> chosen_lines(["a(x=1)", "a(x=2)", "a", "b"], 3)
    (['a(x=1)', 'a(x=2)', 'b'], ['a'])
    """
    firsts = list({family(name): name for name in reversed(ordered)}.values())
    ranked = sorted(ordered, key=lambda name: (name not in outside, name not in firsts, ordered.index(name)))
    kept = set(ranked[:most])
    return [name for name in ordered if name in kept], [name for name in ordered if name not in kept]


def records(rows: pl.DataFrame) -> alt.InlineData:
    """The rows as plain values, thinned; inline because Altair refuses long frames."""
    return alt.InlineData(values=thinned(rows).to_dicts())


def thinned(rows: pl.DataFrame) -> pl.DataFrame:
    """As many rounds as can be told apart, and as many digits."""
    rounds = rows["round"].unique().sort()
    step = -(-len(rounds) // MOST_POINTS)
    kept = rounds.reverse().gather_every(step).to_list()  # from the end: the last round is the result
    columns = ["user", "policy", "round", "runs"]
    numbers = [pl.col(name).round_sig_figs(6) for name in ("mean", "low", "high")]
    return rows.filter(pl.col("round").is_in(kept)).select(*columns, *numbers)


def _known(curves: pl.DataFrame, column: str) -> str:
    return ", ".join(map(repr, sorted(set(curves[column].to_list()))))
