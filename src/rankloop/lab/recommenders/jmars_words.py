"""Gibbs sampling of what the words of reviews are about: five classes, and an aspect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.recommend.reviews import NO_WORD, Reviews
from rankloop.types import BoolArray, FloatArray, IntArray

SMOOTHING = 0.1
PRIOR = 1.0
ALONE = 3  # classes without an aspect: background, sentiment, item


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The words of all reviews: features that are mentioned, and opinion words."""

    review: IntArray
    item: IntArray
    word: IntArray
    sentiment: IntArray  # 0 negative, 1 positive
    vocabulary: int
    n_items: int

    @classmethod
    def of(cls, reviews: Reviews) -> Tokens:
        """Make a token for every feature that is mentioned, and one for every word."""
        mentions, n = reviews.mentions, len(reviews.features)
        worded = mentions.word != NO_WORD
        review = np.concatenate([mentions.review, mentions.review[worded]])
        word = np.concatenate([mentions.feature, n + mentions.word[worded]])
        sentiment = np.concatenate([mentions.sentiment, mentions.sentiment[worded]])
        size = n + len(reviews.words)
        return cls(review, reviews.item[review], word, (sentiment > 0).astype(int), size, reviews.n_items)

    def start(self, aspects: int, rng: np.random.Generator) -> DrawnAspects:
        """Draw classes and aspects at random."""
        return DrawnAspects(rng.integers(ALONE + 2 * aspects, size=len(self.word)), self.review, aspects)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnAspects:
    """What every token is: of a class without an aspect, or one of two classes of an aspect."""

    kind: IntArray  # 0 ... 2 alone, then aspects, then aspects with sentiment
    review: IntArray
    aspects: int

    def review_aspects(self, n: int) -> FloatArray:
        """Count how many tokens of each review are about each aspect, [n_reviews, A]."""
        inside = self.kind >= ALONE
        cell = self.review[inside] * self.aspects + (self.kind[inside] - ALONE) % self.aspects
        return np.bincount(cell, minlength=n * self.aspects).reshape(n, self.aspects).astype(float)


def draw_aspects(
    tokens: Tokens, before: DrawnAspects, shares: FloatArray, rng: np.random.Generator
) -> DrawnAspects:
    """Draw all tokens anew, given the counts before and the aspects' shares of each review, [n, A]."""
    a = before.aspects
    chances = np.column_stack(
        [
            _word_chances(tokens, before.kind == 0, np.zeros_like(tokens.word)),
            _word_chances(tokens, before.kind == 1, tokens.sentiment),
            _word_chances(tokens, before.kind == 2, tokens.item),
            *(_word_chances(tokens, before.kind == ALONE + k, np.zeros_like(tokens.word)) for k in range(a)),
            *(_word_chances(tokens, before.kind == ALONE + a + k, tokens.sentiment) for k in range(a)),
        ]
    )
    classes = np.array([0, 1, 2, *[3] * a, *[4] * a])
    counts = np.bincount(classes[before.kind], minlength=5) + PRIOR
    chances *= (counts / counts.sum())[classes]
    chances[:, ALONE:] *= np.tile(shares[tokens.review], 2)
    total = chances.cumsum(axis=1)
    kind = (rng.random((len(total), 1)) * total[:, -1:] > total).sum(axis=1)
    return DrawnAspects(kind.clip(max=ALONE + 2 * a - 1), tokens.review, a)


def _word_chances(tokens: Tokens, inside: BoolArray, group: IntArray) -> FloatArray:
    """Return the smoothed chance of each token's word among those of its group, [n_tokens]."""
    cell = group * tokens.vocabulary + tokens.word
    size = int(group.max(initial=0)) + 1
    words = np.bincount(cell[inside], minlength=size * tokens.vocabulary)
    groups = np.bincount(group[inside], minlength=size)
    return np.asarray((words[cell] + SMOOTHING) / (groups[group] + SMOOTHING * tokens.vocabulary))
