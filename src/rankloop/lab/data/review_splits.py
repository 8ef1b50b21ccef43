"""Splits of reviews into training, validation and test, by share, by time, or by users who are new."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.recommend.reviews import Mentions, Reviews
from rankloop.types import BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Reviews to learn from, to choose settings by, and to measure on."""

    train: Reviews
    validation: Reviews
    test: Reviews


def by_share(
    reviews: Reviews, rng: np.random.Generator, *, validation: float = 0.1, test: float = 0.1
) -> Parts:
    """A random part of the reviews each for validation and for test.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> parts = by_share(AccessoryShop(users=40).reviews(), np.random.default_rng(0))
    >>> [round(len(part) / 5) for part in (parts.train, parts.validation, parts.test)]
    [65, 8, 8]
    """
    _check_shares(validation, test)
    return _cut(reviews, rng.permutation(len(reviews)).argsort(), validation, test)


def by_time(reviews: Reviews, *, validation: float = 0.1, test: float = 0.1) -> Parts:
    """The latest reviews for test, those before them for validation; equal times keep their order.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> parts = by_time(AccessoryShop(users=40).reviews())
    >>> bool(parts.train.time.max() <= parts.validation.time.min())
    True
    """
    _check_shares(validation, test)
    if reviews.time is None:
        raise DataError("a split by time needs the time of every review, found none; split by share")
    return _cut(reviews, np.argsort(reviews.time, kind="stable").argsort(kind="stable"), validation, test)


def newcomers(reviews: Reviews, rng: np.random.Generator, *, share: float = 0.05) -> tuple[Reviews, Reviews]:
    """The reviews of a share of the users, who are to be newcomers, and before them those of all others.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> known, new = newcomers(AccessoryShop(users=40).reviews(), np.random.default_rng(0))
    >>> len(set(new.user)), set(known.user) & set(new.user)
    (2, set())
    """
    _check_shares(share)
    users = np.unique(reviews.user)
    chosen = rng.choice(users, max(round(share * len(users)), 1), replace=False)
    inside: BoolArray = np.isin(reviews.user, chosen)
    return reviews.select(~inside), reviews.select(inside)


def joined(first: Reviews, second: Reviews) -> Reviews:
    """Two parts of a collection as one.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> parts = by_share(AccessoryShop(users=40).reviews(), np.random.default_rng(0))
    >>> len(joined(parts.train, parts.test)) == len(parts.train) + len(parts.test)
    True
    """
    mentions = (
        np.concatenate([getattr(first.mentions, name), getattr(second.mentions, name) + shift])
        for name, shift in (
            ("review", len(first)),
            ("feature", 0),
            ("sentiment", 0),
            ("word", 0),
            ("sentence", 0),
        )
    )
    user, item, rating = (
        np.concatenate([getattr(first, name), getattr(second, name)]) for name in ("user", "item", "rating")
    )
    time = None if first.time is None or second.time is None else np.concatenate([first.time, second.time])
    return replace(first, user=user, item=item, rating=rating, time=time, mentions=Mentions(*mentions))


def _cut(
    reviews: Reviews, rank: np.ndarray[tuple[int], np.dtype[np.int64]], validation: float, test: float
) -> Parts:
    last = len(reviews) - round(test * len(reviews))
    first = last - round(validation * len(reviews))
    return Parts(
        reviews.select(rank < first),
        reviews.select((first <= rank) & (rank < last)),
        reviews.select(rank >= last),
    )


def _check_shares(*shares: float) -> None:
    if not (all(0 <= share < 1 for share in shares) and sum(shares) < 1):
        raise SettingError(f"shares must be from 0 to 1 and leave something to learn from, found {shares}")
