"""Draw synthetic worlds: linear and separable ones, fixed items, and visitors who are shown ads."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankloop.bounds import Bound, Count, NonNegative, Probability
from rankloop.errors import SettingError
from rankloop.lab.data.labelled_rows import make_visitors
from rankloop.lab.data.world_options import Sizes, grade_by_shares
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, FloatArray

GRADE_SHARES = (0.50, 0.25, 0.13, 0.08, 0.04)  # of the linear world
SMALLEST = 1e-6  # margin: in single precision a smaller one is none


def make_linear(sizes: Sizes, *, features: Count = 20, noise: NonNegative = 0.3) -> QuerySet:
    r"""Draw a world in which the best ranker is linear.

    A hidden weighting of features in [0, 1], plus noise, decides the grades: they are thresholds on
    $x^\top w + \epsilon$. `noise` is the standard deviation of $\epsilon$ in units of that of $x^\top w$.

    >>> made = make_linear(Sizes(queries=3, test_queries=2, seed=1))
    >>> len(made), made.n_features, made.grades
    (5, 20, 5)
    """
    rng = np.random.default_rng(sizes.seed)
    offsets = sizes.draw_offsets(rng)
    weights = rng.standard_normal(features)
    documents = rng.random((int(offsets[-1]), features), np.float32)
    scores = np.einsum("ij,j->i", documents.astype(np.float64), weights)
    scores += noise * scores.std() * rng.standard_normal(scores.size)
    return QuerySet(documents, offsets, grade_by_shares(scores, GRADE_SHARES), sizes.ids)


def make_separable(
    sizes: Sizes,
    *,
    features: Count = 20,
    grades: Annotated[int, Bound(at_least=2)] = 5,
    margin: Annotated[float, Bound(at_least=SMALLEST)] = 0.1,
    spread: NonNegative = 0.0,
) -> QuerySet:
    r"""Draw a world without doubt: every better document is above every worse one, by a margin.

    Grades are bands of a hidden linear score $x^\top w$, a margin apart and as wide, with a unit vector $w$.
    A document is a Gaussian point, moved along $w$ into the band of its uniformly drawn grade. So any two
    documents of different grade differ in score by at least `margin`. With `spread`, documents of one grade
    are around a point of their own, which is Gaussian, too, with a deviation of so many times theirs.

    >>> made = make_separable(Sizes(queries=2, test_queries=1), features=3, margin=0.1)
    >>> scores = made.features @ draw_direction(3, seed=0)
    >>> bool(scores[made.relevance == 1].min() - scores[made.relevance == 0].max() >= 0.1)
    True
    """
    rng, direction = np.random.default_rng(sizes.seed), draw_direction(features, sizes.seed)
    offsets = sizes.draw_offsets(rng)
    relevance = rng.integers(0, grades, int(offsets[-1]))
    points = rng.standard_normal((relevance.size, features)) / np.sqrt(features)
    centres = np.random.default_rng([sizes.seed, 2]).standard_normal((grades, features)) / np.sqrt(features)
    points += (spread * centres)[relevance]
    width = margin * 0.999  # rounding to single precision must not eat into the margin
    targets = 2 * margin * (relevance - (grades - 1) / 2) + width * (rng.random(relevance.size) - 0.5)
    missing = targets - np.einsum("ij,j->i", points, direction)
    documents = (points + missing[:, None] * direction).astype(np.float32)
    return QuerySet(documents, offsets, relevance, sizes.ids)


def draw_direction(features: int, seed: int) -> FloatArray:
    """Draw the hidden direction of the separable world, of length 1."""
    weights = np.random.default_rng([seed, 1]).standard_normal(features)
    return np.asarray(weights / np.sqrt(np.square(weights).sum()))


def make_items(sizes: Sizes, *, m: Count = 20, relevant: Count = 5, flip: Probability = 0.1) -> QuerySet:
    """Draw a world of the same `m` items in every query, some relevant, each grade flipped now and then.

    Every query is one visitor's opinion; there are no features.

    >>> made = make_items(Sizes(queries=2, test_queries=1))
    >>> made.n_features, made[0].query.doc_ids[:2], made[1].query.doc_ids[:2]
    (0, ('item 1', 'item 2'), ('item 1', 'item 2'))

    Chaudhuri: Learning to rank: online learning, statistical theory and applications. Thesis, 2016, Section
    3.4.1.
    """
    if relevant > m:
        raise SettingError(f"relevant: expected at most m, found relevant={relevant} and m={m}")
    flipped = np.random.default_rng(sizes.seed).random((sizes.total, m)) < flip
    grades = (draw_relevant_items(m, relevant, sizes.seed) ^ flipped).astype(np.int64).ravel()
    names = tuple(f"item {number}" for number in range(1, m + 1))
    features = np.empty((grades.size, 0), dtype=np.float32)
    return QuerySet(features, np.arange(sizes.total + 1) * m, grades, sizes.ids, names * sizes.total)


def draw_relevant_items(m: int, relevant: int, seed: int) -> BoolArray:
    """Which items of the items world are relevant to most: [m]."""
    return np.random.default_rng([seed, 1]).permutation(m) < relevant


def make_ads(
    sizes: Sizes,
    *,
    ads: Annotated[int, Bound(at_least=2)] = 8,
    features: Count = 8,
    spread: NonNegative = 0.25,
    strangers: Probability = 0.05,
) -> QuerySet:
    """Draw a world of visitors around hidden points, one for each ad: the ad that matches.

    A share of `strangers` want any ad. The features are the visitor's, in [0, 1]; of ads only the ids are
    known.

    >>> made = make_ads(Sizes(queries=2, test_queries=1), ads=3)
    >>> made[0].query.doc_ids, made[0].query.context.features.size
    (('ad 1', 'ad 2', 'ad 3'), 8)
    """
    centres = np.random.default_rng([sizes.seed, 1]).random((ads, features))
    rng, count = np.random.default_rng(sizes.seed), sizes.total
    classes = rng.integers(ads, size=count)
    noise = rng.normal(scale=spread, size=(count, features))
    strange = rng.random(count) < strangers
    wanted = np.where(strange, rng.integers(ads, size=count), classes)
    names = [f"ad {number}" for number in range(1, ads + 1)]
    return make_visitors(np.clip(centres[classes] + noise, 0, 1), wanted, names)
