"""Evidence ALS: items share factors with the words of their titles and with what reviews mention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rankloop.bounds import NonNegative, Positive
from rankloop.recommend.ials import IALS, draw_factors
from rankloop.recommend.recommender import learned
from rankloop.recommend.reviews import Reviews, SparseArray, binarize
from rankloop.recommend.ridge_rows import EvidenceBlock
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class EvidenceALS(IALS):
    """Implicit ALS in which an item's row is its users, its title words and its features, each with a weight.

    Items that nobody reviewed yet get their vector from their title. Without attributes, and with no weight
    on features, it is plain implicit ALS. Vectors of features are fitted at the end in any case: they say
    which features go with a user and with an item.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> reviews = AccessoryShop(users=40, items=24).reviews()
    >>> model = EvidenceALS(d=8).fit(reviews, np.random.default_rng(0))
    >>> model.token_factors.shape == (len(reviews.tokens), 8)
    True
    """

    regularisation: Positive = 0.025
    token_weight: NonNegative = 1.0
    feature_weight: NonNegative = 0.0
    token_factors: FloatArray = learned((0, 0))  # [n_tokens, d]
    feature_factors: FloatArray = learned((0, 0))  # [n_features, d]

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        by_user = binarize(reviews.rating_matrix())
        by_item = sparse.csr_array(by_user.T)
        tokens = reviews.attributes if reviews.attributes is not None else _nothing(reviews.n_items)
        tokens, features = binarize(tokens), binarize(reviews.count_mentions("item", sentiment=1))
        by_token, by_aspect = sparse.csr_array(tokens.T), sparse.csr_array(features.T)
        self.item_factors = draw_factors(rng, reviews.n_items, self.d)
        self.token_factors = draw_factors(rng, tokens.shape[1], self.d)
        self.feature_factors = draw_factors(rng, features.shape[1], self.d)
        for _ in range(self.sweeps):
            users = self.ridge.solve([EvidenceBlock(by_user, self.item_factors)])
            blocks = [
                EvidenceBlock(by_item, users),
                EvidenceBlock(tokens, self.token_factors, self.token_weight),
                EvidenceBlock(features, self.feature_factors, self.feature_weight),
            ]
            self.item_factors = self.ridge.solve([block for block in blocks if block.weight])
            self.token_factors = self.ridge.solve([EvidenceBlock(by_token, self.item_factors)])
            if self.feature_weight:
                self.feature_factors = self.ridge.solve([EvidenceBlock(by_aspect, self.item_factors)])
        self.feature_factors = self.ridge.solve([EvidenceBlock(by_aspect, self.item_factors)])
        self._finish(reviews)


def _nothing(rows: int) -> SparseArray:
    return sparse.csr_array((rows, 0))
