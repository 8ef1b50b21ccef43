"""Most popular: the recommender that ranks items by their number of reviews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.recommend.recommender import (
    Recommender,
    ScoreParts,
    ScoreSource,
    UserProfile,
    check_answers,
    check_items,
    learned,
)
from rankloop.recommend.reviews import Reviews
from rankloop.types import FloatArray, IntArray


@dataclass(kw_only=True, eq=False)
class MostPopular(Recommender):
    """Ranks items by their number of reviews: the floor that every other recommender must beat.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=20, items=12).reviews()
    >>> model = MostPopular().fit(reviews, np.random.default_rng(0))
    >>> int(model.score_users(np.array([0]))[0].sum()) == len(reviews)
    True
    """

    exact: ClassVar[bool] = True
    places_newcomers: ClassVar[bool] = True

    counts: FloatArray = learned((0,))  # [n_items]

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        del rng
        self.counts = np.bincount(reviews.item, minlength=reviews.n_items).astype(float)

    def score_users(self, users: IntArray) -> FloatArray:
        """Return the same counts for everybody."""
        return np.broadcast_to(self.counts, (len(users), len(self.counts)))

    def score_profile(self, profile: UserProfile) -> FloatArray:
        """Return the same counts for everybody."""
        del profile
        return self.counts

    def _profile_row(self, user: int) -> UserProfile:
        return UserProfile(vector=np.zeros(0), items=self.past(user), row=user)

    def profile_newcomer(
        self, items: Sequence[int] | IntArray = (), answers: Mapping[int, int] | None = None
    ) -> UserProfile:
        """Return nothing but the past items."""
        own = check_items(items, len(self.counts))
        return UserProfile(vector=np.zeros(0), items=own, answers=check_answers(answers))

    def split_scores(self, profile: UserProfile, items: IntArray) -> ScoreParts:
        """Name the number of reviews as the only source."""
        del profile
        return ScoreParts(
            (ScoreSource("popularity", answer="reviews"),), self.counts[items, None], exact=True
        )

    def _place_users(self, reviews: Reviews) -> None:
        """Do nothing: everybody is the same."""
