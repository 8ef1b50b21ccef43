"""Extraction doctor: how much was found in reviews, and whether it agrees with their stars."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.lab.reviews.records import ReadReview

FEW_MENTIONS = 0.5
FEW_ASPECTS = 5
ONE_SIDED = 0.97
POOR_AUC = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a doctor found in extracted reviews.

    `auc` is the probability that, of two reviews with mentions and different stars, the one with more stars
    has the greater sum of sentiments, a tie counting half: 1 is perfect, 1/2 is chance, `nan` says that all
    have equal stars.
    """

    reviews: int
    repeated: int  # reviews of an item that the same user reviews again
    with_mention: int
    mentions: int
    praise: int  # mentions with sentiment 1
    aspects: tuple[tuple[str, int, int], ...]  # name, praise, complaints; the most mentioned first
    auc: float

    @property
    def coverage(self) -> float:
        """Share of the reviews with at least one mention."""
        return self.with_mention / max(self.reviews, 1)

    @property
    def balance(self) -> float:
        """Share of the mentions that praise."""
        return self.praise / self.mentions if self.mentions else math.nan

    def warnings(self) -> list[str]:
        """What is poor, and what to do about it; nothing if all is well."""
        checks = [
            (
                self.coverage < FEW_MENTIONS,
                f"only {self.coverage:.0%} of the reviews mention anything: texts may be short or not in "
                "English, or aspects too rare; try a smaller --least",
            ),
            (
                len(self.aspects) < FEW_ASPECTS,
                f"aspects kept: {len(self.aspects)}; try a smaller --least, or more reviews",
            ),
            (
                max(self.balance, 1 - self.balance) > ONE_SIDED,
                f"{self.balance:.0%} of the mentions praise: there is hardly anything to tell apart",
            ),
            (
                self.auc < POOR_AUC,
                f"sentiments hardly agree with the stars (AUC {self.auc:.2f}, chance is 0.50): read some "
                "sentences in the output before you rely on them",
            ),
            (
                math.isnan(self.auc),
                "all reviews with mentions have the same stars: whether sentiments agree cannot be said",
            ),
            (
                self.repeated > 0,
                f"{self.repeated:,} reviews are of an item that the same user reviews again: "
                "readers keep the last",
            ),
        ]
        return [sentence for is_poor, sentence in checks if is_poor]


def diagnose(reviews: Sequence[ReadReview]) -> Diagnosis:
    """Look at extracted reviews as a whole.

    >>> from rankloop.lab.reviews import extract, sample
    >>> found = diagnose(extract(sample(), least=2))
    >>> found.reviews, found.coverage > 0.5, found.auc > 0.8
    (36, True, True)
    """
    said = [mention for review in reviews for mention in review.mentions]
    counts = Counter(mention.aspect for mention in said)
    praised = Counter(mention.aspect for mention in said if mention.sentiment > 0)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    mentioning = [review for review in reviews if review.mentions]
    return Diagnosis(
        reviews=len(reviews),
        repeated=len(reviews) - len({(review.user, review.item) for review in reviews}),
        with_mention=len(mentioning),
        mentions=len(said),
        praise=praised.total(),
        aspects=tuple((name, praised[name], counts[name] - praised[name]) for name in order),
        auc=auc(
            [review.rating for review in mentioning],
            [sum(mention.sentiment for mention in review.mentions) for review in mentioning],
        ),
    )


def auc(stars: Sequence[float], sums: Sequence[float]) -> float:
    """The probability that more stars go with a greater sum; pairs with equal stars do not count, ties half.

    >>> auc([1, 5, 5], [-1, -1, 2])
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
