"""Who is looked at: exposure of two groups over a run, as positions promise it and as users truly look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.exposure import LOOK
from rankloop.exposure.examination import MEASURED, Looks, check_looks, position_looks
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probe_base import Follower, Look, RunProbe
from rankloop.policies import Policy
from rankloop.types import BoolArray, Feedback, FloatArray, Ranking

KIND = "exposure"
UNFAIRNESS = Measure(
    "unfairness",
    kind=KIND,
    unit="looks",
    title="unfairness so far, in looks",
    meaning="How many looks more than its due did the first group get so far? 0 is fair; above, it is ahead.",
)
LARGEST = Measure(
    "largest unfairness",
    kind=KIND,
    direction="lower",
    unit="looks",
    meaning="How far from 0 was the unfairness at its worst, in either direction?",
)
WITHIN = Measure(
    "rounds within tolerance",
    kind=KIND,
    direction="higher",
    unit="share",
    title="share of rounds within the tolerance",
    meaning="After how many of the lists so far was the unfairness within the tolerance?",
)
SHARE = Measure(
    "exposure of the first group",
    kind=KIND,
    unit="share",
    title="share of the looks of the first group",
    meaning="Which share of all looks so far went to the first group, by the positions it held?",
)
SEEN = Measure(
    "seen of the first group",
    kind=KIND,
    unit="share",
    title="share of what was truly seen that was of the first group",
    meaning="Of all results that users truly looked at so far, which share was of the first group? Only "
    "simulated users tell.",
)


@dataclass(frozen=True, kw_only=True)
class Exposure(RunProbe):
    r"""The unfairness $UF_t = \sum_{s \le t} (\text{looks of A} - \beta \cdot \text{looks of B})$ of a run.

    Looks are measured on the users of the sweep, unless numbers are given. Lists without groups count for
    nobody.

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Equation 3.1.1.
    """

    name: ClassVar[str] = "exposure"

    beta: float = 1.0
    epsilon: float = 0.1
    looks: Looks = MEASURED
    groups: tuple[str, str] = ("A", "B")

    def __post_init__(self) -> None:
        """Refuse ratios and tolerances without a meaning."""
        if not (0 < self.beta < np.inf and 0 <= self.epsilon < np.inf):
            raise SettingError(f"beta must be positive and epsilon 0 or more, found {self}")
        names: tuple[str, ...] = self.groups
        if len(names) != 2 or len(set(names)) != 2:
            raise SettingError(f"groups must be the names of two groups, found {self.groups!r}")
        check_looks(self.looks)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Unfairness and shares."""
        return UNFAIRNESS, LARGEST, WITHIN, SHARE, SEEN

    def applies(self, policy: Policy) -> bool:
        """To everybody who shows lists."""
        return isinstance(policy, Policy)

    def follow(self) -> Follower:
        """From a run's first list on."""
        return _Sums(self)


@dataclass(eq=False)
class _Sums:
    """What became of the two groups so far."""

    probe: Exposure
    lists: int = 0
    within: int = 0
    unfairness: float = 0.0
    largest: float = 0.0
    granted: FloatArray = field(default_factory=lambda: np.zeros(2))
    seen: FloatArray = field(default_factory=lambda: np.zeros(2))

    def look(self, look: Look) -> None:
        """Count the positions of a list."""
        ranking = look.ranking
        if not ranking.query.groups:
            return
        probe, looks = self.probe, position_looks(self.probe.looks, len(ranking)) / LOOK
        given = _of_each(ranking, probe.groups) @ looks
        self.granted += given
        self.unfairness += float(given[0] - probe.beta * given[1])
        self.largest = max(self.largest, abs(self.unfairness))
        self.lists += 1
        self.within += abs(self.unfairness) <= probe.epsilon + 1e-5  # looks are whole millionths

    def hear(self, feedback: Feedback) -> None:
        """Count what was truly looked at."""
        if feedback.seen is not None and feedback.ranking.query.groups:
            self.seen += _of_each(feedback.ranking, self.probe.groups) @ feedback.seen.astype(np.float64)

    def values(self) -> Mapping[Measure, float]:
        """All sums so far; nothing before the first list."""
        if not self.lists:
            return {}
        found = {
            UNFAIRNESS: self.unfairness,
            LARGEST: self.largest,
            WITHIN: self.within / self.lists,
            SHARE: float(self.granted[0] / self.granted.sum()),
        }
        return found | ({SEEN: float(self.seen[0] / self.seen.sum())} if self.seen.any() else {})


def _of_each(ranking: Ranking, groups: tuple[str, str]) -> BoolArray:
    """Which positions are of which group, [2, k]."""
    names = ranking.query.groups
    shown = [names[row] for row in ranking.order.tolist()]
    return np.array([[name == group for name in shown] for group in groups])
