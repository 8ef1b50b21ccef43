"""What a metric is: a named value that grades one list or a whole set of queries, and its means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from rankloop.bounds import Count, check_settings
from rankloop.errors import DataError, SettingError
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, FloatArray, IntArray

# which query each list is of [n_lists], the lists, all of one length [n_lists, k] -> their values [n_lists]
Grader: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
WithoutRelevant: TypeAlias = Literal["skip", "zero", "one"]  # what such queries count
ScoresGrader: TypeAlias = Callable[[FloatArray], FloatArray]  # scores [n_rows] -> values [n_queries]


@dataclass(frozen=True, repr=False, kw_only=True)
class Metric(ABC):
    """A named value: called, it grades one shown list; `per_query` grades a whole set at once.

    A list is `order`, the row numbers that were shown, best first, and may be only the top of the
    candidates; `relevance` always has the grade of *every* candidate, because the ideal list is made
    of all of them. A query without a relevant document has the value 0, as in trec_eval and
    scikit-learn; `mean_over_queries` decides whether it counts.

    >>> from rankloop.metrics import NDCG, Precision
    >>> NDCG(k=10), NDCG(), Precision(k=5, relevant_from=2)
    (nDCG@10, nDCG, Precision(relevant_from=2)@5)
    """

    label: ClassVar[str]
    higher_is_better: ClassVar[bool] = True
    unit: ClassVar[str] = "share"  # of the best possible, of positions, ...

    @abstractmethod
    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Grade one shown list."""

    @abstractmethod
    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Grade, for every query, the list that sorts its candidates by falling score: [n_queries]."""

    def grader(self, queries: QuerySet) -> Grader:
        """Grades many lists of these queries; what can be known before is known before."""

        def grade(asked: IntArray, lists: IntArray) -> FloatArray:
            shown = zip(asked.tolist(), lists, strict=True)
            return np.array([self(order, queries[index].relevance) for index, order in shown])

        return grade

    def scores_grader(self, queries: QuerySet) -> ScoresGrader:
        """`per_query` for these queries, asked again and again; what can be known before is known before."""
        return lambda scores: self.per_query(scores, queries)

    @property
    def least_relevant(self) -> int:
        """The lowest grade that counts as relevant."""
        return 1

    @property
    def name(self) -> str:
        """The metric as people write it; options appear only where they are not the usual ones."""
        changed = [
            f"{option.name}={value}"
            for option in fields(self)
            if option.name != "k" and (value := getattr(self, option.name)) != option.default
        ]
        return self.label + (f"({', '.join(changed)})" if changed else "")

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False, kw_only=True)
class CutMetric(Metric):
    """A metric that looks at the first `k` positions only, or at all of them without `k`."""

    k: Count | None = None

    def __post_init__(self) -> None:
        """Refuse settings that are not what their annotations say."""
        check_settings(self)

    @property
    def name(self) -> str:
        """The metric as people write it, with its cutoff: nDCG@10."""
        return super().name + (f"@{self.k}" if self.k is not None else "")


@dataclass(frozen=True, repr=False, kw_only=True)
class BinaryMetric(CutMetric):
    """A metric for which a document is relevant or not: relevant from the grade `relevant_from` on."""

    relevant_from: Count = 1

    @property
    def least_relevant(self) -> int:
        """The lowest grade that counts as relevant."""
        return self.relevant_from


def mean_over_queries(
    metric: Metric, scores: FloatArray, queries: QuerySet, *, without_relevant: WithoutRelevant = "skip"
) -> float:
    """Average a metric over the queries of a set.

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
    """Average what a metric gave each query, [n_queries]."""
    _check_without_relevant(without_relevant)
    relevant = has_relevant(queries, metric.least_relevant)
    if without_relevant != "skip":
        return float(np.where(relevant, values, float(without_relevant == "one")).mean())
    if not relevant.any():
        raise DataError(
            f"{metric}: none of the {len(queries)} queries has a document of grade {metric.least_relevant} "
            'or higher, so there is nothing to average; check the labels or pass without_relevant="zero"'
        )
    return float(values[relevant].mean())


def mean_over_lists(
    metric: Metric,
    lists: Iterable[tuple[IntArray, IntArray]],
    *,
    without_relevant: WithoutRelevant = "zero",
) -> float:
    """Average a metric over lists that someone else ranked: an order of rows and the grade of every row.

    A list may be empty, and has the value 0 then. Queries without a relevant document count 0 as in
    trec_eval, if nothing else is said.

    >>> from rankloop.metrics import Precision
    >>> grades = np.array([1, 0])
    >>> mean_over_lists(Precision(k=1), [(np.array([0, 1]), grades), (np.array([], dtype=int), grades)])
    0.5
    """
    _check_without_relevant(without_relevant)
    values = []
    for order, grades in lists:
        if (grades >= metric.least_relevant).any():
            values.append(metric(order, grades) if len(order) else 0.0)
        elif without_relevant != "skip":
            values.append(float(without_relevant == "one"))
    if not values:
        raise DataError(f"{metric}: no query has a relevant document, so there is nothing to average")
    return float(np.mean(values))


def has_relevant(queries: QuerySet, least_relevant: int = 1) -> BoolArray:
    """Whether each query has a relevant document at all: [n_queries]."""
    found: BoolArray = np.maximum.reduceat(queries.relevance, queries.offsets[:-1]) >= least_relevant
    return found


def _check_without_relevant(word: str) -> None:
    if word not in get_args(WithoutRelevant):
        raise SettingError(f'without_relevant must be "skip", "zero" or "one", found {word!r}')
