"""Log-linear feature ranker: what someone would write about an item, from ten sources of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit

from rankloop.errors import SettingError
from rankloop.recommend.evidence_als import EvidenceALS
from rankloop.recommend.reviews import Reviews, SparseArray, binarize
from rankloop.types import BoolArray, FloatArray, IntArray

SOURCES = (
    "base rate",
    "item, smoothed by 1",
    "item, smoothed by 5",
    "item, smoothed by 20",
    "user, smoothed by 2",
    "user, smoothed by 20",
    "co-bought items",
    "title words",
    "evidence of the item",
    "evidence of the user",
)
ITEM_SMOOTHING, USER_SMOOTHING, CONTEXT_SMOOTHING = (1.0, 5.0, 20.0), (2.0, 20.0), 5.0
CHUNK = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many reviews mention each feature, by user and item, and what the other sources need."""

    base: FloatArray  # [n_features] share of reviews that mention it
    by_item: FloatArray  # [n_items, n_features] reviews that mention it
    by_user: FloatArray
    item_reviews: FloatArray  # [n_items]
    user_reviews: FloatArray
    co_bought: FloatArray  # [n_items, n_features] log rates among items with common users
    titles: FloatArray  # [n_items, n_features] log rates among items with common title words
    item_evidence: FloatArray  # [n_items, n_features]
    user_evidence: FloatArray  # [n_users, n_features]

    @classmethod
    def of(cls, reviews: Reviews, evidence: EvidenceALS) -> Counts:
        """Count over these reviews, with the factors of a model that was learned from them."""
        there = mark_mentioned(reviews).astype(float)
        by_item, by_user = (
            _sum_by_row(there, rows, n)
            for rows, n in ((reviews.item, reviews.n_items), (reviews.user, reviews.n_users))
        )
        n_item, n_user = (
            np.bincount(reviews.item, minlength=reviews.n_items),
            np.bincount(reviews.user, minlength=reviews.n_users),
        )
        base = (there.sum(axis=0) + 0.5) / (len(reviews) + 1)
        bought = binarize(reviews.rating_matrix())
        near = sparse.csr_array(bought.T @ bought)
        near.setdiag(0)
        tokens = (
            reviews.attributes if reviews.attributes is not None else sparse.csr_array((reviews.n_items, 0))
        )
        words = sparse.csr_array(
            tokens @ sparse.diags_array(1 / np.maximum(np.asarray(tokens.sum(axis=0)).ravel(), 1))
        )
        total = tokens.T @ by_item, tokens.T @ n_item
        return cls(
            base,
            by_item,
            by_user,
            n_item.astype(float),
            n_user.astype(float),
            _log_rate(near @ by_item, near @ n_item, base, CONTEXT_SMOOTHING),
            _log_rate(words @ total[0], words @ total[1], base, CONTEXT_SMOOTHING),
            evidence.item_factors @ evidence.feature_factors.T,
            evidence.user_factors @ evidence.feature_factors.T,
        )

    def sources(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the ten sources for pairs of users and items, [n, n_features, 10]."""
        parts = [
            np.broadcast_to(np.log(self.base), (len(users), len(self.base))),
            *(
                _log_rate(self.by_item[items], self.item_reviews[items], self.base, each)
                for each in ITEM_SMOOTHING
            ),
            *(
                _log_rate(self.by_user[users], self.user_reviews[users], self.base, each)
                for each in USER_SMOOTHING
            ),
            self.co_bought[items],
            self.titles[items],
            self.item_evidence[items],
            self.user_evidence[users],
        ]
        return np.stack(parts, axis=2)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureRanker:
    r"""Ranks features by the chance that a user mentions them of an item, from ten sources.

    $P(k \mid u, j) = \sigma(w_0 + \sum_s w_s x_s)$, by logistic regression.
    Weights are learned from a tenth of the reviews, with counts from all others; then everything is counted.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> ranker = FeatureRanker.fit(AccessoryShop(users=60, items=24).reviews(), np.random.default_rng(0), d=6)
    >>> len(ranker.weights), ranker.scores(np.array([0]), np.array([1])).shape
    (11, (1, 10))
    """

    weights: FloatArray  # [11]; the first is the intercept
    counts: Counts

    @classmethod
    def fit(
        cls, reviews: Reviews, rng: np.random.Generator, *, d: int = 64, share: float = 0.1
    ) -> FeatureRanker:
        """Learn weights and counts from reviews with mentions."""
        if not len(reviews.mentions):
            raise SettingError("features can be ranked where reviews mention some, found no mention")
        inside: BoolArray = rng.random(len(reviews)) >= share
        rest, held_out = reviews.select(inside), reviews.select(~inside)
        counts = Counts.of(rest, EvidenceALS(d=d).fit(rest, rng))
        there = mark_mentioned(held_out)
        known = there.any(axis=1)
        sources = counts.sources(held_out.user[known], held_out.item[known])
        weights = _logistic(sources.reshape(-1, len(SOURCES)), there[known].ravel())
        return cls(weights, Counts.of(reviews, EvidenceALS(d=d).fit(reviews, rng)))

    def scores(self, users: IntArray, items: IntArray) -> FloatArray:
        """Score how likely each feature is to be mentioned, as log odds, [n, n_features]."""
        parts = [
            self.weights[0]
            + self.counts.sources(users[start : start + CHUNK], items[start : start + CHUNK])
            @ self.weights[1:]
            for start in range(0, len(users), CHUNK)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.counts.base)))


def mark_mentioned(reviews: Reviews) -> BoolArray:
    """Mark which features each review mentions, [n_reviews, n_features]."""
    there = np.zeros((len(reviews), len(reviews.features)), bool)
    there[reviews.mentions.review, reviews.mentions.feature] = True
    return there


def _sum_by_row(there: FloatArray, rows: IntArray, n: int) -> FloatArray:
    gather = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n, len(rows)))
    return np.asarray(gather @ there)


def _log_rate(
    counts: FloatArray | SparseArray, reviews: FloatArray, base: FloatArray, smoothing: float
) -> FloatArray:
    """Return the log of smoothed shares of reviews."""
    return np.asarray(np.log((counts + smoothing * base) / (reviews[:, None] + smoothing)))


def _logistic(sources: FloatArray, there: BoolArray, *, steps: int = 12, ridge: float = 1.0) -> FloatArray:
    """Fit a logistic regression by Newton steps, with a small ridge."""
    design = np.column_stack([np.ones(len(sources)), sources])
    weights = np.zeros(design.shape[1])
    for _ in range(steps):
        chance = expit(design @ weights)
        slope = design.T @ (there - chance) - ridge * weights
        matrix = (design * (chance * (1 - chance))[:, None]).T @ design + ridge * np.eye(len(weights))
        weights = weights + np.linalg.solve(matrix, slope)
    return weights
