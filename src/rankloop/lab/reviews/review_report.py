"""Report on reviews: counts, coverage, agreement of sentiments with stars, and what is poor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.recommend.reviews import NO_WORD, Reviews

FEW_REVIEWS = 3.0  # of a user, in the mean
FEW_MENTIONING = 0.5
FEW_FEATURES = 5
SAME_STARS = 0.9
ONE_SIDED = 0.97
POOR_AUC = 0.6
MANY_ALONE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReport:
    """What is in a collection of reviews, and how it looks to whoever wants to recommend from it.

    `auc` is the probability that, of two reviews with mentions and different stars, the one with more stars
    has the greater sum of sentiments, a tie counting half: 1 is perfect, 1/2 is chance, `nan` says that all
    have equal stars.
    """

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
    auc: float
    titles: bool
    tokens: int
    span: tuple[int, int] | None  # seconds of the first and of the last review

    @property
    def density(self) -> float:
        """Share of all pairs of a user and an item that have a review."""
        return self.reviews / max(self.users * self.items, 1)

    @property
    def coverage(self) -> float:
        """Share of the reviews with at least one mention."""
        return self.mentioning / max(self.reviews, 1)

    @property
    def balance(self) -> float:
        """Share of the mentions that praise."""
        praise = sum(good for _, good, _ in self.features)
        return praise / self.mentions if self.mentions else math.nan

    def warnings(self) -> list[str]:
        """What is poor, and what to do about it; nothing if all is well."""
        reviews, users = max(self.reviews, 1), max(self.users, 1)
        checks = [
            (
                self.reviews / users < FEW_REVIEWS,
                f"{self.reviews / users:.1f} reviews of a user in the mean: there is little to tell tastes "
                "apart by; MostPopular may be hard to beat",
            ),
            (
                self.alone / users > MANY_ALONE,
                f"{self.alone / users:.0%} of the users have a single review: nothing of theirs can be held "
                "out and learned from at once",
            ),
            (
                max(self.stars, default=0) / reviews > SAME_STARS,
                f"{max(self.stars, default=0) / reviews:.0%} of the reviews have the same stars: models of "
                "ratings (NMF, EFM, MTER) learn little; use EvidenceALS, IALS or FacT",
            ),
            (
                not self.mentions,
                "no review mentions a feature: there are no rules about features; read them out of the "
                "texts with `rankloop lab reviews extract`",
            ),
            (
                0 < self.coverage < FEW_MENTIONING,
                f"only {self.coverage:.0%} of the reviews mention a feature: texts may be short or not in "
                "English, or features too rare; try a smaller --least",
            ),
            (
                self.mentions > 0 and len(self.features) < FEW_FEATURES,
                f"features: {len(self.features)}; try a smaller --least, or more reviews",
            ),
            (
                max(self.balance, 1 - self.balance) > ONE_SIDED,
                f"{self.balance:.0%} of the mentions praise: there is hardly anything to tell apart",
            ),
            (
                self.auc < POOR_AUC,
                f"sentiments hardly agree with the stars (AUC {self.auc:.2f}, chance is 0.50): read some "
                "sentences before you rely on them",
            ),
            (
                bool(self.mentions) and math.isnan(self.auc),
                "all reviews with mentions have the same stars: whether sentiments agree cannot be said",
            ),
            (
                not self.titles,
                "items have no titles: reasons will call them by their ids, and items that nobody reviewed "
                "cannot be recommended; add a column `title`",
            ),
            (self.span is None, "reviews have no time: they cannot be split by time"),
        ]
        return [sentence for is_poor, sentence in checks if is_poor]


def report_reviews(reviews: Reviews) -> ReviewReport:
    """Count what is in reviews.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> found = report_reviews(AccessoryShop(users=40, items=24).reviews())
    >>> found.users, found.features[0][0], found.auc > 0.5
    (40, 'quality', True)
    """
    by_user, by_item = (np.bincount(each) for each in (reviews.user, reviews.item))
    said, n = reviews.mentions, len(reviews.features)
    good, bad = (np.bincount(said.feature[said.sentiment == side], minlength=n) for side in (1, -1))
    order = np.argsort(-(good + bad), kind="stable")
    sums = np.bincount(said.review, said.sentiment, len(reviews))[np.unique(said.review)]
    stars = np.bincount(np.rint(reviews.rating).astype(int), minlength=round(reviews.highest) + 1)[1:]
    return ReviewReport(
        reviews=len(reviews),
        users=int((by_user > 0).sum()),
        items=int((by_item > 0).sum()),
        unreviewed=reviews.n_items - int((by_item > 0).sum()),
        alone=int((by_user == 1).sum()),
        stars=tuple(stars.tolist()),
        features=tuple((reviews.features[row], int(good[row]), int(bad[row])) for row in order),
        mentions=len(said),
        worded=int((said.word != NO_WORD).sum()),
        mentioning=len(sums),
        auc=compute_auc(reviews.rating[np.unique(said.review)].tolist(), sums.tolist()),
        titles=bool(reviews.titles),
        tokens=len(reviews.tokens),
        span=None
        if reviews.time is None or not len(reviews)
        else (int(reviews.time.min()), int(reviews.time.max())),
    )


def compute_auc(stars: Sequence[float], sums: Sequence[float]) -> float:
    """Compute how often more stars go with a greater sum; equal stars do not count, ties half.

    >>> compute_auc([1, 5, 5], [-1, -1, 2])
    0.75
    """
    if len(set(stars)) < 2:
        return math.nan
    values, value = np.unique(np.asarray(sums)[np.argsort(stars, kind="stable")], return_inverse=True)
    _, firsts = np.unique(np.sort(stars), return_index=True)
    below = np.zeros(values.size)  # how many reviews with fewer stars have each sum
    right = compared = 0.0
    for group in np.split(value, firsts[1:]):
        counts = np.bincount(group, minlength=values.size)
        right += float(counts @ (np.cumsum(below) - below / 2))
        compared += float(counts.sum() * below.sum())
        below += counts
    return right / compared
