"""Expected reciprocal rank: where a user who stops when satisfied will stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.bounds import Count
from rankloop.errors import SettingError
from rankloop.metrics.dcg import gain
from rankloop.metrics.metric import CutMetric
from rankloop.metrics.ranked_rows import RankedRows
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, repr=False, kw_only=True)
class ERR(CutMetric):
    r"""The expected 1/rank of the document that satisfies a user who reads from the top.

    A document of grade $r$ satisfies with probability $R = (2^r - 1) / 2^{\text{max\_grade}}$:

    $$\mathrm{ERR@}k = \sum_{i=1}^{k} \frac{R_i}{i} \prod_{j<i} (1 - R_j)$$

    `max_grade` is the highest grade of the *scale*, not of the query, so that queries compare.
    In `per_query`, tied documents keep the order of the set (no simple closed form is known): shuffle
    the rows first if they are sorted by grade and the scores may tie.

    >>> ERR(max_grade=2)(np.array([0, 2]), np.array([1, 0, 2]))  # 1/4 + (1 - 1/4) * 3/4 / 2
    0.53125

    Chapelle et al., "Expected reciprocal rank for graded relevance", CIKM 2009.
    """

    label: ClassVar[str] = "ERR"
    unit: ClassVar[str] = "1/rank"
    max_grade: Count = 4

    def __call__(self, order: IntArray, relevance: IntArray) -> float:
        """Grade one shown list."""
        satisfies = self._satisfies(relevance[order[: self.k]])
        reached = np.cumprod(1.0 - satisfies)[:-1]
        ranks = np.arange(1, len(satisfies) + 1)
        return float((satisfies * np.concatenate([[1.0], reached])[: len(ranks)] / ranks).sum())

    def per_query(self, scores: FloatArray, queries: QuerySet) -> FloatArray:
        """Grade every query: [n_queries]."""
        satisfies = self._satisfies(RankedRows.of(scores, queries).relevance)
        sizes, starts = np.diff(queries.offsets), queries.offsets[:-1]
        value, reached = np.zeros(len(queries)), np.ones(len(queries))
        for rank in range(1, min(int(sizes.max()), self.k or int(sizes.max())) + 1):
            longer = np.flatnonzero(sizes >= rank)  # down the ranks, all queries at once
            chance = satisfies[starts[longer] + rank - 1]
            value[longer] += reached[longer] * chance / rank
            reached[longer] *= 1.0 - chance
        return value

    def _satisfies(self, relevance: IntArray) -> FloatArray:
        if len(relevance) and relevance.max() > self.max_grade:
            raise SettingError(
                f"{self.name}: expected grades up to {self.max_grade}, found {relevance.max()}; "
                "set max_grade to the highest grade of the scale"
            )
        return gain(relevance) / 2.0**self.max_grade
