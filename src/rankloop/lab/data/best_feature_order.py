"""An order of the caller for experiments: what a shop might have had before anything was learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from rankloop.lab.data.dataset import Dataset
from rankloop.metrics import NDCG, mean_over_queries
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

Direction: TypeAlias = Literal["decent", "reversed"]
KNOWN = NDCG(k=10)  # by which the best feature is chosen


def add_caller_order(dataset: Dataset, direction: Direction) -> Dataset:
    """Give every query an order of the caller; what each policy makes of it is its own.

    `decent` is the order by the best single feature, up or down: the one with the highest nDCG@10 on the
    training queries. `reversed` is that order upside down, as bad as a decent one is good.
    """
    column, sign = find_best_feature(dataset.train)
    sign = sign if direction == "decent" else -sign
    return dataset.map_parts(
        lambda part: replace(part, caller_scores=sign * part.features[:, column]), f"caller_order={direction}"
    )


def find_best_feature(queries: QuerySet) -> tuple[int, int]:
    """Find the column by which queries are ranked best, and whether up (1) or down (-1).

    >>> queries = QuerySet(np.array([[1.0, 5], [2, 3]]), np.array([0, 2]), np.array([1, 0]), ("q",))
    >>> find_best_feature(queries)
    (0, -1)
    """

    def quality(scores: FloatArray) -> float:
        return mean_over_queries(KNOWN, scores, queries)

    columns = queries.features.astype(np.float64, copy=False).T
    values = np.array([[quality(column), quality(-column)] for column in columns])
    column, way = np.unravel_index(int(values.argmax()), values.shape)
    return int(column), 1 - 2 * int(way)
