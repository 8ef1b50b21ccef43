"""Tensors of reviews, opinions and words for them, and the gradients of their Tucker decompositions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
        """Draw cells and, for each, as many others as said with a target of 0."""
        chosen = rng.integers(len(self), size=count)
        others = np.column_stack([rng.integers(size, size=round(zeros * count)) for size in self.shape])
        return (
            np.concatenate([self.index[chosen], others]),
            np.concatenate([self.value[chosen], np.zeros(len(others))]),
        )


def build_opinion_cells(reviews: Reviews) -> Cells:
    r"""Build cells of users' opinions about features of items, with ratings as one feature more.

    $\tilde X_{ijk} = 1 + (N - 1) / (1 + e^{-\hat s})$;
    $\hat s$ is the sum of sentiments; a sum of 0 is known, and in the middle.

    >>> from rankloop.lab.data.review_data import AccessoryShop
    >>> cells = build_opinion_cells(AccessoryShop(users=20, items=12).reviews())
    >>> bool(1 <= cells.value.min() and cells.value.max() <= 5)
    True
    """
    mentions, last = reviews.mentions, len(reviews.features)
    pairs, total = _sum_equal(np.column_stack([mentions.review, mentions.feature]), mentions.sentiment)
    review, feature = pairs.T
    overall = np.column_stack([reviews.user, reviews.item, np.full(len(reviews), last)])
    index = np.column_stack([reviews.user[review], reviews.item[review], feature])
    value = 1 + (reviews.highest - 1) * expit(total)
    shape = (reviews.n_users, reviews.n_items, last + 1)
    return Cells(np.concatenate([index, overall]), np.concatenate([value, reviews.rating]), shape)


def build_word_cells(reviews: Reviews, by: str) -> Cells:
    r"""Build cells of positive words for features: $1 + (N - 1)(2 / (1 + e^{-c}) - 1)$ of their count."""
    mentions = reviews.mentions
    inside = (mentions.word != NO_WORD) & (mentions.sentiment == 1)
    who = {"user": reviews.user, "item": reviews.item}[by][mentions.review[inside]]
    ones = np.ones(int(inside.sum()))
    index, count = _sum_equal(np.column_stack([who, mentions.feature[inside], mentions.word[inside]]), ones)
    value = 1 + (reviews.highest - 1) * (2 / (1 + np.exp(-count)) - 1)
    size = reviews.n_users if by == "user" else reviews.n_items
    return Cells(index, value, (size, len(reviews.features), len(reviews.words)))


def _sum_equal(index: IntArray, values: IntArray | FloatArray) -> tuple[IntArray, FloatArray]:
    """Add up equal cells."""
    found, where = np.unique(index, axis=0, return_inverse=True)
    return found, np.asarray(np.bincount(where.ravel(), values.astype(float), len(found)), float)


class TuckerFactors(NamedTuple):
    """The rows of three factor matrices that belong to drawn cells, and the core tensor."""

    first: FloatArray  # [n, a]
    second: FloatArray  # [n, b]
    third: FloatArray  # [n, c]
    core: FloatArray  # [a, b, c]


def predict(parts: TuckerFactors) -> FloatArray:
    """Predict the values of cells, [n]."""
    return np.asarray(np.einsum("nbc,nb,nc->n", _contract(parts), parts.second, parts.third))


def compute_cell_gradients(
    parts: TuckerFactors, value: FloatArray, weight: FloatArray | float
) -> TuckerFactors:
    r"""Compute gradients of $\sum_n w_n (\hat y_n - y_n)^2$ with respect to every part.

    $T = A\, G_{(1)}$, $\hat y = \langle B T, C \rangle$, $e = 2 w (\hat y - y)$; $dC = e\, B T$,
    $dB = e\, T C$, $Z = e B \otimes C$, $dA = Z\, G_{(1)}^\top$, $dG = A^\top Z$.
    """
    contracted = _contract(parts)  # [n, b, c]
    along = np.matmul(parts.second[:, None, :], contracted)[:, 0, :]  # [n, c]
    error = 2 * weight * (np.einsum("nc,nc->n", along, parts.third) - value)
    flat = parts.core.reshape(parts.core.shape[0], -1)
    pairs = (error[:, None] * parts.second)[:, :, None] * parts.third[:, None, :]
    outer = pairs.reshape(len(value), flat.shape[1])  # also of no cell at all
    return TuckerFactors(
        outer @ flat.T,
        error[:, None] * np.matmul(contracted, parts.third[:, :, None])[:, :, 0],
        error[:, None] * along,
        (parts.first.T @ outer).reshape(parts.core.shape),
    )


class PairGradients(NamedTuple):
    """Gradients of pairs of items with respect to users, both items, the core and the overall feature."""

    user: FloatArray  # [n, a]
    better: FloatArray  # [n, b]; that of the other item is its negative
    core: FloatArray  # [a, b, c]
    overall: FloatArray  # [c]


def compute_pair_gradients(
    user: FloatArray, gap: FloatArray, sign: FloatArray, core: FloatArray, overall: FloatArray, weight: float
) -> PairGradients:
    r"""Compute gradients of the logistic loss of pairs, with the core contracted once for all of them.

    The loss is $w \sum_n \ln(1 + e^{-s x})$, $x = u^\top M (v_j - v_l)$, $M = G_1 f$.
    $g = -w s \sigma(-s x)$; $dv_j = g\, u M$, $du = g (v_j - v_l) M^\top$, $dM = U^\top (g \Delta)$,
    $dG_1 = dM \otimes f$, $df = \langle dM, G_1 \rangle$.
    """
    matrix = core @ overall  # [a, b]
    through = user @ matrix
    slope = -weight * sign * expit(-sign * np.einsum("nb,nb->n", through, gap))
    inner = user.T @ (slope[:, None] * gap)
    return PairGradients(
        (slope[:, None] * gap) @ matrix.T,
        slope[:, None] * through,
        inner[:, :, None] * overall,
        np.einsum("ab,abc->c", inner, core),
    )


def _contract(parts: TuckerFactors) -> FloatArray:
    core = parts.core
    return (parts.first @ core.reshape(core.shape[0], -1)).reshape(-1, *core.shape[1:])
