"""JMARS: aspects, ratings and sentiments modelled jointly by collaborative filtering and topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from rankloop.bounds import Count, Natural, NonNegative, Positive
from rankloop.lab.recommenders.jmars_words import Tokens, draw_aspects
from rankloop.recommend.recommender import Recommender, UserProfile, learned
from rankloop.recommend.reviews import Reviews
from rankloop.types import FloatArray, IntArray

NAMES = (
    "user_aspects",
    "item_aspects",
    "user_vectors",
    "item_vectors",
    "aspect_scales",
    "user_bias",
    "item_bias",
)


@dataclass(kw_only=True, eq=False)
class JMARS(Recommender):
    r"""Ratings as a mixture over aspects, which are also what the words of a review are about.

    $\hat r_{um} = \sum_a \theta_{uma} (v_u^\top \mathrm{diag}(M_a) v_m) + b$,
    $\theta_{uma} \propto \exp(\theta_{ua} + \theta_{ma})$.

    Every word is of one of five classes (background, sentiment, aspect with sentiment, aspect, item) and of
    an aspect, drawn by Gibbs sampling between steps of L-BFGS on everything else. Sentiments are those of the
    mentions, and all words of a sweep are drawn at once, given the counts before it.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=30, items=24).reviews()
    >>> model = JMARS(rounds=1, steps=5).fit(reviews, np.random.default_rng(0))
    >>> model.score_users(np.array([0])).shape
    (1, 24)

    Diao, Qiu, Wu, Smola, Jiang, Wang: Jointly modeling aspects, ratings and sentiments for movie
    recommendation. KDD 2014.
    """

    aspects: Count = 6  # A
    d: Count = 5  # K
    rounds: Count = 5
    sweeps: Natural = 5  # of Gibbs sampling, in a round
    steps: Count = 20  # of L-BFGS, in a round
    regularisation: Positive = 0.5
    word_weight: NonNegative = 0.1  # how much words count beside ratings
    user_aspects: FloatArray = learned((0, 0))
    item_aspects: FloatArray = learned((0, 0))
    user_vectors: FloatArray = learned((0, 0))
    item_vectors: FloatArray = learned((0, 0))
    aspect_scales: FloatArray = learned((0, 0))  # M
    user_bias: FloatArray = learned((0,))
    item_bias: FloatArray = learned((0,))
    mean: FloatArray = learned(())

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        n, m = reviews.n_users, reviews.n_items
        self.user_aspects, self.item_aspects = np.zeros((n, self.aspects)), np.zeros((m, self.aspects))
        self.user_vectors = rng.normal(size=(n, self.d)) * 0.1
        self.item_vectors = rng.normal(size=(m, self.d)) * 0.1
        self.aspect_scales = 1 + 0.1 * rng.normal(size=(self.aspects, self.d))
        self.user_bias, self.item_bias, self.mean = np.zeros(n), np.zeros(m), np.array(reviews.rating.mean())
        tokens = Tokens.of(reviews)
        state = tokens.start(self.aspects, rng)
        for _ in range(self.rounds):
            for _ in range(self.sweeps):
                state = draw_aspects(tokens, state, self._shares(reviews.user, reviews.item), rng)
            self._optimise(reviews, state.review_aspects(len(reviews)))

    def _shares(self, user: IntArray, item: IntArray) -> FloatArray:
        """Return θ of pairs of users and items, [n, A]."""
        return _softmax(self.user_aspects[user] + self.item_aspects[item])

    def _optimise(self, reviews: Reviews, counts: FloatArray) -> None:
        """Take steps of L-BFGS on everything but the words' aspects."""
        shapes = [getattr(self, name).shape for name in NAMES]
        start = np.concatenate([getattr(self, name).ravel() for name in NAMES])

        def loss(flat: FloatArray) -> tuple[float, FloatArray]:
            self._fill(flat, shapes)
            return self.loss(reviews, counts)

        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": self.steps})
        self._fill(found.x, shapes)

    def _fill(self, flat: FloatArray, shapes: list[tuple[int, ...]]) -> None:
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        for name, shape, part in zip(NAMES, shapes, np.split(flat, ends[:-1]), strict=True):
            setattr(self, name, part.reshape(shape))

    def loss(self, reviews: Reviews, counts: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss of ratings and of counts of aspects, [n_reviews, A], and its gradient."""
        user, item = reviews.user, reviews.item
        shares = self._shares(user, item)  # [n, A]
        own, other = self.user_vectors[user], self.item_vectors[item]
        ratings = (own * other) @ self.aspect_scales.T  # [n, A]
        base = self.mean + self.user_bias[user] + self.item_bias[item]
        error = (shares * ratings).sum(axis=1) + base - reviews.rating
        weight = self.word_weight
        total = error @ error - weight * float((counts * np.log(shares + 1e-300)).sum())
        total += self.regularisation * sum(float((getattr(self, name) ** 2).sum()) for name in NAMES)
        slope = 2 * error[:, None] * shares  # of each aspect's rating
        inner = slope @ self.aspect_scales  # [n, K]
        mixed = slope * (ratings - (shares * ratings).sum(axis=1, keepdims=True))
        mixed = mixed - weight * (counts - counts.sum(axis=1, keepdims=True) * shares)
        parts = {
            "user_aspects": _scatter(user, mixed, len(self.user_aspects)),
            "item_aspects": _scatter(item, mixed, len(self.item_aspects)),
            "user_vectors": _scatter(user, inner * other, len(self.user_vectors)),
            "item_vectors": _scatter(item, inner * own, len(self.item_vectors)),
            "aspect_scales": slope.T @ (own * other),
            "user_bias": np.bincount(user, 2 * error, len(self.user_bias)),
            "item_bias": np.bincount(item, 2 * error, len(self.item_bias)),
        }
        gradient = [parts[name] + 2 * self.regularisation * getattr(self, name) for name in NAMES]
        return float(total), np.concatenate([each.ravel() for each in gradient])

    def score_users(self, users: IntArray) -> FloatArray:
        """Predict the ratings of all items."""
        return self._score(self.user_aspects[users], self.user_vectors[users])

    def score_profile(self, profile: UserProfile) -> FloatArray:
        """Predict the ratings of all items."""
        both = profile.vector[None]
        return np.asarray(self._score(both[:, : self.aspects], both[:, self.aspects :])[0])

    def _profile_row(self, user: int) -> UserProfile:
        vector = np.append(self.user_aspects[user], self.user_vectors[user])
        return UserProfile(vector=vector, items=self.past(user), row=user)

    def _score(self, aspects: FloatArray, vectors: FloatArray) -> FloatArray:
        ours, theirs = np.exp(aspects), np.exp(self.item_aspects)
        above = sum(
            (ours[:, a, None] * vectors * self.aspect_scales[a]) @ (theirs[:, a, None] * self.item_vectors).T
            for a in range(self.aspects)
        )
        return np.asarray(above / (ours @ theirs.T) + self.item_bias)


def _softmax(values: FloatArray) -> FloatArray:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _scatter(rows: IntArray, values: FloatArray, n: int) -> FloatArray:
    return np.stack([np.bincount(rows, column, n) for column in values.T], axis=1)
