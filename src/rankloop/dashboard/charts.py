"""Overview charts: one line each, in the look of the reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

import altair as alt

from rankloop.charts import PALETTE
from rankloop.service.operations.traffic import By, Overview

FEWEST = 2  # steps of which a line can be drawn


@dataclass(frozen=True, slots=True)
class Line:
    """Something to draw: a number of every step, what it means, and its colour."""

    name: str  # of the number in `Overview`
    title: str
    meaning: str
    colour: str
    share: bool = True  # between 0 and 1


LINES = (
    Line("ctr", "Lists with a click", "How many of the lists shown got at least one click?", PALETTE[0]),
    Line(
        "mrr",
        "First clicks near the top",
        "Mean of 1 / position of the first click.",
        PALETTE[2],
    ),
    Line(
        "settled",
        "Settled pairs",
        "How much of what is shown is in an order it is at least 95 % sure of?",
        PALETTE[1],
    ),
    Line(
        "cost",
        "Cost of exploring",
        "Pairs per list expected to stand wrong by it.",
        PALETTE[3],
        False,
    ),
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A line and its specification for Vega-Lite, without colours of light or dark."""

    line: Line
    spec: dict[str, Any]


def charts(steps: Sequence[Overview], by: By) -> Iterator[Chart]:
    """A chart for every line that has points enough."""
    drawn = list(zip(_abscissae(steps, by), steps, strict=True))
    for line in LINES:
        values = [(x, getattr(step, line.name), step.lists) for x, step in drawn]
        points = [{"x": x, "y": y, "lists": lists} for x, y, lists in values if y is not None]
        if len(points) >= FEWEST:
            yield Chart(line, line_chart(points, line, by))


def line_chart(points: Sequence[dict[str, Any]], line: Line, by: By) -> dict[str, Any]:
    """One line with its points."""
    highest = max(point["y"] for point in points)
    top = 1.0 if line.share and highest > 0.6 else 1.15 * highest or 1.0
    axis = alt.Axis(title=None, format=".0%" if line.share else "~g", tickCount=4)
    x, where = _by_time() if by == "time" else _by_lists()
    value = alt.Tooltip("y:Q", title=line.title, format=".1%" if line.share else ".3f")
    dots = alt.OverlayMarkDef(size=28, filled=True, color=line.colour)
    chart = (
        alt.Chart(alt.InlineData(values=list(points)))
        .mark_line(color=line.colour, strokeWidth=2.2, point=dots)
        .encode(
            x=x,
            y=alt.Y("y:Q", axis=axis, scale=alt.Scale(domain=[0, top])),
            tooltip=[where, value, alt.Tooltip("lists:Q")],
        )
        .properties(width="container", height=190, description=f"{line.title}. {line.meaning}")
    )
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("config", None)
    return spec


def _by_time() -> tuple[alt.X, alt.Tooltip]:
    axis = alt.Axis(grid=False, tickCount=4)
    x = alt.X("x:T", title="time, UTC", axis=axis, scale=alt.Scale(type="utc"))
    return x, alt.Tooltip("x:T", title="from", format="%d %b %H:%M:%S")


def _by_lists() -> tuple[alt.X, alt.Tooltip]:
    axis = alt.Axis(grid=False, tickCount=4, format="~s")
    x = alt.X("x:Q", title="lists shown", axis=axis, scale=alt.Scale(nice=False))
    return x, alt.Tooltip("x:Q", title="lists so far")


def _abscissae(steps: Sequence[Overview], by: By) -> list[Any]:
    """Where a step stands on the horizontal axis."""
    if by == "lists":
        return list(accumulate(step.lists for step in steps))
    return [datetime.fromtimestamp(step.start, UTC).isoformat() for step in steps]
