"""Lines of a chart: which policies it draws, how each is called and looks, and what the axes span."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import polars as pl

from rankloop.bounds import Bound, Count, check_settings
from rankloop.errors import SettingError
from rankloop.lab.analysis.policy_summaries import average_curves
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.report.series_names import (
    LineStyle,
    assign_line_styles,
    find_abbreviations,
    find_family,
    shorten_names,
)
from rankloop.lab.simulation.measures import Measure

MOST_POINTS = 200  # per line: more cannot be told apart on a panel and only make the file large
FEWEST_FOR_A_BAND = 3  # the interval of two runs is so wide that it would hide the lines

Look = Literal["page", "picture", "paper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartStyle:
    """How a chart is drawn: its width, which axes are logarithmic, how many lines, and where it is shown.

    On a page a chart can be pointed at; a picture has the key of short names below it; in a paper all type
    has one size, and the width is in points: 240 are one column of two (ACM, IEEE), 505 the whole page.
    `smooth` draws means over so many checkpoints, taken within each run, up to the one shown. Of more
    policies than `lines`, the best of each family are drawn first, then the best of all.
    """

    width: Annotated[int, Bound(at_least=150)] = 930
    log: Literal["none", "rounds", "values", "both"] = "none"
    smooth: Count = 1
    lines: Count = 8  # the eye follows no more
    look: Look = "picture"
    dark: bool = False  # a page knows for itself

    def __post_init__(self) -> None:
        """Refuse what could not be read."""
        check_settings(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLines:
    """Means of one measure on one dataset, ready to be drawn: a panel per user, a line per policy.

    Of a profile, whose points are measures with a position, there are panels per user and policy, and a line
    per round.
    """

    metric: str
    data: str
    measure: Measure  # of a profile, one of its points
    means: pl.DataFrame  # user, policy, round, position, runs, mean, low, high
    shown: Sequence[str]  # policies, the best first
    left_out: Sequence[str]
    names: Mapping[str, str]  # short ones of those shown
    line_styles: Mapping[str, LineStyle]  # of all policies of the results, so that charts agree
    span: tuple[float, float]  # of the axis of values

    @property
    def users(self) -> list[str]:
        """Users in their order, a panel for each."""
        return self.means["user"].unique(maintain_order=True).to_list()

    @property
    def has_bands(self) -> bool:
        """Whether there are enough runs for intervals that can be drawn."""
        return bool((self.means["runs"] >= FEWEST_FOR_A_BAND).any())

    @property
    def abbreviations(self) -> dict[str, str]:
        """Short names, and what they stand for."""
        return find_abbreviations(self.names)


def list_charts(analysis: SweepAnalysis) -> list[tuple[str, str]]:
    """List what a report draws: pairs of a metric, or profile, and a dataset; the main metrics, or all."""
    pairs = analysis.results.select("metric", "data").unique(maintain_order=True).rows()
    charts = list(dict.fromkeys((analysis.measures[name].profile or name, data) for name, data in pairs))
    return [pair for metric in analysis.main_metrics for pair in charts if pair[0] == metric] or charts


def choose_lines(
    analysis: SweepAnalysis, metric: str, *, data: str | None = None, style: ChartStyle | None = None
) -> ChartLines:
    """Choose the lines of one chart: of a metric or a profile, on one dataset.

    A policy has the same short name, colour and dashes in all charts of an analysis.
    """
    style = style or ChartStyle()
    chosen = [each for name, each in analysis.measures.items() if metric in (name, each.profile)]
    means = _choose_means(analysis, metric, {each.name: each.position for each in chosen}, data, style)
    measure = chosen[0]
    ordered = _order_policies(means, measure)
    shown, left_out = choose_policies(ordered, style.lines, analysis.reference_policies)
    means = means.filter(pl.col("policy").is_in(shown))
    if style.log in ("rounds", "both"):
        means = means.filter(pl.col("round") >= 1)  # a logarithmic axis has no place for round 0
    names = shorten_names(analysis.policies)
    return ChartLines(
        metric=metric,
        data=str(means["data"][0]),
        measure=measure,
        means=_thin(means),
        shown=shown,
        left_out=left_out,
        names={name: names[name] for name in shown},
        line_styles=assign_line_styles(analysis.policies),
        span=_span_logarithm(means) if style.log in ("values", "both") else _span(means, measure),
    )


def choose_policies(
    ordered: Sequence[str], most: int, reference_policies: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Choose which policies are drawn, best first, and which are left out.

    Those shown for reference only keep their line; then comes the best of each family, then the best of all.

    >>> choose_policies(["A(x=1)", "A(x=2)", "A", "B"], 3)
    (['A(x=1)', 'A(x=2)', 'B'], ['A'])
    """
    firsts = list({find_family(name): name for name in reversed(ordered)}.values())
    ranked = sorted(
        ordered, key=lambda name: (name not in reference_policies, name not in firsts, ordered.index(name))
    )
    kept = set(ranked[:most])
    return [name for name in ordered if name in kept], [name for name in ordered if name not in kept]


