"""EFM: explicit factors that users' attention and items' quality share with ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rankloop.bounds import Natural, NonNegative, Probability
from rankloop.errors import SettingError
from rankloop.recommend.opinion_profiles import sum_item_opinions
from rankloop.recommend.recommender import Recommender, UserProfile, learned
from rankloop.recommend.reviews import Reviews, SparseArray
from rankloop.types import FloatArray, IntArray

TINY = 1e-12


class Relation(NamedTuple):
    """Observed cells that two factor matrices should multiply to, and how much they count."""

    cells: SparseArray
    weight: float


@dataclass(kw_only=True, eq=False)
class EFM(Recommender):
    r"""$A \approx [U_1 H_1][U_2 H_2]^\top$, $X \approx U_1 V^\top$, $Y \approx U_2 V^\top$, all non-negative.

    $A$ are ratings, $X_{ik} = 1 + (N - 1)(2 / (1 + e^{-t}) - 1)$ the attention of a user who mentions a
    feature $t$ times, $Y_{jk} = 1 + (N - 1) / (1 + e^{-s})$ the quality of an item's feature. Updates
    $\theta \leftarrow \theta \circ \sqrt{num / den}$ on observed cells. The score is $\alpha$ times the
    mean of $\hat X \hat Y$ over the `n_top_features` that the user cares for most, and $1 - \alpha$ times
    the rating.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=30, items=24).reviews()
    >>> model = EFM(explicit=4, latent=4, iterations=5).fit(reviews, np.random.default_rng(0))
    >>> model.score_users(np.array([0])).shape
    (1, 24)

    Zhang, Lai, Zhang, Zhang, Liu, Ma: Explicit factor models for explainable recommendation based on
    phrase-level sentiment analysis. SIGIR 2014.
    """

    explicit: Natural = 40
    latent: Natural = 60
    attention_weight: NonNegative = 0.85  # of X
    quality_weight: NonNegative = 0.85  # of Y
    regularisation: NonNegative = 1.0
    latent_regularisation: NonNegative = 1.0
    iterations: Natural = 100
    n_top_features: Natural = 15
    alpha: Probability = 0.85
    users: FloatArray = learned((0, 0))  # U1 and H1, side by side
    items: FloatArray = learned((0, 0))  # U2 and H2
    features: FloatArray = learned((0, 0))  # V
    highest: FloatArray = learned(())

    def __post_init__(self) -> None:
        """Refuse a model without factors."""
        super().__post_init__()
        if self.explicit + self.latent < 1:
            raise SettingError(f"at least one factor is needed, found {self}")

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        d = self.explicit + self.latent
        ratings = Relation(reviews.rating_matrix(), 1.0)
        attention = Relation(_attention(reviews), self.attention_weight)
        quality = Relation(_quality(reviews), self.quality_weight)
        self.highest = np.array(reviews.highest)
        self.users, self.items = (
            rng.random((reviews.n_users, d)) + 0.01,
            rng.random((reviews.n_items, d)) + 0.01,
        )
        self.features = rng.random((len(reviews.features), self.explicit)) + 0.01
        self.users, self.items, self.features = (
            0.1 * each for each in (self.users, self.items, self.features)
        )
        penalty = np.r_[
            np.full(self.explicit, self.regularisation), np.full(self.latent, self.latent_regularisation)
        ]
        for _ in range(self.iterations):
            own, other = self.users[:, : self.explicit], self.items[:, : self.explicit]
            self.features = _update(
                self.features, self.regularisation, (_transpose(attention), own), (_transpose(quality), other)
            )
            self.users = _update(self.users, penalty, (ratings, self.items), (attention, self._padded()))
            self.items = _update(
                self.items, penalty, (_transpose(ratings), self.users), (quality, self._padded())
            )

    def _padded(self) -> FloatArray:
        """Return the features' factors, with zeros for latent ones: these do not explain features."""
        return np.append(self.features, np.zeros((len(self.features), self.latent)), axis=1)

    def score_users(self, users: IntArray) -> FloatArray:
        """Multiply what users care for most with items' quality there, and add the predicted rating."""
        return self._score(self.users[users])

    def score_profile(self, profile: UserProfile) -> FloatArray:
        """Score all items for one vector."""
        return np.asarray(self._score(profile.vector[None])[0])

    def _profile_row(self, user: int) -> UserProfile:
        return UserProfile(vector=self.users[user], items=self.past(user), row=user)

    def _score(self, own: FloatArray) -> FloatArray:
        overall = own @ self.items.T
        count = min(self.n_top_features, len(self.features))
        if not (self.explicit and count):
            return np.asarray(overall)
        attention = own[:, : self.explicit] @ self.features.T  # [n, n_features]
        chosen = np.argsort(-attention, axis=1, kind="stable")[:, :count]
        weights = np.zeros(attention.shape)
        np.put_along_axis(weights, chosen, np.take_along_axis(attention, chosen, axis=1), axis=1)
        quality = self.items[:, : self.explicit] @ self.features.T
        explained = weights @ quality.T / (count * float(self.highest))
        return np.asarray(self.alpha * explained + (1 - self.alpha) * overall)

    def score_features(self, profile: UserProfile, items: IntArray) -> FloatArray:
        """Multiply the user's attention with the items' quality for each feature, [n_items, n_features]."""
        own, other = profile.vector[: self.explicit], self.items[items, : self.explicit]
        return np.asarray((own @ self.features.T) * (other @ self.features.T))


def _update(
    values: FloatArray, penalty: FloatArray | float, *relations: tuple[Relation, FloatArray]
) -> FloatArray:
    """Take one multiplicative step of a factor matrix against what it should multiply to."""
    above, below = np.zeros(values.shape), penalty * values
    for (cells, weight), others in relations:
        rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
        predicted = np.einsum("ed,ed->e", values[rows], others[cells.indices])
        fitted = type(cells)((predicted, cells.indices, cells.indptr), shape=cells.shape)
        above += weight * (cells @ others)
        below += weight * (fitted @ others)
    return np.asarray(values * np.sqrt(above / np.maximum(below, TINY)))


def _transpose(relation: Relation) -> Relation:
    return Relation(relation.cells.T.tocsr(), relation.weight)


def _attention(reviews: Reviews) -> SparseArray:
    counts = reviews.count_mentions("user")
    value = 1 + (reviews.highest - 1) * (2 / (1 + np.exp(-counts.data.astype(float))) - 1)
    return type(counts)((value, counts.indices, counts.indptr), shape=counts.shape)


def _quality(reviews: Reviews) -> SparseArray:
    opinions = sum_item_opinions(reviews)
    value = 1 + (reviews.highest - 1) * expit(opinions.data)
    return type(opinions)((value, opinions.indices, opinions.indptr), shape=opinions.shape)
