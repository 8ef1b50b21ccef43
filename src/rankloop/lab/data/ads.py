"""A world of ads: visitors with features, and for each of them one ad that matches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.data.labelled import visitors
from rankloop.lab.data.world import World
from rankloop.types import QuerySet


@dataclass(frozen=True, kw_only=True)
class Ads(World):
    """Visitors around hidden points, one for each ad, some of whom want another ad than their neighbours.

    The features are the visitor's, in [0, 1]; of the ads only the ids are known.

    >>> world = Ads(queries=2, test_queries=1, ads=3).dataset()
    >>> world.train[0].query.doc_ids, world.train[0].query.context.features.size
    (('ad 1', 'ad 2', 'ad 3'), 8)
    """

    queries: int = 2000
    test_queries: int = 1000
    ads: int = 8
    features: int = 8
    spread: float = 0.25
    strangers: float = 0.05  # share of visitors who want any ad

    def __post_init__(self) -> None:
        """Refuse options outside their range."""
        super().__post_init__()
        if (self.min_documents, self.max_documents) != (World.min_documents, World.max_documents):
            raise SettingError(
                "every visitor of the ads world may see all ads: give ads instead of documents"
            )
        if self.ads < 2 or self.features < 1 or not self.spread >= 0 or not 0 <= self.strangers <= 1:
            raise SettingError(
                "expected at least 2 ads and 1 feature, spread of 0 or more and strangers from 0 to 1, "
                f"found {self}"
            )

    def query_set(self) -> QuerySet:
        """All visitors, those for training first."""
        centres = np.random.default_rng([self.seed, 1]).random((self.ads, self.features))
        rng, count = np.random.default_rng(self.seed), self.queries + self.test_queries
        classes = rng.integers(self.ads, size=count)
        noise = rng.normal(scale=self.spread, size=(count, self.features))
        strange = rng.random(count) < self.strangers
        wanted = np.where(strange, rng.integers(self.ads, size=count), classes)
        names = [f"ad {number}" for number in range(1, self.ads + 1)]
        return visitors(np.clip(centres[classes] + noise, 0, 1), wanted, names)
