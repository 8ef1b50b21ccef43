"""Negatives: items that a user did not review, drawn at random, or the hardest of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.recommend.reviews import Reviews
from rankloop.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Negatives:
    """Draws items for users; what a user reviewed can be recognised."""

    pairs: IntArray  # sorted numbers of all reviewed pairs
    ratings: FloatArray  # in the same order
    n_items: int

    @classmethod
    def of(cls, reviews: Reviews) -> Negatives:
        """The negatives of these reviews."""
        order = np.argsort(reviews.pairs)
        return cls(reviews.pairs[order], reviews.rating[order], reviews.n_items)

    def rating(self, user: IntArray, item: IntArray) -> FloatArray:
        """How each user rated each item, 0 without a review; shapes are broadcast."""
        wanted = user.astype(np.int64) * self.n_items + item
        found = np.searchsorted(self.pairs, wanted).clip(max=len(self.pairs) - 1)
        return np.where(self.pairs[found] == wanted, self.ratings[found], 0.0)

    def draw(self, user: IntArray, count: int, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
        """So many items for every user, and which of them they did not review, [n, count]."""
        item = rng.integers(self.n_items, size=(len(user), count))
        return item, self.rating(user[:, None], item) == 0