def smooth_runs(results: pl.DataFrame, checkpoints: int) -> pl.DataFrame:
    """Smooth values within each run over the last `checkpoints`, so that bands stay honest."""
    run = ["data", "fold", "user", "policy", "seed", "metric"]
    mean = pl.col("value").rolling_mean(checkpoints, min_samples=1).over(run, order_by="round")
    return results.with_columns(value=mean)


def _choose_means(
    analysis: SweepAnalysis,
    metric: str,
    positions: Mapping[str, int | None],
    data: str | None,
    style: ChartStyle,
) -> pl.DataFrame:
    if not positions:
        known = ", ".join(map(repr, sorted(analysis.measures)))
        raise SettingError(f"no curve has the metric {metric!r}; there are: {known}")
    own = pl.col("metric").is_in(list(positions))
    if style.smooth > 1:
        curves = average_curves(smooth_runs(analysis.results.filter(own), style.smooth))
    else:
        curves = analysis.curves.filter(own)
    found = curves if data is None else curves.filter(pl.col("data") == data)
    if found["data"].n_unique() != 1:
        known = ", ".join(map(repr, sorted(curves["data"].unique())))
        raise SettingError(f"a chart shows one data set; choose data from: {known}")
    return found.with_columns(position=pl.col("metric").replace_strict(positions, return_dtype=pl.Int64))


def _order_policies(means: pl.DataFrame, measure: Measure) -> list[str]:
    """Policies by their last mean over users, the best first, so that the legend reads like the lines do."""
    last = means.group_by("user", "policy").agg(pl.col("mean").sort_by("round").last())
    standing = last.group_by("policy").agg(pl.col("mean").mean().round_sig_figs(6))
    worst_last = standing.sort("mean", "policy", descending=[measure.direction != "lower", False])
    return worst_last["policy"].to_list()


def _span(means: pl.DataFrame, measure: Measure) -> tuple[float, float]:
    """Find what the axis of values shows: all means with some air; the bands of few runs may reach further.

    The first 1 % of the rounds is left out: a policy that knows nothing yet would squeeze all that follows.
    """
    if not measure.profile:
        means = means.filter(pl.col("round") >= 0.01 * pl.col("round").max())
    low, high = means.select(low=pl.col("mean").min(), high=pl.col("mean").max()).row(0)
    air = 0.1 * (high - low) or 0.1
    top = high + air if high > 1 else min(high + air, 1.02)  # shares and nDCG end at 1
    return (low - air if low < 0 else max(low - air, 0.0)), top


def _span_logarithm(means: pl.DataFrame) -> tuple[float, float]:
    low, high = means.select(low=pl.col("mean").min(), high=pl.col("mean").max()).row(0)
    if low <= 0:
        raise SettingError(
            f"a logarithmic axis needs values above 0, found {low:g}: leave the values linear, "
            "as in --log rounds"
        )
    return low * 0.95, high * 1.05


def _thin(means: pl.DataFrame) -> pl.DataFrame:
    """As many rounds as can be told apart, and as many digits."""
    rounds = means["round"].unique().sort()
    step = -(-len(rounds) // MOST_POINTS)
    kept = rounds.reverse().gather_every(step).to_list()  # from the end: the last round is the result
    numbers = [pl.col(name).round_sig_figs(6) for name in ("mean", "low", "high")]
    columns = ["data", "user", "policy", "round", "position", "runs"]
    return means.filter(pl.col("round").is_in(kept)).select(*columns, *numbers)
