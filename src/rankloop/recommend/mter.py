"""MTER: opinions and the words for them, factorized jointly by Tucker decompositions with shared factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Count
from rankloop.recommend.joint_factorization import Gradient, JointFactorization, TrainingBatch
from rankloop.recommend.opinion_tensors import (
    TuckerFactors,
    compute_cell_gradients,
    compute_pair_gradients,
)
from rankloop.recommend.recommender import UserProfile, learned, require_row
from rankloop.recommend.reviews import Reviews
from rankloop.types import FloatArray, IntArray

FIRST_PREDICTION = 3.5


@dataclass(kw_only=True, eq=False)
class MTER(JointFactorization):
    r"""Multi-task explainable recommendation: three Tucker decompositions, with ranked pairs of ratings.

    $\hat X = G_1 \times U \times I \times \tilde F$, $\hat Y^U = G_2 \times U \times F \times O$,
    $\hat Y^I = G_3 \times I \times F \times O$.

    The loss is the squared error on drawn observed cells, $\lambda_B$ times the logistic loss of pairs (the
    matrix $G_1 f_{p+1}$ is contracted once for a batch), and an L2 penalty on the rows that a batch
    touches; parameters stay non-negative unless `signed`. By name there are other settings, too:
    `MTER@cornac` (that library's sums and sizes), `MTER@engineered` (signed, hard pairs) and `MTER@zeros`
    (unobserved cells are 0, as the thesis' formula has it).

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=30, items=24).reviews()
    >>> model = MTER(iterations=20).fit(reviews, np.random.default_rng(0))
    >>> model.score_features(model.profile_user(0), np.array([3])).shape
    (1, 10)

    Wang, Wang, Jia, Yin: Explainable recommendation via multi-task learning in opinionated text data. SIGIR
    2018.
    """

    dims: tuple[Count, Count, Count, Count] = (15, 15, 12, 12)  # of users, items, features, words
    signed: bool = False
    scaled: bool = True  # start so that the first prediction is about 3.5; otherwise uniform from 0 to 1
    users: FloatArray = learned((0, 0))
    items: FloatArray = learned((0, 0))
    features: FloatArray = learned((0, 0))  # [n_features + 1, c]; the last is the overall rating
    words: FloatArray = learned((0, 0))
    opinion_core: FloatArray = learned((0, 0, 0))  # G1
    user_core: FloatArray = learned((0, 0, 0))  # G2
    item_core: FloatArray = learned((0, 0, 0))  # G3

    def _begin(self, reviews: Reviews, rng: np.random.Generator) -> Mapping[str, float | None]:
        a, b, c, d = self.dims
        rows = reviews.n_users, reviews.n_items, len(reviews.features) + 1, max(len(reviews.words), 1)
        shapes = {
            **dict(
                zip(("users", "items", "features", "words"), zip(rows, self.dims, strict=True), strict=True)
            ),
            **{"opinion_core": (a, b, c), "user_core": (a, c, d), "item_core": (b, c, d)},
        }
        for name, shape in shapes.items():
            size = (FIRST_PREDICTION / (a * b * c / 16)) ** 0.25 if self.scaled else 1.0
            setattr(self, name, size * rng.random(shape))
        self.item_factors = self.items
        return dict.fromkeys(shapes, None if self.signed else 0.0)

    def gradients(self, batch: TrainingBatch) -> Mapping[str, list[Gradient]]:
        """Every tensor's part and the pairs', for the rows that they touch."""
        weights, pair_weight = self._weights(batch)
        found: dict[str, list[Gradient]] = {name: [] for name in self.parameters()}
        modes = (
            ("users", "items", "features"),
            ("users", "features", "words"),
            ("items", "features", "words"),
        )
        cores = ("opinion_core", "user_core", "item_core")
        for names, core, (index, value), weight in zip(modes, cores, batch.cells, weights, strict=True):
            first, second, third = (
                getattr(self, name)[rows] for name, rows in zip(names, index.T, strict=True)
            )
            parts = TuckerFactors(first, second, third, getattr(self, core))
            gradient = compute_cell_gradients(parts, value, weight)
            for name, rows, part in zip(names, index.T, gradient[:3], strict=True):
                found[name].append((part, rows))
            found[core].append((gradient.core, None))
        gap = self.items[batch.better] - self.items[batch.worse]
        pairs = compute_pair_gradients(
            self.users[batch.user], gap, batch.sign, self.opinion_core, self.features[-1], pair_weight
        )
        found["users"].append((pairs.user, batch.user))
        found["items"] += [(pairs.better, batch.better), (-pairs.better, batch.worse)]
        found["opinion_core"].append((pairs.core, None))
        found["features"].append((pairs.overall[None], np.array([len(self.features) - 1])))
        return found

    def _finish(self) -> None:
        self.user_factors = self.users @ (self.opinion_core @ self.features[-1])
        self.item_factors = self.items

    def score_features(self, profile: UserProfile, items: IntArray) -> FloatArray:
        """Predict what a user would think of each feature of these items, [n_items, n_features]."""
        row = require_row(profile)
        inner = np.einsum(
            "a,nb,abc->nc", self.users[row], self.items[items], self.opinion_core, optimize=True
        )
        return np.asarray(inner @ self.features[:-1].T)

    def score_words(self, users: IntArray, items: IntArray, features: IntArray) -> FloatArray:
        """Score how well each word goes with these features, for these users and items, [n, n_words]."""
        own = self.features[features]
        by_user = (
            np.einsum("na,nc,acd->nd", self.users[users], own, self.user_core, optimize=True) @ self.words.T
        )
        by_item = (
            np.einsum("nb,nc,bcd->nd", self.items[items], own, self.item_core, optimize=True) @ self.words.T
        )
        return np.asarray(by_user * by_item)
