"""A world of fixed items: always the same candidates, known by id, whose grades change from list to list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.data.world import World
from rankloop.types import BoolArray, QuerySet


@dataclass(frozen=True, kw_only=True)
class Items(World):
    """The same items in every query, some of them relevant, each grade flipped with a small probability.

    Every query is one visitor's opinion; there are no features.

    >>> world = Items(queries=2, test_queries=1).dataset()
    >>> world.train.n_features, world.train[0].query.doc_ids[:2], world.train[1].query.doc_ids[:2]
    (0, ('item 1', 'item 2'), ('item 1', 'item 2'))

    Chaudhuri: Learning to rank: online learning, statistical theory and applications. Thesis, 2016, Section
    3.4.1.
    """

    queries: int = 2000
    m: int = 20
    relevant: int = 5
    flip: float = 0.1

    def __post_init__(self) -> None:
        """Refuse options outside their range."""
        super().__post_init__()
        if (self.min_documents, self.max_documents) != (World.min_documents, World.max_documents):
            raise SettingError("every query of the items world has all m items: give m instead of documents")
        if not (1 <= self.relevant <= self.m and 0 <= self.flip <= 1):
            raise SettingError(
                f"expected 1 <= relevant <= m and flip from 0 to 1, found relevant={self.relevant}, "
                f"m={self.m} and flip={self.flip}"
            )

    @property
    def truth(self) -> BoolArray:
        """Which items are relevant to most: [m]."""
        return np.random.default_rng([self.seed, 1]).permutation(self.m) < self.relevant

    def query_set(self) -> QuerySet:
        """All queries, those for training first."""
        lists = self.queries + self.test_queries
        flipped = np.random.default_rng(self.seed).random((lists, self.m)) < self.flip
        grades = (self.truth ^ flipped).astype(np.int64).ravel()
        names = tuple(f"item {number}" for number in range(1, self.m + 1))
        ids = tuple(f"{number}" for number in range(1, lists + 1))
        features = np.empty((grades.size, 0), dtype=np.float32)
        return QuerySet(features, np.arange(lists + 1) * self.m, grades, ids, names * lists)
