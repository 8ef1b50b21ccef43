"""The probes of one run, read as it goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankloop.experiments.simulation.probes.base import Checkpoint, CheckpointProbe, Look, Probe, RoundProbe
from rankloop.policies import Policy
from rankloop.types import JudgedQuery, QuerySet, Ranking


class Gauges:
    """Lets probes look when it is their turn, and keeps what they saw until the next checkpoint."""

    def __init__(self, probes: Sequence[Probe], policy: Policy, train: QuerySet, rounds: int) -> None:
        fitting = [probe for probe in probes if probe.applies(policy)]
        self._of_rounds = [probe for probe in fitting if isinstance(probe, RoundProbe)]
        self._of_checkpoints = [probe for probe in fitting if isinstance(probe, CheckpointProbe)]
        self._policy, self._train, self._rounds = policy, train, rounds
        self._steps = 0  # rounds since the last checkpoint
        self._seen: dict[str, list[float]] = {}  # in these rounds
        self._sums: dict[str, float] = {}
        self._adding: set[str] = set()

    def look(self, judged: JudgedQuery, ranking: Ranking) -> None:
        """Look at a round before the policy learns from it."""
        due = [probe for probe in self._of_rounds if self._steps % probe.every == 0]
        self._steps += 1
        if not due:
            return
        look = Look(self._policy, judged, ranking)
        for probe in due:
            for metric, value in probe.values(look).items():
                self._seen.setdefault(metric, []).append(value)
                if probe.add_up:
                    self._adding.add(metric)

    def read(self, number: int) -> Iterator[tuple[str, float]]:
        """What there is to record at the checkpoint after so many rounds."""
        for metric, values in self._seen.items():
            mean = sum(values) / len(values)
            if metric in self._adding:
                self._sums[metric] = self._sums.get(metric, 0.0) + self._steps * mean
            yield metric, self._sums.get(metric, mean)
        self._steps, self._seen = 0, {}
        checkpoint = Checkpoint(self._policy, self._train, number, self._rounds)
        for probe in self._of_checkpoints:
            yield from probe.values(checkpoint).items()
