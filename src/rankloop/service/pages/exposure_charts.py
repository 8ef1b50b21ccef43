"""Chart of an exposure account: a line for each group, in the look of the reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def account_chart(account: AccountReport, colours: Mapping[str, str]) -> Spec | None:
    """The account over time, of the groups that have a colour; None: there are too few lists to draw it."""
    if len(account.steps) < FEWEST:
        return None
    off = f"Looks ahead or behind; the band is the tolerance of {account.tolerance:g}."
    ahead = list(_points(account, colours))
    reach = 1.1 * max(account.tolerance, *(abs(point["y"]) for point in ahead))
    lines = _lines(colours, {"domain": [-reach, reach], "nice": False})
    band: list[Spec] = [{"low": -account.tolerance, "high": account.tolerance}]
    data = {"band": band, "zero": [{"low": 0}], "steps": ahead}
    return layered([*BAND, lines], data, height=HEIGHT, description=f"The account over time. {off}")


def _points(account: AccountReport, colours: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Who is ahead after every step; points stand where its last list does."""
    ends = accumulate(step.lists for step in account.steps)
    for end, step in zip(ends, account.steps, strict=True):
        for each in step.groups:
            if each.group in colours:
                yield {"x": end, "y": each.ahead, "group": each.group}


def _lines(colours: Mapping[str, str], y: Spec) -> Spec:
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
            number("y", title="looks ahead", format=".2f"),
            number("x", title="lists so far"),
        ],
    )
