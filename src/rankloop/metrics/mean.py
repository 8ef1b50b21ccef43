"""The mean of a metric over a set of queries, with the queries that nobody can rank made explicit."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.metrics.metric import Metric
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, FloatArray

WithoutRelevant: TypeAlias = Literal["skip", "zero", "one"]


def mean_over_queries(
    metric: Metric, scores: FloatArray, queries: QuerySet, *, without_relevant: WithoutRelevant = "skip"
) -> float:
    """The mean of a metric over the queries of a set.

    A query without a relevant document has the same value whatever is shown. Software disagrees on
    it: the reference code of online learning to rank leaves such queries out of the offline mean
    (`"skip"`, our default), trec_eval and scikit-learn count 0 (`"zero"`), LightGBM and XGBoost 1
    (`"one"`). On some collections this moves nDCG by a quarter, so every report should name it.

    >>> from rankloop.metrics import NDCG
    >>> queries = QuerySet(np.eye(3), np.array([0, 2, 3]), np.array([1, 0, 0]), ("good", "hopeless"))
    >>> scores = np.array([0.9, 0.1, 0.5])
    >>> mean_over_queries(NDCG(k=10), scores, queries)
    1.0
    >>> mean_over_queries(NDCG(k=10), scores, queries, without_relevant="zero")
    0.5
    """
    return mean_of_values(metric, metric.per_query(scores, queries), queries, without_relevant)


def mean_of_values(
    metric: Metric, values: FloatArray, queries: QuerySet, without_relevant: WithoutRelevant
) -> float:
    """The mean of what a metric gave each query, [n_queries]."""
    if without_relevant not in get_args(WithoutRelevant):
        raise SettingError(f'without_relevant must be "skip", "zero" or "one", found {without_relevant!r}')
    relevant = has_relevant(queries, metric.least_relevant)
    if without_relevant != "skip":
        return float(np.where(relevant, values, float(without_relevant == "one")).mean())
    if not relevant.any():
        raise DataError(
            f"{metric}: none of the {len(queries)} queries has a document of grade {metric.least_relevant} "
            'or higher, so there is nothing to average; check the labels or pass without_relevant="zero"'
        )
    return float(values[relevant].mean())


def has_relevant(queries: QuerySet, least_relevant: int = 1) -> BoolArray:
    """Whether each query has a relevant document at all: [n_queries]."""
    found: BoolArray = np.maximum.reduceat(queries.relevance, queries.offsets[:-1]) >= least_relevant
    return found
