"""Most popular: items by how many users reviewed them, the same for everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.recommend.reasons import Kind, Part, Reasons
from rankloop.recommend.recommender import Recommender, Taste, known_items, learned
from rankloop.recommend.reviews import Reviews
from rankloop.types import FloatArray, IntArray


@dataclass(kw_only=True, eq=False)
class MostPopular(Recommender):
    """Ranks items by their number of reviews: the floor that every other recommender must beat.

    >>> from rankloop.lab.data.review_data import Shop
    >>> reviews = Shop(users=20, items=12).reviews()
    >>> model = MostPopular().fit(reviews, np.random.default_rng(0))
    >>> int(model.score(np.array([0]))[0].sum()) == len(reviews)
    True
    """

    name: ClassVar[str] = "most-popular"
    exact: ClassVar[bool] = True

    counts: FloatArray = learned((0,))  # [n_items]

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        del rng
        self.counts = np.bincount(reviews.item, minlength=reviews.n_items).astype(float)

    def score(self, users: IntArray) -> FloatArray:
        """The same counts for everybody."""
        return np.broadcast_to(self.counts, (len(users), len(self.counts)))

    def score_taste(self, taste: Taste) -> FloatArray:
        """The same counts for everybody."""
        del taste
        return self.counts

    def taste_of(self, user: int) -> Taste:
        """Nothing but the past items."""
        return Taste(vector=np.zeros(0), items=self.past(user))

    def taste(self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None) -> Taste:
        """Nothing but the past items."""
        return Taste(vector=np.zeros(0), items=known_items(items, len(self.counts)), answers=answers or {})

    def _meet(self, reviews: Reviews) -> None:
        """Everybody is the same."""

    def amounts(self, taste: Taste, items: IntArray) -> Mapping[Kind, FloatArray]:
        """Popularity, and nothing else."""
        return {"popularity": self.score_taste(taste)[items]}

    def reasons(self, taste: Taste, item: int) -> Reasons:
        """Its popularity."""
        del taste
        count = float(self.counts[item])
        return Reasons(
            item=item, score=count, parts=(Part("popularity", item, count, "reviews"),), exact=True
        )
