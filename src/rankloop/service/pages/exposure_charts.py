"""Exposure charts: a line for each group, in the look of the reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import altair as alt

from rankloop.charts import PALETTE
from rankloop.service.extensions.fair.report import AccountReport

FEWEST = 2  # steps of which a line can be drawn
GREY = PALETTE[-1]


@dataclass(frozen=True, slots=True)
class GroupChart:
    """Lines of several groups, and their specification for Vega-Lite, without colours of light or dark."""

    name: str  # of the number in `GroupStep`
    title: str
    meaning: str
    spec: dict[str, Any]


def exposure_charts(account: AccountReport, colours: Mapping[str, str]) -> Iterator[GroupChart]:
    """The account and the clicks per look over time, of the groups that have a colour."""
    if len(account.steps) < FEWEST:
        return
    off = f"Looks ahead or behind; the band is the tolerance of {account.tolerance:g}."
    ahead = list(_points(account, "ahead", colours))
    reach = 1.1 * max(account.tolerance, *(abs(point["y"]) for point in ahead))
    y = alt.Scale(domain=[-reach, reach], nice=False)
    lines = _lines(ahead, colours, y, "looks ahead", ".2f")
    drawn = alt.layer(*_band(account.tolerance), lines)
    yield GroupChart("ahead", "The account over time", off, _spec(drawn, f"The account over time. {off}"))
    clicks = list(_points(account, "clicks_per_look", colours))
    if any(point["y"] for point in clicks):
        meaning = "What people made of being shown a group: results with a click, per look."
        lines = _lines(clicks, colours, alt.Scale(zero=True), "clicks per look", ".3f")
        yield GroupChart("clicks_per_look", "Clicks per look", meaning, _spec(lines, meaning))


def _points(account: AccountReport, name: str, colours: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A number of every step and group that has one; they stand where their last list does."""
    ends = accumulate(step.lists for step in account.steps)
    for end, step in zip(ends, account.steps, strict=True):
        for each in step.groups:
            value = getattr(each, name)
            if each.group in colours and value is not None:
                yield {"x": end, "y": value, "group": each.group}


def _lines(
    points: Sequence[dict[str, Any]], colours: Mapping[str, str], y: alt.Scale, title: str, digits: str
) -> alt.Chart:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    axis = alt.Axis(title=None, format="~g", tickCount=5)
    x = alt.X("x:Q", title="lists in this time", axis=alt.Axis(grid=False, tickCount=4, format="~s"))
    values = alt.InlineData(values=list(points))
    lines: alt.Chart = (
        alt.Chart(values)
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=22, filled=True))
        .encode(
            x=x.scale(nice=False),
            y=alt.Y("y:Q", axis=axis, scale=y),
            color=alt.Color("group:N", scale=scale, legend=None),
            tooltip=[
                alt.Tooltip("group:N"),
                alt.Tooltip("y:Q", title=title, format=digits),
                alt.Tooltip("x:Q", title="lists so far"),
            ],
        )
    )
    return lines


def _band(tolerance: float) -> tuple[alt.Chart, alt.Chart]:
    """The tolerance to both sides of nobody being ahead."""
    area = alt.Chart(alt.InlineData(values=[{"low": -tolerance, "high": tolerance}]))
    zero = alt.Chart(alt.InlineData(values=[{"low": 0}])).mark_rule(color=GREY, strokeDash=[4, 3])
    return area.mark_rect(color=GREY, opacity=0.18).encode(y="low:Q", y2="high:Q"), zero.encode(y="low:Q")


def _spec(chart: alt.TopLevelMixin, description: str) -> dict[str, Any]:
    spec: dict[str, Any] = chart.properties(width="container", height=230, description=description).to_dict()
    spec.pop("config", None)
    return spec
