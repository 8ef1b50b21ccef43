"""Tensors of reviews: users' opinions of items' features, and words that users and items go with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from rankloop.recommend.reviews import NO_WORD, Reviews
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The observed cells of a three-way tensor, and its size."""

    index: IntArray  # [n, 3]
    value: FloatArray  # [n]
    shape: tuple[int, int, int]

    def __len__(self) -> int:
        return len(self.value)

    def draw(
        self, count: int, rng: np.random.Generator, *, zeros: float = 0.0
    ) -> tuple[IntArray, FloatArray]:
        """Cells drawn at random and, for each, as many others as said with a target of 0."""
        chosen = rng.integers(len(self), size=count)
        others = np.column_stack([rng.integers(size, size=round(zeros * count)) for size in self.shape])
        return (
            np.concatenate([self.index[chosen], others]),
            np.concatenate([self.value[chosen], np.zeros(len(others))]),
        )


def opinion_cells(reviews: Reviews) -> Cells:
    r"""Opinions of users about features of items, with ratings as one feature more.

    $\tilde X_{ijk} = 1 + (N - 1) / (1 + e^{-\hat s})$;
    $\hat s$ is the sum of sentiments; a sum of 0 is known, and in the middle.

    >>> from rankloop.lab.data.review_data import Shop
    >>> cells = opinion_cells(Shop(users=20, items=12).reviews())
    >>> bool(1 <= cells.value.min() and cells.value.max() <= 5)
    True
    """
    mentions, last = reviews.mentions, len(reviews.features)
    pairs, total = _summed(np.column_stack([mentions.review, mentions.feature]), mentions.sentiment)
    review, feature = pairs.T
    overall = np.column_stack([reviews.user, reviews.item, np.full(len(reviews), last)])
    index = np.column_stack([reviews.user[review], reviews.item[review], feature])
    value = 1 + (reviews.highest - 1) * expit(total)
    shape = (reviews.n_users, reviews.n_items, last + 1)
    return Cells(np.concatenate([index, overall]), np.concatenate([value, reviews.rating]), shape)


def word_cells(reviews: Reviews, by: str) -> Cells:
    r"""Positive words for features, of users or items: $1 + (N - 1)(2 / (1 + e^{-c}) - 1)$ of their count."""
    mentions = reviews.mentions
    inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    who = {"user": reviews.user, "item": reviews.item}[by][mentions.review[inside]]
    ones = np.ones(int(inside.sum()))
    index, count = _summed(np.column_stack([who, mentions.feature[inside], mentions.word[inside]]), ones)
    value = 1 + (reviews.highest - 1) * (2 / (1 + np.exp(-count)) - 1)
    size = reviews.n_users if by == "user" else reviews.n_items
    return Cells(index, value, (size, len(reviews.features), len(reviews.words)))


def _summed(index: IntArray, values: IntArray | FloatArray) -> tuple[IntArray, FloatArray]:
    """Equal cells added up."""
    found, where = np.unique(index, axis=0, return_inverse=True)
    return found, np.asarray(np.bincount(where.ravel(), values.astype(float), len(found)), float)
