"""MTER-S: the three tensors of MTER by canonical decompositions, with shared and local components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.special import expit

from rankloop.bounds import Count, NonNegative
from rankloop.recommend.joint_factorization import Gradient, JointFactorization, TrainingBatch
from rankloop.recommend.recommender import UserProfile, learned, require_row
from rankloop.recommend.reviews import Reviews
from rankloop.types import FloatArray, IntArray

FIRST_PREDICTION = 3.5
Mode: TypeAlias = tuple[str, ...]  # the components whose sum is a factor
Modes: TypeAlias = tuple[Mode, Mode, Mode]


@dataclass(kw_only=True, eq=False)
class MTERS(JointFactorization):
    r"""MTER with canonical decompositions: components that tensors share, and local ones.

    $\hat X = \sum_r (U_0 + U_1)(I_0 + I_1)(F_0 + F_1)$,
    $\hat Y^U = \sum_r (U_0 + U_2)(F_0 + F_2)(W_0 + W_1)$, $\hat Y^I = \sum_r (I_0 + I_2)(F_0 + F_3)(W_0 +
    W_2)$.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=30, items=24).reviews()
    >>> model = MTERS(iterations=20).fit(reviews, np.random.default_rng(0))
    >>> model.score_users(np.array([0])).shape
    (1, 24)
    """

    modes: ClassVar[tuple[Modes, Modes, Modes]] = (
        (("users", "users_x"), ("items", "items_x"), ("features", "features_x")),
        (("users", "users_y"), ("features", "features_u"), ("words", "words_u")),
        (("items", "items_y"), ("features", "features_i"), ("words", "words_i")),
    )

    d: Count = 30
    pair_weight: NonNegative = 250.0
    users: FloatArray = learned((0, 0))
    items: FloatArray = learned((0, 0))
    features: FloatArray = learned((0, 0))  # [n_features + 1, d]; the last is the overall rating
    words: FloatArray = learned((0, 0))
    users_x: FloatArray = learned((0, 0))
    users_y: FloatArray = learned((0, 0))
    items_x: FloatArray = learned((0, 0))
    items_y: FloatArray = learned((0, 0))
    features_x: FloatArray = learned((0, 0))
    features_u: FloatArray = learned((0, 0))
    features_i: FloatArray = learned((0, 0))
    words_u: FloatArray = learned((0, 0))
    words_i: FloatArray = learned((0, 0))

    def _begin(self, reviews: Reviews, rng: np.random.Generator) -> Mapping[str, float | None]:
        rows = {
            "users": reviews.n_users,
            "items": reviews.n_items,
            "features": len(reviews.features) + 1,
            "words": max(len(reviews.words), 1),
        }
        names = tuple(dict.fromkeys(name for modes in self.modes for mode in modes for name in mode))
        parts = len(self.modes[0][0])
        size = (FIRST_PREDICTION / (self.d / 8)) ** (1 / 3) / parts
        for name in names:
            setattr(self, name, size * rng.random((rows[name.split("_")[0]], self.d)))
        self.item_factors = self._factor(self.modes[0][1])
        return dict.fromkeys(names, 0.0)

    def _factor(self, mode: Mode, rows: IntArray | slice = slice(None)) -> FloatArray:
        return np.asarray(sum(getattr(self, name)[rows] for name in mode))

    def gradients(self, batch: TrainingBatch) -> Mapping[str, list[Gradient]]:
        """Every tensor's part and the pairs'; the components of a factor share its gradient."""
        weights, pair_weight = self._weights(batch)
        found: dict[str, list[Gradient]] = {
            name: [] for modes in self.modes for mode in modes for name in mode
        }

        def add(mode: Mode, gradient: FloatArray, rows: IntArray) -> None:
            for name in mode:
                found[name].append((gradient, rows))

        for modes, (index, value), weight in zip(self.modes, batch.cells, weights, strict=True):
            first, second, third = (
                self._factor(mode, rows) for mode, rows in zip(modes, index.T, strict=True)
            )
            error = 2 * weight * (np.einsum("nd,nd,nd->n", first, second, third) - value)[:, None]
            for mode, gradient, rows in zip(
                modes,
                (error * second * third, error * first * third, error * first * second),
                index.T,
                strict=True,
            ):
                add(mode, gradient, rows)
        users, items, features = self.modes[0]
        last = np.array([len(self.features) - 1])
        overall = self._factor(features, last)[0]
        own, gap = (
            self._factor(users, batch.user),
            self._factor(items, batch.better) - self._factor(items, batch.worse),
        )
        margin = np.einsum("nd,nd,d->n", own, gap, overall)
        slope = (-pair_weight * batch.sign * expit(-batch.sign * margin))[:, None]
        add(users, slope * gap * overall, batch.user)
        add(items, slope * own * overall, batch.better)
        add(items, -slope * own * overall, batch.worse)
        add(features, (slope * own * gap).sum(axis=0)[None], last)
        return found

    def _finish(self) -> None:
        users, items, features = self.modes[0]
        self.user_factors = self._factor(users) * self._factor(features)[-1]
        self.item_factors = self._factor(items)

    def score_features(self, profile: UserProfile, items: IntArray) -> FloatArray:
        """Predict what a user would think of each feature of these items, [n_items, n_features]."""
        mode, row = self.modes[0], np.array([require_row(profile)])
        return np.asarray(
            (self._factor(mode[0], row) * self._factor(mode[1], items)) @ self._factor(mode[2])[:-1].T
        )

    def score_words(self, users: IntArray, items: IntArray, features: IntArray) -> FloatArray:
        """Score how well each word goes with these features, for these users and items, [n, n_words]."""
        by_user, by_item = self.modes[1:]
        ours = (self._factor(by_user[0], users) * self._factor(by_user[1], features)) @ self._factor(
            by_user[2]
        ).T
        theirs = (self._factor(by_item[0], items) * self._factor(by_item[1], features)) @ self._factor(
            by_item[2]
        ).T
        return np.asarray(ours * theirs)
