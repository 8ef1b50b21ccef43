"""Grade scale: from what was done with a result to its grade."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeScale:
    """How events add up to the grade of a result, and in how many steps grades are counted.

    A result's grade is the sum over its actions of weight times value, cut to 0..`highest`. Of each action
    the last event in the log counts; one without a value has the value 1.

    >>> stars = GradeScale(weights={"star": 1.0, "purchase": 2.0}, highest=5.0)
    >>> stars.grade({"star": 4.0}), stars.grade({"star": 4.0, "purchase": None}), stars.grade({"hover": 3.0})
    (4.0, 5.0, None)
    """

    weights: Mapping[str, float]  # by action; one that is not here says nothing
    highest: float = 1.0

    @property
    def steps(self) -> int:
        """How many steps a histogram has above 0: one for each whole grade, or ten."""
        return int(self.highest) if self.highest in range(1, 11) else 10

    def total(self, done: Mapping[str, float | None]) -> float | None:
        """The sum for a result on which this was done, before it is cut; None: nothing that counts."""
        parts = [
            self.weights[action] * (1.0 if value is None else value)
            for action, value in done.items()
            if action in self.weights
        ]
        return math.fsum(parts) if parts else None  # exact, so that no order matters

    def grade(self, done: Mapping[str, float | None]) -> float | None:
        """The grade of a result on which this was done; None: nothing that counts."""
        total = self.total(done)
        return None if total is None else self.cut(total)

    def cut(self, total: float) -> float:
        """A sum as a grade."""
        return min(max(total, 0.0), self.highest)
