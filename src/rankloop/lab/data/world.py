"""What all synthetic worlds share: checked sizes, and one query set cut into train and test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.data.dataset import Dataset, fingerprint
from rankloop.lab.data.query_set_slices import take_queries
from rankloop.types import FloatArray, IntArray, QuerySet

WORLD_VERSION = 2  # part of the fingerprint: raise it whenever the same options give other data


@dataclass(frozen=True, kw_only=True)
class World:
    """A made-up collection: the same options give the same data, bit for bit."""

    queries: int = 200
    test_queries: int = 100
    min_documents: int = 10
    max_documents: int = 30
    seed: int = 0

    ready: ClassVar[bool] = True  # made in its final scale: preparation would only distort it

    def __post_init__(self) -> None:
        """Refuse sizes no world can have."""
        _check_at_least(
            1, queries=self.queries, test_queries=self.test_queries, min_documents=self.min_documents
        )
        _check_at_least(self.min_documents, max_documents=self.max_documents)
        _check_at_least(0, seed=self.seed)

    def query_set(self) -> QuerySet:
        """All queries, those for training first."""
        raise NotImplementedError

    def dataset(self, name: str = "") -> Dataset:
        """The world cut into train and test."""
        made = self.query_set()
        train, test = take_queries(made, 0, self.queries), take_queries(made, self.queries)
        name = name or f"synthetic:{type(self).__name__.lower()}"
        return Dataset(name, train, test, None, fingerprint(repr(self), f"world version {WORLD_VERSION}"))

    def _offsets(self, rng: np.random.Generator) -> IntArray:
        total = self.queries + self.test_queries
        lengths = rng.integers(self.min_documents, self.max_documents, total, endpoint=True)
        return np.append(0, np.cumsum(lengths))

    def _judged(self, features: FloatArray, offsets: IntArray, relevance: IntArray) -> QuerySet:
        ids = tuple(f"{number}" for number in range(1, len(offsets)))
        return QuerySet(features, offsets, relevance, ids)


def grade_by_shares(latent: FloatArray, shares: tuple[float, ...]) -> IntArray:
    """Grades 0, 1, ... by thresholds on a latent relevance, so that they occur in these shares.

    >>> grade_by_shares(np.array([0.1, 0.9, 0.5, 0.2]), (0.5, 0.25, 0.25)).tolist()
    [0, 2, 1, 0]
    """
    thresholds = np.quantile(latent, np.cumsum(shares)[:-1])
    return np.searchsorted(thresholds, latent, side="right").astype(np.int64)


def _check_at_least(least: int, **options: int) -> None:
    for name, value in options.items():
        if value < least:
            raise SettingError(f"{name}: expected at least {least}, found {value}")
