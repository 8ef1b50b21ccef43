"""Overview charts: one line each, in the look of the reports, with marks where something was decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from rankloop.charts import PALETTE
from rankloop.service.pages.vega_lite import Spec, layer, layered, number, time, word
from rankloop.service.reports.traffic import By, Overview

FEWEST = 2  # steps of which a line can be drawn
MARK = "#6E6A62"  # between both schemes
NEAR = 0.03  # of the axis: decisions that are closer share a mark


@dataclass(frozen=True, slots=True)
class Line:
    """Something to draw: a number of every step, what it means, and its colour."""

    name: str  # of the number in `Overview`
    title: str
    meaning: str
    colour: str
    share: bool = True  # in percent
    highest: float | None = None  # what it can be at most, if it is no share


LINES = (
    Line("ctr", "Lists with a click", "How many of the lists shown got at least one click?", PALETTE[0]),
    Line(
        "mrr",
        "First clicks near the top",
        "MRR: the mean of 1 / position of the first click. 1 if everybody clicks the first result.",
        PALETTE[2],
        False,
        1.0,
    ),
    Line(
        "settled",
        "Settled pairs",
        "How much of what is shown is in an order it is at least 95 % sure of?",
        PALETTE[1],
    ),
    Line(
        "cost",
        "Cost of exploration",
        "How many pairs of a list are expected to be in the wrong order because something is tried out?",
        PALETTE[3],
        False,
    ),
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment to be marked: a decision, with its number in the list below the charts, or a version kept."""

    at: float
    what: str
    who: str = ""
    why: str = ""
    number: int = 0  # 0: a version


@dataclass(frozen=True, slots=True)
class Chart:
    """A line and its specification for Vega-Lite, without colours of light or dark."""

    line: Line
    spec: Spec


def charts(
    steps: Sequence[Overview], by: By, marks: Sequence[Mark] = (), until: float | None = None
) -> Iterator[Chart]:
    """A chart for every line that has points enough; `until` is where the last step ends."""
    drawn = list(zip(_abscissae(steps, by), steps, strict=True))
    marked = placed(marks, steps, by, until)
    for line in LINES:
        values = [(x, getattr(step, line.name), step.lists) for x, step in drawn]
        points = [{"x": x, "y": y, "lists": lists} for x, y, lists in values if y is not None]
        if len(points) >= FEWEST:
            yield Chart(line, line_chart(points, line, by, marked))


def line_chart(
    points: Sequence[dict[str, Any]], line: Line, by: By, marks: Sequence[dict[str, Any]] = ()
) -> Spec:
    """One line with its points, and what was decided on the way."""
    highest = max(point["y"] for point in points)
    most = 1.0 if line.share else line.highest
    top = most if most and highest > 0.6 * most else 1.15 * highest or 1.0
    axis = {"title": None, "format": ".0%" if line.share else "~g", "tickCount": 4}
    x, where = _by_time() if by == "time" else _by_lists()
    y = number("y", axis=axis, scale={"domain": [0, top]})
    value = number("y", title=line.title, format=".1%" if line.share else ".3f")
    area = layer("steps", {"type": "area", "color": line.colour, "opacity": 0.09}, x=x, y=y)
    dots = {"size": 22, "filled": True, "color": line.colour}
    stroke = {"type": "line", "color": line.colour, "strokeWidth": 2, "point": dots}
    curve = layer("steps", stroke, x=x, y=y, tooltip=[where, value, number("lists")])
    return layered(
        [area, *_marked(marks, x), curve],
        {"steps": points, **_mark_data(marks)},
        height=190,
        description=f"{line.title}. {line.meaning}",
    )


def placed(
    marks: Sequence[Mark], steps: Sequence[Overview], by: By, until: float | None = None
) -> list[dict[str, Any]]:
    """Marks as data of a chart: where they stand on its horizontal axis, and what is said about them."""
    if not steps:
        return []
    told = [each for each in marks if each.at > steps[0].start]
    end = until or max([steps[-1].start, *(each.at for each in told)])
    length = end - steps[0].start if by == "time" else sum(step.lists for step in steps)
    found: list[dict[str, Any]] = []
    last: tuple[float, Mark] | None = None  # the decision before, and where it stands
    for each in told:
        where = each.at if by == "time" else _lists_by(each.at, steps, until)
        if each.number and last and abs(where - last[0]) < NEAR * length:
            _join(found[-1], each)
        else:
            x = _moment(each.at) if by == "time" else where
            found.append({"x": x, "number": str(each.number or ""), **_said(each)})
            last = (where, each) if each.number else None
    return found


