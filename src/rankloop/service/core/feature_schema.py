"""Schema of features: the column that each name has in a ranker's lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from rankloop.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSchema:
    """The features that a ranker has seen, and their columns; a value that only grows.

    A retired feature keeps its column, and no name has that column any more. A name that comes again is a new
    feature, so `names` may have it twice.

    >>> schema = FeatureSchema().add(["bm25", "price"]).retire([1], seq=7).add(["price"])
    >>> dict(schema.columns), schema.names, dict(schema.retired)
    ({'bm25': 0, 'price': 2}, ('bm25', 'price', 'price'), {1: 7})
    """

    columns: Mapping[str, int] = field(default_factory=dict)  # by name, without retired features
    names: tuple[str, ...] = ()  # of all columns
    retired: Mapping[int, int] = field(default_factory=dict)  # columns: the entry that retired each

    def add(self, names: Iterable[str]) -> Self:
        """Give the next columns to names that have none."""
        fresh = self.missing(names)
        if not fresh:
            return self
        columns = {name: len(self.names) + number for number, name in enumerate(fresh)}
        return replace(self, columns={**self.columns, **columns}, names=(*self.names, *fresh))

    def retire(self, columns: Iterable[int], seq: int) -> Self:
        """Retire the features of some columns, with the decision of an entry."""
        retired = {**dict.fromkeys(columns, seq), **self.retired}
        kept = {name: column for name, column in self.columns.items() if column not in retired}
        return replace(self, columns=kept, retired=retired)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the names that have no column, each once, in their order."""
        return [name for name in dict.fromkeys(names) if name not in self.columns]


def rename_columns(values: FloatArray, given: Mapping[str, int], wanted: Mapping[str, int]) -> FloatArray:
    """Put columns of one schema in the places of another, by name; NaN where missing.

    >>> rename_columns(np.array([[1.0, 2.0]]), {"price": 0, "age": 1}, {"age": 0, "size": 1}).tolist()
    [[2.0, nan]]
    """
    width = max(wanted.values(), default=-1) + 1  # retired features have columns, too
    found = np.full((len(values), width), np.nan)
    for name, column in wanted.items():
        if given.get(name, values.shape[1]) < values.shape[1]:
            found[:, column] = values[:, given[name]]
    return found
