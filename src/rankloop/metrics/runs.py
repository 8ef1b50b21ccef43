"""The mean of a metric over lists that someone else ranked, query by query."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.metrics.mean import WithoutRelevant
from rankloop.metrics.metric import Metric
from rankloop.types import IntArray


def mean_over_lists(
    metric: Metric,
    lists: Iterable[tuple[IntArray, IntArray]],
    *,
    without_relevant: WithoutRelevant = "zero",
) -> float:
    """The mean of a metric over lists, each an order of rows and the grade of every row.

    A list may be empty, and has the value 0 then. Queries without a relevant document count 0 as in
    trec_eval, if nothing else is said.

    >>> from rankloop.metrics import Precision
    >>> grades = np.array([1, 0])
    >>> mean_over_lists(Precision(k=1), [(np.array([0, 1]), grades), (np.array([], dtype=int), grades)])
    0.5
    """
    if without_relevant not in ("skip", "zero", "one"):
        raise SettingError(f'without_relevant must be "skip", "zero" or "one", found {without_relevant!r}')
    values = []
    for order, grades in lists:
        if (grades >= metric.least_relevant).any():
            values.append(metric(order, grades) if len(order) else 0.0)
        elif without_relevant != "skip":
            values.append(float(without_relevant == "one"))
    if not values:
        raise DataError(f"{metric}: no query has a relevant document, so there is nothing to average")
    return float(np.mean(values))
