"""Evaluation of the measures of one run, as it goes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankloop.errors import DataError
from rankloop.lab.simulation.best_fixed_order import BestFixedOrder
from rankloop.lab.simulation.measures import MEASURE_KINDS, Measure, Shown
from rankloop.lab.simulation.protocol import Protocol
from rankloop.metrics import Metric, has_relevant
from rankloop.metrics.metric import Grader, mean_of_values
from rankloop.policies import Policy
from rankloop.policy import score_all
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, FloatArray, IntArray


class MeasureEvaluator:
    """Grades every list that is shown, and what was learned at every checkpoint."""

    def __init__(self, protocol: Protocol, policy: Policy, train: QuerySet, test: QuerySet) -> None:
        self._policy, self._train, self._test = policy, train, test
        self._without_relevant = protocol.without_relevant
        self._measures = [(each, metric) for each in protocol.measured() if (metric := each.metric)]
        self._offline = {each: m.scores_grader(test) for each, m in self._measures if each.kind == "offline"}
        shown = dict.fromkeys(metric for each, metric in self._measures if each.kind != "offline")
        self._values: dict[Metric, FloatArray] = {metric: np.zeros(protocol.rounds) for metric in shown}
        self._graders = [(_grader(metric, policy, train), values) for metric, values in self._values.items()]
        self._answerable = {
            each: _find_answerable(each, metric, train)
            for each, metric in self._measures
            if each.kind == "answerable"
        }
        self._best = {each: BestFixedOrder(m, train) for each, m in self._measures if each.kind == "regret"}
        self._asked = np.zeros(protocol.rounds, dtype=np.int64)  # the training query of every round
        self._lists: list[IntArray] = []  # shown since the last checkpoint, and not graded yet

    def add(self, past: int, index: int, order: IntArray) -> None:
        """Take note of the list shown after so many others, for the training query of that index."""
        self._asked[past] = index
        self._lists.append(order)

    def read(self, start: int, end: int) -> Iterator[tuple[Measure, float]]:
        """Give what there is to record after `end` rounds, the last checkpoint being after `start`.

        Lists shown are measured once there are some.
        """
        self._grade(start)
        scores = None
        for measure, metric in self._measures:
            compute = MEASURE_KINDS[measure.kind].compute
            if compute is None:
                scores = score_all(self._policy, self._test) if scores is None else scores
                values = self._offline[measure](scores)
                yield measure, mean_of_values(metric, values, self._test, self._without_relevant)
            elif end and (value := compute(self._shown(measure, metric, start, end), measure)) is not None:
                yield measure, value

    def _shown(self, measure: Measure, metric: Metric, start: int, end: int) -> Shown:
        values, asked = self._values[metric][:end], self._asked[:end]
        answerable = self._answerable.get(measure)
        best = self._best.get(measure)
        return Shown(
            values,
            start,
            None if answerable is None else answerable[asked],
            None if best is None else best.total(np.bincount(asked, minlength=len(self._train))),
        )

    def _grade(self, since: int) -> None:
        """Grade the lists of the rounds since the last checkpoint, those of one length together."""
        lengths = np.array([len(order) for order in self._lists], dtype=np.int64)
        for length in np.unique(lengths):
            alike = np.flatnonzero(lengths == length)
            lists = np.concatenate([self._lists[number] for number in alike]).reshape(-1, length)
            for grade, values in self._graders:
                values[since + alike] = grade(self._asked[since + alike], lists)
        self._lists = []


def _find_answerable(measure: Measure, metric: Metric, train: QuerySet) -> BoolArray:
    """Find the training queries with a relevant document: [n_queries]."""
    found = has_relevant(train, metric.least_relevant)
    if not found.any():
        raise DataError(
            f"{measure.name}: none of the {len(train)} training queries has a document of grade "
            f"{metric.least_relevant} or higher; check the labels or measure 'average {metric}'"
        )
    return found


def _grader(metric: Metric, policy: Policy, train: QuerySet) -> Grader:
    """Choose what grades the lists shown.

    Ideals known before are summed in another order than those of a single list: the last bit may differ.
    Policies taught by labels have always been graded list by list, and published numbers stay as they are.
    """
    return metric.grader(train) if "clicks" in policy.signals else Metric.grader(metric, train)
