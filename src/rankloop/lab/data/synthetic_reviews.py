"""A made-up shop with reviews, so that everything about recommendation works without data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from rankloop.bounds import Bound, Natural, check_settings
from rankloop.lab.data.review_files import with_titles
from rankloop.recommend.reviews import Mentions, Reviews
from rankloop.types import FloatArray, IntArray

KINDS = ("case", "cable", "charger", "headset", "holder", "lens")
MODELS = ("Alpa", "Borea", "Cirro", "Dune")
LOOKS = ("black", "red", "slim", "rugged", "mini", "travel")
FEATURES = ("fit", "colour", "battery", "sound", "price", "quality", "size", "button", "screen", "weight")
GOOD = ("good", "great", "perfect", "solid", "nice")
BAD = ("poor", "flimsy", "bad", "cheap")
RELEVANT = np.array(  # [kind, feature] what people talk about
    [
        [3, 2, 0, 0, 1, 2, 1, 2, 1, 1],
        [1, 0, 1, 0, 2, 3, 1, 0, 0, 0],
        [0, 0, 3, 0, 2, 2, 1, 0, 0, 1],
        [2, 0, 1, 3, 1, 2, 0, 2, 0, 1],
        [2, 0, 0, 0, 1, 2, 2, 0, 2, 1],
        [1, 0, 0, 0, 1, 3, 1, 0, 3, 1],
    ],
    float,
)


@dataclass(frozen=True, kw_only=True)
class AccessoryShop:
    r"""Accessories for four phones, bought by people who own one of them and care about some features.

    User $i$ owns a phone and has attention $a_i \sim \mathrm{Dirichlet}$ over features; item $j$ has
    qualities $q_j$. Items are drawn with probability
    $\propto \exp(2[\text{fits the phone}] + 3 a_i^\top q_j + p_j)$, features mentioned with probability
    $\propto a_{ik} \cdot \text{relevance}_{jk}$, sentiments and stars follow $q_j$.

    >>> reviews = AccessoryShop(users=30, items=24).reviews()
    >>> reviews.n_users, reviews.n_items, reviews.titles[0]
    (30, 24, 'Slim Case for Alpa')
    """

    users: Annotated[int, Bound(at_least=2)] = 300
    items: Annotated[int, Bound(at_least=12)] = 120
    seed: Natural = 0

    def __post_init__(self) -> None:
        """Refuse a shop without customers or without goods to choose from."""
        check_settings(self)

    def reviews(self) -> Reviews:
        """The reviews: the same options give the same ones, bit for bit."""
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, 21]))
        kind, model = np.arange(self.items) % len(KINDS), np.arange(self.items) // len(KINDS) % len(MODELS)
        quality = rng.normal(size=(self.items, len(FEATURES)))
        attention = rng.dirichlet(np.full(len(FEATURES), 0.3), self.users)
        user, item = self._purchases(rng, model, 3 * attention @ quality.T)
        mentions = _mentions(rng, attention[user] * (RELEVANT[kind[item]] + 0.02), quality[item])
        liking = 4 + (attention[user] * quality[item]).sum(1) + 0.5 * rng.normal(size=len(user))
        reviews = Reviews(
            user=user,
            item=item,
            rating=np.clip(np.round(liking), 1, 5),
            users=tuple(f"user {number}" for number in range(self.users)),
            items=tuple(f"item {number}" for number in range(self.items)),
            time=rng.permutation(len(user)).astype(np.int64),
            mentions=mentions,
            features=FEATURES,
            words=(*GOOD, *BAD),
        )
        looks = rng.integers(len(LOOKS), size=self.items)
        looks[0] = 2
        titles = [
            f"{LOOKS[look].title()} {KINDS[what].title()} for {MODELS[phone]}"
            for look, what, phone in zip(looks, kind, model, strict=True)
        ]
        return with_titles(reviews, titles, least=2)

    def _purchases(
        self, rng: np.random.Generator, model: IntArray, taste: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Who bought what: a few different items each, drawn by Gumbel noise on top of what they like."""
        owns = rng.integers(len(MODELS), size=self.users)
        popularity = rng.normal(size=self.items)
        liking = 2.0 * (owns[:, None] == model) + taste + popularity
        order = np.argsort(-(liking + rng.gumbel(size=liking.shape)), axis=1, kind="stable")
        count = np.minimum(3 + rng.poisson(7, self.users), self.items // 2)
        return np.repeat(np.arange(self.users), count), np.concatenate(
            [row[:n] for row, n in zip(order, count, strict=True)]
        )


def _mentions(rng: np.random.Generator, weights: FloatArray, quality: FloatArray) -> Mentions:
    """One to four features of each review, with a sentiment that follows quality, and a word for it."""
    shares = weights / weights.sum(1, keepdims=True)
    review = np.repeat(np.arange(len(weights)), rng.integers(1, 5, len(weights)))
    feature = (rng.random((len(review), 1)) > shares[review].cumsum(1)).sum(1).clip(max=weights.shape[1] - 1)
    good = quality[review, feature] + 0.7 + 0.7 * rng.normal(size=len(review)) > 0
    near = (feature + rng.integers(0, 2, len(review))) % 4  # which of the words goes with which feature
    return Mentions(review, feature, np.where(good, 1, -1), np.where(good, near, len(GOOD) + near))
