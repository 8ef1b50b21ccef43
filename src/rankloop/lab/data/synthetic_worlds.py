"""A world without doubt: a hidden direction puts every better document above every worse one, by a margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.data.world import World
from rankloop.types import FloatArray, IntArray, QuerySet


@dataclass(frozen=True, kw_only=True)
class Separable(World):
    r"""Grades are bands of a hidden linear score, a margin apart and as wide.

    The score is $x^\top w$ with a hidden unit vector $w$.

    A document is a Gaussian point, moved along $w$ into the band of its uniformly drawn grade. So any two
    documents of different grade differ in score by at least `margin`. With `spread`, documents of one grade
    are around a point of their own, which is Gaussian, too, with a deviation of so many times theirs.

    >>> world = Separable(queries=2, test_queries=1)
    >>> relevance = world.query_set().relevance
    >>> scores = world.query_set().features @ world.weights
    >>> bool(scores[relevance == 1].min() - scores[relevance == 0].max() >= world.margin)
    True
    """

    min_documents: int = 20
    max_documents: int = 20
    features: int = 20
    grades: int = 5
    margin: float = 0.1
    spread: float = 0.0

    def __post_init__(self) -> None:
        """Refuse options outside their range."""
        super().__post_init__()
        if self.features < 1 or self.grades < 2 or self.margin <= 0 or self.spread < 0:
            raise SettingError(
                f"expected features >= 1, grades >= 2, margin > 0 and spread >= 0, found {self.features}, "
                f"{self.grades}, {self.margin} and {self.spread}"
            )

    @property
    def weights(self) -> FloatArray:
        """The hidden direction, of length 1."""
        weights = np.random.default_rng([self.seed, 1]).standard_normal(self.features)
        return np.asarray(weights / np.sqrt(np.square(weights).sum()))

    def query_set(self) -> QuerySet:
        """All queries, those for training first."""
        rng = np.random.default_rng(self.seed)
        offsets = self._offsets(rng)
        relevance = rng.integers(0, self.grades, int(offsets[-1]))
        points = rng.standard_normal((relevance.size, self.features)) / np.sqrt(self.features)
        points += self._means[relevance]
        missing = self._targets(relevance, rng) - np.einsum("ij,j->i", points, self.weights)
        features = (points + missing[:, None] * self.weights).astype(np.float32)
        return self._judged(features, offsets, relevance)

    @property
    def _means(self) -> FloatArray:
        """Around which point documents of each grade are: [n_grades, n_features]."""
        rng = np.random.default_rng([self.seed, 2])
        points = rng.standard_normal((self.grades, self.features)) / np.sqrt(self.features)
        return np.asarray(self.spread * points)

    def _targets(self, relevance: IntArray, rng: np.random.Generator) -> FloatArray:
        width = self.margin * 0.999  # rounding to single precision must not eat into the margin
        return 2 * self.margin * (relevance - (self.grades - 1) / 2) + width * (
            rng.random(relevance.size) - 0.5
        )
