"""Trial card of the overview page: the verdict in words, its interval as a bar, and how it came to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt

from rankloop.charts import PALETTE
from rankloop.service import OutcomeReport, TrialReport

FEWEST = 2  # points of which a band can be drawn
ROOM = 1.15  # around the interval, on the scale of the bar
NAMES = {
    "clicked": "lists with a click",
    "clicks": "clicks per list",
    "first_click": "1 / position of the first click",
    "value": "value per list",
}


@dataclass(frozen=True, slots=True)
class TrialCard:
    """A trial as it is shown: where its interval stands on a scale of 0 to 100, and its chart."""

    report: TrialReport
    state: str  # good, bad or open, for the colour
    name: str  # of the outcome that decides
    lower: float
    estimate: float
    upper: float
    even: float
    scale: tuple[str, str]  # what the ends of the bar stand for
    spec: dict[str, Any] | None


def trial_card(report: TrialReport | None) -> TrialCard | None:
    """The card of a trial, if there was one."""
    if report is None:
        return None
    state = {"A better": "good", "B better": "bad"}.get(report.verdict, "open")
    name = NAMES[report.settings["outcome"]]
    if not report.outcomes or report.outcomes[0].estimate is None:
        return TrialCard(report, state, name, 0.0, 50.0, 100.0, 50.0, ("", ""), None)
    found = report.outcomes[0]
    low, high = _ends(found)

    def at(value: float) -> float:
        return round(100 * (value - low) / (high - low), 3)

    ends = tuple(_end(end, found) for end in (low, high))
    return TrialCard(
        report,
        state,
        name,
        at(found.lower),
        at(found.estimate or 0.0),
        at(found.upper),
        at(found.even),
        (ends[0], ends[1]),
        band(report, found.even) if len(report.points) >= FEWEST else None,
    )


def band(report: TrialReport, even: float) -> dict[str, Any]:
    """The interval after each session, and where neither arm is better."""
    points = [
        {"x": each.sessions, "y": each.estimate, "low": each.lower, "high": each.upper}
        for each in report.points
    ]
    x = alt.X("x:Q", title="sessions", axis=alt.Axis(grid=False, tickCount=4), scale=alt.Scale(nice=False))
    axis = alt.Axis(title=None, format=".0%" if even else "~g", tickCount=5)
    base = alt.Chart(alt.InlineData(values=points))
    area = base.mark_area(color=PALETTE[0], opacity=0.22).encode(
        x=x, y=alt.Y("low:Q", axis=axis), y2="high:Q"
    )
    line = base.mark_line(color=PALETTE[0], strokeWidth=2.2).encode(
        x=x,
        y=alt.Y("y:Q", axis=axis),
        tooltip=[alt.Tooltip(f"{name}:Q", format=".3f") for name in ("y", "low", "high")],
    )
    neither = alt.Chart(alt.InlineData(values=[{"even": even}])).mark_rule(
        color=PALETTE[-1], strokeDash=[4, 3]
    )
    drawn = alt.layer(area, line, neither.encode(y="even:Q"))
    meaning = "The interval of the trial after each session; the dashed line is where neither is better."
    spec: dict[str, Any] = drawn.properties(width="container", height=190, description=meaning).to_dict()
    spec.pop("config", None)
    return spec


def _end(value: float, found: OutcomeReport) -> str:
    if found.even:
        return f"{100 * value:.0f}\N{NO-BREAK SPACE}%"
    return f"{100 * value:+.0f} points" if found.outcome == "clicked" else f"{value:+.2g}"


def _ends(found: OutcomeReport) -> tuple[float, float]:
    """The scale of the bar: all shares, or as far as the interval reaches to either side."""
    if found.even:
        return 0.0, 1.0
    reach = ROOM * max(abs(found.lower), abs(found.upper), 1e-9)
    return -reach, reach
