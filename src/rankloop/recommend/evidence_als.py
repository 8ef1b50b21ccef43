"""Evidence ALS: items share factors with the words of their titles and with what reviews mention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from rankloop.errors import SettingError
from rankloop.recommend.ials import IALS, start
from rankloop.recommend.recommender import learned, ones_like
from rankloop.recommend.reviews import Reviews, SparseArray
from rankloop.recommend.ridge_rows import Block
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class EvidenceALS(IALS):
    """Implicit ALS in which an item's row is its users, its title words and its aspects, each with a weight.

    Items that nobody reviewed yet get their vector from their title. Without attributes, and with no weight
    on aspects, it is plain implicit ALS. Vectors of aspects are fitted at the end in any case: they say which
    features go with a user and with an item.

    >>> from rankloop.lab.data.review_data import Shop
    >>> reviews = Shop(users=40, items=24).reviews()
    >>> model = EvidenceALS(d=8).fit(reviews, np.random.default_rng(0))
    >>> model.token_factors.shape == (len(reviews.tokens), 8)
    True
    """

    name: ClassVar[str] = "evidence-als"

    regularisation: float = 0.025
    token_weight: float = 1.0
    aspect_weight: float = 0.0
    token_factors: FloatArray = learned((0, 0))  # [n_tokens, d]
    aspect_factors: FloatArray = learned((0, 0))  # [n_features, d]

    def __post_init__(self) -> None:
        """Refuse weights that turn evidence round."""
        super().__post_init__()
        if not min(self.token_weight, self.aspect_weight) >= 0:
            raise SettingError(
                f"weights must be 0 or more, found {self.token_weight} and {self.aspect_weight}"
            )

    def _learn(self, reviews: Reviews, rng: np.random.Generator) -> None:
        by_user = ones_like(reviews.matrix())
        by_item = sparse.csr_array(by_user.T)
        tokens = reviews.attributes if reviews.attributes is not None else _nothing(reviews.n_items)
        tokens, aspects = ones_like(tokens), ones_like(reviews.counts("item", sentiment=1))
        by_token, by_aspect = sparse.csr_array(tokens.T), sparse.csr_array(aspects.T)
        self.item_factors = start(rng, reviews.n_items, self.d)
        self.token_factors = start(rng, tokens.shape[1], self.d)
        self.aspect_factors = start(rng, aspects.shape[1], self.d)
        for _ in range(self.sweeps):
            users = self.ridge.solve([Block(by_user, self.item_factors)])
            blocks = [
                Block(by_item, users),
                *([Block(tokens, self.token_factors, self.token_weight)] if self.token_weight else []),
                *([Block(aspects, self.aspect_factors, self.aspect_weight)] if self.aspect_weight else []),
            ]
            self.item_factors = self.ridge.solve(blocks)
            self.token_factors = self.ridge.solve([Block(by_token, self.item_factors)])
            if self.aspect_weight:
                self.aspect_factors = self.ridge.solve([Block(by_aspect, self.item_factors)])
        self.aspect_factors = self.ridge.solve([Block(by_aspect, self.item_factors)])
        self._finish(reviews)


def _nothing(rows: int) -> SparseArray:
    return sparse.csr_array((rows, 0))
