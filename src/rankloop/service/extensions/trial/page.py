"""Trial card of the overview page: the verdict in words, its interval as a bar, and how it came to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankloop.charts import PALETTE
from rankloop.service import OutcomeReport, TrialReport
from rankloop.service.pages import vega_lite as vl
from rankloop.service.pages.page_formatting import number, share, signed

FEWEST = 2  # points of which a band can be drawn
ROOM = 1.15  # around the interval, on the scale of the bar
NAMES = {
    "clicked": "Lists with a click",
    "value": "Value of {action}",
}
LOOKS = {"A better": "good", "B better": "bad", "undecided": "open"}


@dataclass(frozen=True, slots=True)
class Uplift:
    """An outcome as it is shown: the estimate, its interval in words and as a bar of 0 to 100, both arms."""

    outcome: str
    name: str
    estimate: str
    interval: str  # from ... to ...
    unit: str
    look: str  # good, bad or open, for the colour
    a: str
    b: str
    lower: float
    middle: float
    upper: float
    even: float
    low: str  # what the ends of the bar stand for
    high: str


@dataclass(frozen=True, slots=True)
class TrialCard:
    """A trial as it is shown: its outcomes, the one that decides first, and its chart."""

    report: TrialReport
    look: str
    outcomes: Sequence[Uplift]
    spec: vl.Spec | None

    @property
    def valued(self) -> bool:
        """Whether a value of one's own is measured."""
        return bool(self.report.settings["action"])


def trial_card(report: TrialReport | None) -> TrialCard | None:
    """The card of a trial, if there was one."""
    if report is None:
        return None
    return TrialCard(
        report,
        LOOKS[report.verdict],
        [uplift(each, report) for each in report.outcomes if each.estimate is not None],
        band(report, report.outcomes[0].even) if len(report.points) >= FEWEST else None,
    )


def uplift(found: OutcomeReport, report: TrialReport) -> Uplift:
    """One outcome of a trial."""
    low, high = _ends(found)
    unit, say = _unit(found, report)

    def at(value: float) -> float:
        return round(100 * (value - low) / (high - low), 3)

    middle = found.estimate or 0.0
    return Uplift(
        outcome=found.outcome,
        name=NAMES[found.outcome].format(action=report.settings["action"]),
        estimate=say(middle),
        interval=f"{say(found.lower)} to {say(found.upper)}",
        unit=unit,
        look=LOOKS[found.verdict],
        a=_mean(found, found.a),
        b=_mean(found, found.b),
        lower=at(found.lower),
        middle=at(middle),
        upper=at(found.upper),
        even=at(found.even),
        low=say(low),
        high=say(high),
    )


def band(report: TrialReport, even: float) -> vl.Spec:
    """The interval after each session, and where neither arm is better."""
    points = [
        {"x": each.sessions, "y": each.estimate, "low": each.lower, "high": each.upper}
        for each in report.points
    ]
    x = vl.number("x", title="sessions", axis={"grid": False, "tickCount": 4}, scale={"nice": False})
    axis = {"title": None, "format": ".0%" if even else "~g", "tickCount": 5}
    scale = {"domain": _domain(report, even), "nice": True, "clamp": True}
    low, middle = vl.number("low", axis=axis, scale=scale), vl.number("y", axis=axis, scale=scale)
    told = [vl.number(name, format=".3f") for name in ("y", "low", "high")]
    area = {"type": "area", "color": PALETTE[0], "opacity": 0.22}
    line = {"type": "line", "color": PALETTE[0], "strokeWidth": 2.2}
    neither = {"type": "rule", "color": PALETTE[-1], "strokeDash": [4, 3]}
    return vl.layered(
        [
            vl.layer("sessions", area, x=x, y=low, y2={"field": "high"}),
            vl.layer("sessions", line, x=x, y=middle, tooltip=told),
            vl.layer("even", neither, y=vl.number("even")),
        ],
        {"sessions": points, "even": [{"even": even}]},
        height=150,
        description="The interval of the trial after each session; on the dashed line neither is better.",
    )


def _domain(report: TrialReport, even: float) -> list[float]:
    """A scale on which the interval of today can be seen; the first sessions' may be cut."""
    later = report.points[len(report.points) // 5 :]
    return [min(even, *(each.lower for each in later)), max(even, *(each.upper for each in later))]


def _unit(found: OutcomeReport, report: TrialReport) -> tuple[str, Callable[[float], str]]:
    """What the numbers of an outcome are counted in, and how they are said."""
    if found.even:
        return "of the sessions that one of the two wins", share
    owed = " more owed to it" if report.settings["kind"] == "interleave" else ""
    if found.outcome == "clicked":
        return f"percentage points{owed}", lambda value: signed(100 * value, 1)
    return f"per list{owed}" if owed else "more per list", lambda value: signed(value, 2)


def _mean(found: OutcomeReport, value: float | None) -> str:
    """The mean of an arm or, of interleaved lists, the sessions it won."""
    if value is None:
        return ""
    if found.even:
        return f"{value:,.0f} won"
    return share(value) if found.outcome == "clicked" else number(value, 2)


def _ends(found: OutcomeReport) -> tuple[float, float]:
    """The scale of the bar: all shares, or as far as the interval reaches to either side."""
    if found.even:
        return 0.0, 1.0
    reach = ROOM * max(abs(found.lower), abs(found.upper), 1e-9)
    return -reach, reach
