"""Verdict on visitors: how well the lists they saw fit their taste, beside those of plain search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rankloop.demo.simulated_visitors import Visit

FEWEST = 20  # visits in a point of the chart
POINTS = 30
LATELY = 100  # visits that the sentence is about
WIDTH, HEIGHT = 200.0, 120.0  # of the chart's inside


@dataclass(frozen=True, slots=True)
class FitChart:
    """Two lines over visits: how well the lists fitted that were shown, and those of plain search."""

    visits: int
    learned: Sequence[float]
    plain: Sequence[float]

    @classmethod
    def of(cls, visits: Sequence[Visit]) -> FitChart | None:
        """A point for each stretch of visits; None if there are too few for a line."""
        size = max(-(-len(visits) // POINTS), FEWEST)
        parts = [visits[start : start + size] for start in range(0, len(visits), size)]
        full = [part for part in parts if len(part) == size]
        if len(full) < 2:
            return None
        means = [(fmean(visit.fit for visit in part), fmean(visit.own for visit in part)) for part in full]
        return cls(size * len(full), *zip(*means, strict=True))

    def line(self, values: Sequence[float]) -> str:
        """A line as points of a drawing; each point stands at the end of its stretch.

        >>> FitChart(40, (0.5, 1.0), (0.0, 0.0)).line((0.5, 1.0))
        '100.0,60.0 200.0,0.0'
        """
        step = WIDTH / len(values)
        return " ".join(f"{step * n:.1f},{_height(value):.1f}" for n, value in enumerate(values, start=1))

    def label(self, values: Sequence[float]) -> float:
        """The height at which the line's last point is labelled: never on the other line's label."""
        mine, others = values[-1], (self.plain if values is self.learned else self.learned)[-1]
        apart = 26.0  # two lines of letters
        height, other = _height(mine), _height(others)
        if abs(height - other) >= apart:
            return height
        middle = (height + other) / 2
        return middle - apart / 2 if mine > others or values is self.learned else middle + apart / 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where visitors found the first thing they like, lately, and where plain search had it."""

    first: float
    plain: float
    fit: float
    plain_fit: float
    visits: int

    @classmethod
    def of(cls, visits: Sequence[Visit]) -> Verdict | None:
        """About the last visitors; None if nobody came."""
        late = visits[-LATELY:]
        if not late:
            return None
        return cls(
            first=fmean(visit.first for visit in late),
            plain=fmean(visit.own_first for visit in late),
            fit=fmean(visit.fit for visit in late),
            plain_fit=fmean(visit.own for visit in late),
            visits=len(late),
        )

    @property
    def word(self) -> str:
        """Whether it got better, in a word.

        >>> Verdict(1.2, 5.5, 0.9, 0.2, 100).word
        'better'
        """
        if abs(self.fit - self.plain_fit) < 0.02:
            return "the same"
        return "better" if self.fit > self.plain_fit else "worse"


def _height(value: float) -> float:
    return HEIGHT * (1 - value)
