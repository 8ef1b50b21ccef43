"""Summary of reviews: their counts, density and time span, and what is poor for a recommender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.recommend.reviews import NO_WORD, Reviews

FEW_REVIEWS = 3.0  # of a user, in the mean
FEW_MENTIONING = 0.5
ONE_SIDED = 0.9
MANY_ALONE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSummary:
    """What is in a collection of reviews, and how it looks to whoever wants to recommend from it."""

    reviews: int
    users: int  # with a review
    items: int  # with a review
    unreviewed: int  # items without one
    alone: int  # users with one review
    stars: tuple[int, ...]  # reviews with 1, 2, ... stars, to the nearest
    features: tuple[tuple[str, int, int], ...]  # name, praise, complaints; the most mentioned first
    mentions: int
    worded: int  # mentions with an opinion word
    mentioning: int  # reviews with a mention
    titles: bool
    tokens: int
    span: tuple[int, int] | None  # seconds of the first and of the last review

    @property
    def density(self) -> float:
        """Share of all pairs of a user and an item that have a review."""
        return self.reviews / max(self.users * self.items, 1)

    def warnings(self) -> list[str]:
        """What is poor, and what to do about it; nothing if all is well."""
        reviews, users = max(self.reviews, 1), max(self.users, 1)
        checks = [
            (
                self.reviews / users < FEW_REVIEWS,
                f"{self.reviews / users:.1f} reviews of a user in the mean: there is little to tell tastes "
                "apart by; most-popular may be hard to beat",
            ),
            (
                self.alone / users > MANY_ALONE,
                f"{self.alone / users:.0%} of the users have a single review: nothing of theirs can be held "
                "out and learned from at once",
            ),
            (
                max(self.stars, default=0) / reviews > ONE_SIDED,
                f"{max(self.stars, default=0) / reviews:.0%} of the reviews have the same stars: models of "
                "ratings (nmf, efm, mter) learn little; use evidence-als, ials or fact",
            ),
            (
                not self.mentions,
                "no review mentions a feature: there are no rules about features; read them out of the "
                "texts with `rankloop reviews extract`",
            ),
            (
                0 < self.mentioning / reviews < FEW_MENTIONING,
                f"only {self.mentioning / reviews:.0%} of the reviews mention a feature: rules will be "
                "unknown of most users",
            ),
            (
                not self.titles,
                "items have no titles: reasons will call them by their ids, and items that nobody reviewed "
                "cannot be recommended; add a column `title`",
            ),
            (self.span is None, "reviews have no time: they cannot be split by time"),
        ]
        return [sentence for is_poor, sentence in checks if is_poor]


def summary(reviews: Reviews) -> ReviewSummary:
    """Count what is in reviews.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> found = summary(AccessoryShop(users=40, items=24).reviews())
    >>> found.users, found.features[0][0], found.warnings()
    (40, 'quality', [])
    """
    by_user, by_item = (np.bincount(each) for each in (reviews.user, reviews.item))
    said, n = reviews.mentions, len(reviews.features)
    good, bad = (np.bincount(said.feature[said.sentiment == side], minlength=n) for side in (1, -1))
    order = np.argsort(-(good + bad), kind="stable")
    stars = np.bincount(np.rint(reviews.rating).astype(int), minlength=round(reviews.highest) + 1)[1:]
    return ReviewSummary(
        reviews=len(reviews),
        users=int((by_user > 0).sum()),
        items=int((by_item > 0).sum()),
        unreviewed=reviews.n_items - int((by_item > 0).sum()),
        alone=int((by_user == 1).sum()),
        stars=tuple(stars.tolist()),
        features=tuple((reviews.features[row], int(good[row]), int(bad[row])) for row in order),
        mentions=len(said),
        worded=int((said.word != NO_WORD).sum()),
        mentioning=len(np.unique(said.review)),
        titles=bool(reviews.titles),
        tokens=len(reviews.tokens),
        span=None
        if reviews.time is None or not len(reviews)
        else (int(reviews.time.min()), int(reviews.time.max())),
    )
