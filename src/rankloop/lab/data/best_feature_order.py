"""Base orders for experiments: what a shop might have had before anything was learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from rankloop.errors import SettingError, suggest_name
from rankloop.lab.data import Dataset
from rankloop.lab.data.dataset_names import MARKS
from rankloop.metrics import NDCG, mean_over_queries
from rankloop.types import FloatArray, QuerySet

BaseOrder: TypeAlias = Literal["", "decent", "reversed"]
KNOWN = NDCG(k=10)  # by which the best feature is chosen


def split_base(name: str) -> tuple[str, BaseOrder]:
    """The name of a dataset, and the base order that it asks for after an `@`, the last if there are others.

    >>> split_base("mq2008:fold1@decent"), split_base("synthetic:linear")
    (('mq2008:fold1', 'decent'), ('synthetic:linear', ''))
    >>> split_base("mq2008:fold1@vali"), split_base("mq2008:fold1@vali@decent")
    (('mq2008:fold1@vali', ''), ('mq2008:fold1@vali', 'decent'))
    """
    plain, mark, base = name.rpartition("@")
    if not mark or f"{mark}{base}" in MARKS:
        return name, ""
    if base not in get_args(BaseOrder)[1:]:
        choices = suggest_name(base, (*get_args(BaseOrder)[1:], *(mark.removeprefix("@") for mark in MARKS)))
        raise SettingError(f"{name}: no base order is called {base!r}: {choices}")
    return plain, base  # type: ignore[return-value]


def with_base(dataset: Dataset, base: BaseOrder) -> Dataset:
    """The dataset with a base order for every query; what each policy makes of it is its own.

    `decent` is the order by the best single feature, up or down: the one with the highest nDCG@10 on the
    training queries. `reversed` is that order upside down, as bad as a decent one is good.
    """
    if not base:
        return dataset
    column, sign = best_feature(dataset.train)
    sign = sign if base == "decent" else -sign
    named = replace(dataset, name=f"{dataset.name}@{base}")
    return named.map_parts(lambda part: replace(part, base=sign * part.features[:, column]), f"base={base}")


def best_feature(queries: QuerySet) -> tuple[int, int]:
    """The column by which queries are ranked best, and whether up (1) or down (-1).

    >>> queries = QuerySet(np.array([[1.0, 5], [2, 3]]), np.array([0, 2]), np.array([1, 0]), ("q",))
    >>> best_feature(queries)
    (0, -1)
    """

    def quality(scores: FloatArray) -> float:
        return mean_over_queries(KNOWN, scores, queries)

    columns = queries.features.astype(np.float64, copy=False).T
    values = np.array([[quality(column), quality(-column)] for column in columns])
    column, way = np.unravel_index(int(values.argmax()), values.shape)
    return int(column), 1 - 2 * int(way)
