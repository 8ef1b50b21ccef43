"""The measures of one run, read as it goes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankloop.lab.simulation.best_fixed_order import BestFixedOrder
from rankloop.lab.simulation.measures import Answerable, LoopMeasure, Offline, Regret, ShownMeasure
from rankloop.lab.simulation.protocol import Protocol
from rankloop.metrics import Metric
from rankloop.metrics.metric import Grader
from rankloop.policies import Policy, score_all
from rankloop.types import FloatArray, IntArray, QuerySet


class Meter:
    """Grades every list that is shown, and what was learned at every checkpoint."""

    def __init__(self, protocol: Protocol, policy: Policy, train: QuerySet, test: QuerySet) -> None:
        self._policy = policy
        self._measures = protocol.measured()
        self._test, self._without_relevant = test, protocol.without_relevant
        self._offline = {
            each: each.metric.scores_grader(test) for each in self._measures if isinstance(each, Offline)
        }
        shown = dict.fromkeys(each.metric for each in self._measures if not isinstance(each, Offline))
        self._values: dict[Metric, FloatArray] = {metric: np.zeros(protocol.rounds) for metric in shown}
        self._asked = np.zeros(protocol.rounds, dtype=np.int64)  # the training query of every round
        self._queries = len(train)
        self._counted = {each: each.counted(train) for each in self._measures if isinstance(each, Answerable)}
        self._best = {
            each: BestFixedOrder(each.metric, train) for each in self._measures if isinstance(each, Regret)
        }
        self._graders = [(_grader(metric, policy, train), values) for metric, values in self._values.items()]
        self._lists: list[IntArray] = []  # shown since the last checkpoint, and not graded yet

    def look(self, past: int, index: int, order: IntArray) -> None:
        """Take note of the list shown after so many others, for the training query of that index."""
        self._asked[past] = index
        self._lists.append(order)

    def _grade(self, since: int) -> None:
        """Grade the lists of the rounds since the last checkpoint, those of one length together."""
        lengths = np.array([len(order) for order in self._lists], dtype=np.int64)
        for length in np.unique(lengths):
            alike = np.flatnonzero(lengths == length)
            lists = np.concatenate([self._lists[number] for number in alike]).reshape(-1, length)
            for grade, values in self._graders:
                values[since + alike] = grade(self._asked[since + alike], lists)
        self._lists = []

    def read(self, since: int, end: int) -> Iterator[tuple[LoopMeasure, float]]:
        """What there is to record after `end` rounds; lists shown are measured once there are some."""
        self._grade(since)
        scores = None
        for measure in self._measures:
            if isinstance(measure, Offline):
                scores = score_all(self._policy, self._test) if scores is None else scores
                values = self._offline[measure](scores)
                yield measure, measure.value(values, self._test, self._without_relevant)
            elif isinstance(measure, ShownMeasure) and end:
                yield measure, measure.value(self._values[measure.metric][:end], since)
            elif isinstance(measure, Regret) and end:
                times = np.bincount(self._asked[:end], minlength=self._queries)
                best = self._best[measure].total(times)
                yield measure, measure.value(self._values[measure.metric][:end], best)
            elif isinstance(measure, Answerable):
                counted = self._counted[measure][self._asked[:end]]
                if counted.any():
                    yield measure, measure.value(self._values[measure.metric][:end][counted])


def _grader(metric: Metric, policy: Policy, train: QuerySet) -> Grader:
    """What grades the lists shown.

    Ideals known before are summed in another order than those of a single list: the last bit may differ.
    Policies taught by labels have always been graded list by list, and published numbers stay as they are.
    """
    return metric.grader(train) if policy.accepts("clicks") else Metric.grader(metric, train)
