"""The measures of one run, read as it goes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankloop.experiments.simulation.measures import LoopMeasure, Offline, ShownMeasure
from rankloop.experiments.simulation.protocol import Protocol
from rankloop.metrics import Metric
from rankloop.policies import Policy, score_all
from rankloop.types import FloatArray, IntArray, QuerySet


class Meter:
    """Grades every list that is shown, and what was learned at every checkpoint."""

    def __init__(self, protocol: Protocol, train: QuerySet, test: QuerySet) -> None:
        self._measures = protocol.measured()
        self._test, self._without_relevant = test, protocol.without_relevant
        shown = dict.fromkeys(each.metric for each in self._measures if isinstance(each, ShownMeasure))
        self._values: dict[Metric, FloatArray] = {metric: np.zeros(protocol.rounds) for metric in shown}
        self._graders = [(metric.grader(train), values) for metric, values in self._values.items()]

    def look(self, past: int, index: int, order: IntArray, relevance: IntArray) -> None:
        """Grade the list shown after so many others, for the training query of that index."""
        for grade, values in self._graders:
            values[past] = grade(index, order, relevance)

    def read(self, policy: Policy, since: int, end: int) -> Iterator[tuple[LoopMeasure, float]]:
        """What there is to record after `end` rounds; lists shown are measured once there are some."""
        scores = None
        for measure in self._measures:
            if isinstance(measure, Offline):
                scores = score_all(policy, self._test) if scores is None else scores
                yield measure, measure.value(scores, self._test, self._without_relevant)
            elif isinstance(measure, ShownMeasure) and end:
                yield measure, measure.value(self._values[measure.metric][:end], since)
