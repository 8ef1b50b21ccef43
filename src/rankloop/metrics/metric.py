"""What a metric is: a named value that grades one list or a whole set of queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

# which query each list is of [n_lists], the lists, all of one length [n_lists, k] -> their values [n_lists]
Grader: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
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

    k: int | None = None

    def __post_init__(self) -> None:
        """Refuse a cutoff that shows nothing."""
        if self.k is not None and self.k < 1:
            raise SettingError(
                f"{self.label}: the cutoff k must be at least 1, found {self.k}; "
                "leave it out to grade the whole list"
            )

    @property
    def name(self) -> str:
        """The metric as people write it, with its cutoff: nDCG@10."""
        return super().name + (f"@{self.k}" if self.k is not None else "")


@dataclass(frozen=True, repr=False, kw_only=True)
class BinaryMetric(CutMetric):
    """A metric for which a document is relevant or not: relevant from the grade `relevant_from` on."""

    relevant_from: int = 1

    @property
    def least_relevant(self) -> int:
        """The lowest grade that counts as relevant."""
        return self.relevant_from
