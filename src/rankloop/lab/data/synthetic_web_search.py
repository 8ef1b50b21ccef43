"""A world of MSLR's shape, in which a linear ranker is clearly not enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rankloop.bounds import NonNegative
from rankloop.lab.data.world_options import Sizes, grade_by_shares
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray

GRADE_SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)
HOPELESS = 0.025  # share of queries whose documents all miss the point
FACTORS = 8  # body, title, anchor, freshness, quality, spam, length, focus
QUERY_FEATURES, COUNTS, SCORES, RATIOS, QUALITIES = 20, 40, 50, 20, 6
DOCUMENT_FEATURES = COUNTS + SCORES + RATIOS + QUALITIES
FAMILIES = (34, 20, 15, 12, 11, 9, 8, 7)  # how many features see each factor first, in no fixed order
COMMON, LEAST, MOST = 1.4, 0.003, 0.7  # errors: the most that a family shares; least and most of one's own
CHUNK_QUERIES = 32  # part of the world's definition: the random numbers are drawn chunk by chunk


def make_nonlinear(sizes: Sizes, *, noise: NonNegative = 1.7) -> QuerySet:
    """Draw a world of MSLR's shape and difficulty, in which a linear ranker is clearly not enough.

    Its 136 raw features are 20 of the query, 40 counts, 50 scores, 20 ratios and 6 of page quality. Every
    document has eight hidden factors. Its relevance is a sum of products, thresholds and a preferred length
    of these, an effect of the query, and `noise`; its features are noisy, skewed and redundant views of one
    or two factors each. Grades 0 to 4 occur in the shares 52, 32, 13, 2 and 1 %.

    As in real collections, many features say nearly the same: those that see a factor are a large or a small
    family, share part of their error, and differ by errors of their own from tiny to large. What tells the
    members of a family apart is much smaller than what they have in common.

    >>> made = make_nonlinear(Sizes(queries=3, test_queries=2, seed=1))
    >>> made.n_features, len(made)
    (136, 5)
    """
    return _draw_world(sizes, noise, _draw_redundant_views)


def make_independent(sizes: Sizes, *, noise: NonNegative = 1.7) -> QuerySet:
    """Draw the nonlinear world with features that err independently: every one adds something of its own.

    Real features are not like that, and gradient descent has an easier life here than there.

    >>> make_independent(Sizes(queries=3, test_queries=2, seed=1)).n_features
    136
    """
    return _draw_world(sizes, noise, _draw_independent_views)


def _draw_world(sizes: Sizes, noise: float, draw_views: Callable[[np.random.Generator], _Views]) -> QuerySet:
    rng = np.random.default_rng(sizes.seed)
    offsets = sizes.draw_offsets(rng)
    views = draw_views(rng)
    features = np.empty((int(offsets[-1]), QUERY_FEATURES + DOCUMENT_FEATURES), np.float32)
    latent = np.empty(len(features))
    for lengths, rows in _chunks(offsets):
        factors = rng.standard_normal((FACTORS, int(lengths.sum())))
        latent[rows] = relevance_of(factors) + noise * rng.standard_normal(factors.shape[1])
        latent[rows] += np.repeat(_query_effects(len(lengths), rng), lengths)
        features[rows, :QUERY_FEATURES] = _query_features(lengths, rng)
        features[rows, QUERY_FEATURES:] = views.of(factors, lengths, rng)
    return QuerySet(features, offsets, grade_by_shares(latent, GRADE_SHARES), sizes.ids)


def _draw_redundant_views(rng: np.random.Generator) -> _Views:
    return _Views(
        first=rng.permutation(np.repeat(np.arange(FACTORS), FAMILIES)),
        second=rng.integers(0, FACTORS, DOCUMENT_FEATURES),
        share=rng.uniform(0, 0.5, DOCUMENT_FEATURES),
        common=rng.uniform(0, COMMON, DOCUMENT_FEATURES),
        blur=np.exp(rng.uniform(np.log(LEAST), np.log(MOST), DOCUMENT_FEATURES)),
    )


def _draw_independent_views(rng: np.random.Generator) -> _Views:
    return _Views(
        first=np.resize(np.arange(FACTORS), DOCUMENT_FEATURES),
        second=rng.integers(0, FACTORS, DOCUMENT_FEATURES),
        share=rng.uniform(0, 0.5, DOCUMENT_FEATURES),
        common=np.zeros(DOCUMENT_FEATURES),
        blur=rng.uniform(0.4, 1.5, DOCUMENT_FEATURES),
    )


def relevance_of(factors: FloatArray) -> FloatArray:
    """Compute the part of the relevance that features tell about, from [8, n_docs] factors.

    Good pages match in body *and* title; quality counts only on topic; an anchor text helps or misleads
    depending on focus; a fresh page suits one kind of title match and not the other; spam and odd
    lengths hurt.
    """
    body, title, anchor, freshness, quality, spam, length, focus = factors
    plain = 0.5 * body + 0.35 * title + 0.25 * anchor + 0.3 * quality
    on_topic = np.where(body + focus > 0.6, quality + 0.6, -0.3)
    return np.asarray(
        0.45 * plain
        + 0.3 * np.minimum(body, title)
        + 0.5 * on_topic
        + 0.8 * anchor * focus
        + 0.6 * np.sign(title) * np.tanh(2 * freshness)
        - 0.6 * (spam > 1)
        - 0.6 * np.abs(length)
    )


@dataclass(frozen=True, slots=True)
class _Views:
    """Which factors a document feature sees, and how badly."""

    first: IntArray  # [116]
    second: IntArray
    share: FloatArray  # of the second factor
    common: FloatArray  # size of the error that all features with this first factor share
    blur: FloatArray  # size of the error of its own

    def of(self, factors: FloatArray, lengths: IntArray, rng: np.random.Generator) -> FloatArray:
        seen = rng.standard_normal((int(lengths.sum()), DOCUMENT_FEATURES), np.float32)
        seen *= self.blur.astype(np.float32)
        columns = factors.T.astype(np.float32)
        seen += columns[:, self.first]
        seen += self.share.astype(np.float32) * columns[:, self.second]
        if self.common.any():
            errors = rng.standard_normal((len(seen), FACTORS), np.float32)
            seen += self.common.astype(np.float32) * errors[:, self.first]
        levels = rng.standard_normal((len(lengths), COUNTS + SCORES), np.float32)
        return _in_raw_scale(seen, np.repeat(levels, lengths, axis=0))


def _in_raw_scale(seen: FloatArray, levels: FloatArray) -> FloatArray:
    """Turn standard views into counts, scores, ratios and qualities; `levels` differ from query to query."""
    counts, scores, ratios, qualities = np.split(seen, np.cumsum([COUNTS, SCORES, RATIOS]), axis=1)
    counts[:] = np.floor(np.exp(1.5 + counts + 0.5 * levels[:, :COUNTS]))
    scores[:] = 5 + 2 * scores + levels[:, COUNTS:]
    ratios[:] = np.clip(0.5 + 0.25 * ratios, 0, 1)
    qualities[:] = np.floor(np.exp(3 + 1.5 * qualities))
    return seen


def _query_features(lengths: IntArray, rng: np.random.Generator) -> FloatArray:
    return np.repeat(rng.gamma(2.0, 3.0, (len(lengths), QUERY_FEATURES)), lengths, axis=0)


def _query_effects(queries: int, rng: np.random.Generator) -> FloatArray:
    return 1.5 * rng.standard_normal(queries) - 12.0 * (rng.random(queries) < HOPELESS)


def _chunks(offsets: IntArray) -> Iterator[tuple[IntArray, slice]]:
    for first in range(0, len(offsets) - 1, CHUNK_QUERIES):
        chunk = offsets[first : first + CHUNK_QUERIES + 1]
        yield np.diff(chunk), slice(int(chunk[0]), int(chunk[-1]))
