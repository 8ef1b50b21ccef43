"""Exposure charts: a line for each group, in the look of the reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from rankloop.charts import PALETTE
from rankloop.service.extensions.fair.report import AccountReport
from rankloop.service.pages.vega_lite import Spec, layer, layered, number, word

FEWEST = 2  # steps of which a line can be drawn
HEIGHT = 230
GREY = PALETTE[-1]
BAND = (  # the tolerance to both sides of nobody being ahead
    layer("band", {"type": "rect", "color": GREY, "opacity": 0.18}, y=number("low"), y2={"field": "high"}),
    layer("zero", {"type": "rule", "color": GREY, "strokeDash": [4, 3]}, y=number("low")),
)


@dataclass(frozen=True, slots=True)
class GroupChart:
    """Lines of several groups, and their specification for Vega-Lite, without colours of light or dark."""

    name: str  # of the number in `GroupStep`
    title: str
    meaning: str
    spec: Spec


def exposure_charts(account: AccountReport, colours: Mapping[str, str]) -> Iterator[GroupChart]:
    """The account and the clicks per look over time, of the groups that have a colour."""
    if len(account.steps) < FEWEST:
        return
    off = f"Looks ahead or behind; the band is the tolerance of {account.tolerance:g}."
    ahead = list(_points(account, "ahead", colours))
    reach = 1.1 * max(account.tolerance, *(abs(point["y"]) for point in ahead))
    y = {"domain": [-reach, reach], "nice": False}
    lines = _lines(colours, y, "looks ahead", ".2f")
    band: list[Spec] = [{"low": -account.tolerance, "high": account.tolerance}]
    data = {"band": band, "zero": [{"low": 0}], "steps": ahead}
    spec = layered([*BAND, lines], data, height=HEIGHT, description=f"The account over time. {off}")
    yield GroupChart("ahead", "The account over time", off, spec)
    clicks = list(_points(account, "clicks_per_look", colours))
    if any(point["y"] for point in clicks):
        meaning = "What people made of being shown a group: results with a click, per look."
        lines = _lines(colours, {"zero": True}, "clicks per look", ".3f")
        spec = layered([lines], {"steps": clicks}, height=HEIGHT, description=meaning)
        yield GroupChart("clicks_per_look", "Clicks per look", meaning, spec)


def _points(account: AccountReport, name: str, colours: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A number of every step and group that has one; they stand where their last list does."""
    ends = accumulate(step.lists for step in account.steps)
    for end, step in zip(ends, account.steps, strict=True):
        for each in step.groups:
            value = getattr(each, name)
            if each.group in colours and value is not None:
                yield {"x": end, "y": value, "group": each.group}


def _lines(colours: Mapping[str, str], y: Spec, title: str, digits: str) -> Spec:
    scale = {"domain": list(colours), "range": list(colours.values())}
    axis = {"grid": False, "tickCount": 4, "format": "~s"}
    return layer(
        "steps",
        {"type": "line", "strokeWidth": 2.2, "point": {"size": 22, "filled": True}},
        x=number("x", title="lists in this time", axis=axis, scale={"nice": False}),
        y=number("y", axis={"title": None, "format": "~g", "tickCount": 5}, scale=y),
        color=word("group", scale=scale, legend=None),
        tooltip=[
            word("group"),
            number("y", title=title, format=digits),
            number("x", title="lists so far"),
        ],
    )
