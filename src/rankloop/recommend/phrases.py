"""Phrases: which words go with a feature of an item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rankloop.recommend.item_catalogue import Catalogue, cells
from rankloop.recommend.reviews import SparseArray
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    r"""Positive words for the features of an item, by what was said of it and of others.

    $P(w \mid j, k) = (n_{jkw} + \alpha P(w \mid k)) / (n_{jk} + \alpha)$.

    >>> from rankloop.lab.data.review_data import Shop
    >>> phrases = Phrases.of(Catalogue.of(Shop(users=60, items=24).reviews()))
    >>> phrases.scores(np.array([3]), np.array([5])).shape
    (1, 9)
    """

    by_feature: FloatArray  # [n_features, n_words] P(w | k); zeros where nothing was said
    said: SparseArray  # [n_items * n_features, n_words] counts
    smoothing: float = 5.0

    @classmethod
    def of(cls, catalogue: Catalogue) -> Phrases:
        """Counts of what was said."""
        k, n = len(catalogue.features), len(catalogue.words)
        item, feature, word, count = catalogue.said.T
        total = sparse.csr_array((count, (feature, word)), shape=(k, n)).toarray().astype(float)
        shape = (len(catalogue.items) * k, n)
        return cls(
            total / np.maximum(total.sum(axis=1, keepdims=True), 1),
            sparse.csr_array((count, (item * k + feature, word)), shape=shape),
        )

    def scores(self, items: IntArray, features: IntArray) -> FloatArray:
        """How likely each word is for these features of these items, [n, n_words]; 0 if nobody said it."""
        own = self.said[items * len(self.by_feature) + features].toarray().astype(float)
        total = own.sum(axis=1, keepdims=True)
        return np.asarray((own + self.smoothing * self.by_feature[features]) / (total + self.smoothing))

    def best(self, item: int, feature: int) -> int | None:
        """The word that reviewers of this item used most for this feature; none, if they used none."""
        own = cells(self.said, item * len(self.by_feature) + feature)
        return min(own, key=lambda word: (-own[word], word), default=None)
