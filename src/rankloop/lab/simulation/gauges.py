"""The probes of one run, read as it goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probe_base import (
    Checkpoint,
    CheckpointProbe,
    Look,
    Probe,
    RoundProbe,
    RunProbe,
)
from rankloop.policies import Policy
from rankloop.types import Feedback, JudgedQuery, QuerySet, Ranking


class Gauges:
    """Lets probes look when it is their turn, and keeps what they saw until the next checkpoint."""

    def __init__(self, probes: Sequence[Probe], policy: Policy, train: QuerySet, rounds: int) -> None:
        fitting = [probe for probe in probes if probe.applies(policy)]
        self._of_rounds = [probe for probe in fitting if isinstance(probe, RoundProbe)]
        self._of_checkpoints = [probe for probe in fitting if isinstance(probe, CheckpointProbe)]
        self._followers = [probe.follow() for probe in fitting if isinstance(probe, RunProbe)]
        self._policy, self._train, self._rounds = policy, train, rounds
        self._steps = 0  # rounds since the last checkpoint
        self._seen: dict[Measure, list[float]] = {}  # in these rounds
        self._sums: dict[Measure, float] = {}
        self._adding: set[Measure] = set()

    def look(self, judged: JudgedQuery, ranking: Ranking) -> None:
        """Look at a round before the policy learns from it."""
        due = [probe for probe in self._of_rounds if self._steps % probe.every == 0]
        self._steps += 1
        if not (due or self._followers):
            return
        look = Look(self._policy, judged, ranking, self._train)
        for follower in self._followers:
            follower.look(look)
        for probe in due:
            for measure, value in probe.values(look).items():
                self._seen.setdefault(measure, []).append(value)
                if probe.add_up:
                    self._adding.add(measure)

    def hear(self, feedback: Feedback) -> None:
        """Take note of what the user did with the list."""
        for follower in self._followers:
            follower.hear(feedback)

    def read(self, number: int) -> Iterator[tuple[Measure, float]]:
        """What there is to record at the checkpoint after so many rounds."""
        for measure, values in self._seen.items():
            mean = sum(values) / len(values)
            if measure in self._adding:
                self._sums[measure] = self._sums.get(measure, 0.0) + self._steps * mean
            yield measure, self._sums.get(measure, mean)
        self._steps, self._seen = 0, {}
        for follower in self._followers:
            yield from follower.values().items()
        checkpoint = Checkpoint(self._policy, self._train, number, self._rounds)
        for probe in self._of_checkpoints:
            yield from probe.values(checkpoint).items()
