"""Best fixed order in hindsight: what one order of the same items would have got on all lists so far."""

from __future__ import annotations

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.metrics import DCG, NDCG, Metric, PairwiseRegret, Precision
from rankloop.metrics.dcg import gain
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

KNOWN = (DCG, NDCG, Precision, PairwiseRegret)
OTHER_ITEMS = "regret against the best fixed order needs the same items, by id, in every query, as in items"


def check_order_is_known(metric: Metric) -> None:
    """Refuse metrics whose best fixed order nobody can find by sorting."""
    if not isinstance(metric, KNOWN):
        names = ", ".join(kind.label for kind in KNOWN)
        raise SettingError(f"the best fixed order in hindsight is known for {names}, found {metric}")


class BestFixedOrder:
    """Of queries with the same items, the total of a metric for the order that is best for them together.

    >>> grades = np.array([1, 0, 0, 1, 0, 1])
    >>> queries = QuerySet(np.empty((6, 0)), np.array([0, 2, 4, 6]), grades, ("1", "2", "3"), ("a", "b") * 3)
    >>> BestFixedOrder(Precision(k=1), queries).total(np.array([1, 1, 1]))  # b first
    2.0
    """

    def __init__(self, metric: Metric, queries: QuerySet) -> None:
        check_order_is_known(metric)
        self._metric, self._queries = metric, queries
        self._items = number_items(queries)  # [n_queries, n_items]
        self._values = _values_of(metric, queries).reshape(self._items.shape)

    def total(self, times: IntArray) -> float:
        """Sum over the queries, each as often as `times` says: [n_queries]."""
        totals = np.zeros(self._items.shape[1])
        np.add.at(totals, self._items, times[:, None] * self._values)
        return float(times @ self._metric.per_query(totals[self._items].ravel(), self._queries))


def number_items(queries: QuerySet) -> IntArray:
    """Give items numbers, in every row of every query, [n_queries, n_items]: each has all of them once."""
    _, numbers = np.unique(np.asarray(queries.doc_ids, dtype=np.str_), return_inverse=True)
    lengths = np.diff(queries.offsets)
    items = int(lengths[0])
    if not queries.doc_ids or (lengths != items).any():
        raise DataError(OTHER_ITEMS)
    table: IntArray = numbers.reshape(-1, items)
    if (np.sort(table, axis=1) != np.arange(items)).any():
        raise DataError(OTHER_ITEMS)
    return table


def _values_of(metric: Metric, queries: QuerySet) -> FloatArray:
    """Compute what the best fixed order sorts the items by the sum of: [n_rows]."""
    relevance = queries.relevance
    if isinstance(metric, DCG):
        return gain(relevance)
    if isinstance(metric, NDCG):
        ideal = np.repeat(metric.ideal(queries), np.diff(queries.offsets))
        return np.divide(gain(relevance), ideal, out=np.zeros(relevance.size), where=ideal > 0)
    if isinstance(metric, PairwiseRegret) and queries.grades > 2:
        raise DataError(f"the best fixed order for {metric} is known for two grades, found {queries.grades}")
    return (relevance >= metric.least_relevant).astype(np.float64)