def _said(mark: Mark) -> dict[str, str]:
    who, why = mark.who or "nobody said", mark.why or "nobody said"
    return {"what": mark.what, "who": who, "why": why, "at": _moment(mark.at)}


def _join(shown: dict[str, Any], mark: Mark) -> None:
    """Let a decision share the mark of the one before, which it would hide."""
    shown["number"] = f"{shown['number'].split('–')[0]}–{mark.number}"
    more = _said(mark)
    shown |= {name: f"{shown[name]}; {more[name]}" for name in ("what", "who", "why")}


def _mark_data(marks: Sequence[dict[str, Any]]) -> dict[str, Sequence[dict[str, Any]]]:
    return {
        "decisions": [each for each in marks if each["number"]],
        "versions": [each for each in marks if not each["number"]],
    }


def _marked(marks: Sequence[dict[str, Any]], x: Spec) -> Iterator[Spec]:
    """Decisions as dashed lines with their numbers on top, versions as ticks on the axis."""
    found = _mark_data(marks)
    when = time("at", title="at", format="%d %b %H:%M:%S")
    words = [word(name) for name in ("what", "who", "why")]
    if found["decisions"]:
        told: Spec = {"x": x, "tooltip": [*words, when]}
        top: Spec = {"value": 0}
        size = {"condition": {"test": "length(datum.number) > 2", "value": 430}, "value": 190}
        dashes = {"type": "rule", "color": MARK, "strokeDash": [3, 3], "strokeWidth": 1.2}
        target = {"type": "rule", "opacity": 0, "strokeWidth": 14}  # something to point at
        circle = {"shape": "circle", "color": MARK, "filled": True, "opacity": 1, "yOffset": -2}
        digits = {"type": "text", "color": "#ffffff", "fontSize": 9.5, "fontWeight": 600, "dy": -1.5}
        yield layer("decisions", dashes, **told)
        yield layer("decisions", target, **told)
        yield layer("decisions", {"type": "point", **circle}, **told, y=top, size=size)
        yield layer("decisions", digits, **told, y=top, text=word("number"))
    if found["versions"]:
        tick = {"shape": "triangle-up", "size": 46, "color": MARK, "filled": True, "opacity": 0.9}
        bottom = {"value": "height"}
        mark = {"type": "point", **tick, "yOffset": -3}
        yield layer("versions", mark, x=x, y=bottom, tooltip=[words[0], when])


def _by_time() -> tuple[Spec, Spec]:
    axis = {"grid": False, "tickCount": 4}
    x = time("x", title="time, UTC", axis=axis, scale={"type": "utc"})
    return x, time("x", title="from", format="%d %b %H:%M:%S")


def _by_lists() -> tuple[Spec, Spec]:
    axis = {"grid": False, "tickCount": 4, "format": ",.0f"}
    x = number("x", title="lists shown", axis=axis, scale={"nice": False})
    return x, number("x", title="lists so far")


def _abscissae(steps: Sequence[Overview], by: By) -> list[Any]:
    """Where a step stands on the horizontal axis."""
    if by == "lists":
        return list(accumulate(step.lists for step in steps))
    return [_moment(step.start) for step in steps]


def _lists_by(at: float, steps: Sequence[Overview], until: float | None) -> float:
    """How many lists had been shown by a moment, as far as the steps can tell."""
    ends = [*(step.start for step in steps[1:]), until or max(at, steps[-1].start)]
    shown = 0.0
    for step, end in zip(steps, ends, strict=True):
        part = (at - step.start) / (end - step.start) if end > step.start else 1.0
        shown += step.lists * min(max(part, 0.0), 1.0)
    return round(shown, 1)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
