"""Objectives of a factorization tree: the descent and the curvature of every entity at its vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit

from rankloop.recommend.reviews import SparseArray
from rankloop.types import FloatArray, IntArray


class Objective(Protocol):
    """What a tree needs to know of a loss: both parts add up, so those of a group are sums."""

    @property
    def steps(self) -> int:
        """Newton steps to a node's vector; 1, if the loss is quadratic."""
        ...

    @property
    def damping(self) -> float:
        """What every step is multiplied with."""
        ...

    def descent(self, vectors: FloatArray) -> FloatArray:
        """The negative gradient of every entity at its vector, [n, d]."""
        ...

    def curvature(self) -> FloatArray:
        """The second derivative of every entity, or a bound on it, packed: [n, d (d + 1) / 2]."""
        ...


def pack(matrices: FloatArray) -> FloatArray:
    """The upper triangles of symmetric matrices, row by row, [..., d (d + 1) / 2].

    >>> pack(np.array([[1.0, 2.0], [2.0, 3.0]])).tolist()
    [1.0, 2.0, 3.0]
    """
    rows, columns = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns])


def unpack(packed: FloatArray, d: int) -> FloatArray:
    """Symmetric matrices from their upper triangles, [..., d, d]."""
    full = np.empty((*packed.shape[:-1], d, d))
    rows, columns = np.triu_indices(d)
    full[..., rows, columns] = packed
    full[..., columns, rows] = packed
    return full


def outer(vectors: FloatArray) -> FloatArray:
    """The products of every vector with itself, packed."""
    d = vectors.shape[1]
    return np.concatenate([vectors[:, row, None] * vectors[:, row:] for row in range(d)], axis=1)


@dataclass(frozen=True, eq=False)
class Implicit:
    r"""Implicit feedback, in which what was not observed counts a little.

    $\sum_{obs} w (1 - u^\top v)^2 + w_0 \sum_{all} (p - u^\top v)^2$, $p = 1$ if observed.

    $H = 2 (w_0 V^\top V + \sum w v v^\top)$ and $g = 2 \sum (w + w_0) v - H u$: quadratic, so one step is
    exact.
    """

    rows: SparseArray  # [n, n_others] weights w of what was observed
    others: FloatArray  # [n_others, d]
    unobserved: float  # w0
    steps: int = 1
    damping: float = 1.0

    def descent(self, vectors: FloatArray) -> FloatArray:
        """The negative gradient, through the observations alone."""
        rows, entry = np.repeat(np.arange(len(vectors)), np.diff(self.rows.indptr)), self.rows.indices
        predicted = np.einsum("ed,ed->e", vectors[rows], self.others[entry])
        weights = self.rows.data * (1 - predicted) + self.unobserved
        errors = type(self.rows)((weights, entry, self.rows.indptr), shape=self.rows.shape)
        gram = self.unobserved * (self.others.T @ self.others)
        return np.asarray(2 * (errors @ self.others - vectors @ gram))

    def curvature(self) -> FloatArray:
        """The second derivative, which does not depend on the vectors."""
        shared = pack(self.unobserved * (self.others.T @ self.others))
        return np.asarray(2 * (self.rows @ outer(self.others) + shared))


@dataclass(frozen=True, eq=False)
class RatingAndPairs:
    r"""The thesis' objective: $\sum (r - u^\top v)^2 - \lambda_b \sum \ln \sigma(u^\top v_j - u^\top v_l)$.

    $H = 2 \sum v v^\top + \frac{\lambda_b}{4} \sum \Delta \Delta^\top$, where a quarter bounds the slope of
    the logistic function. On the side of items every pair holds two of them that move at once, so their steps
    are halved: undamped they diverge.
    """

    rows: SparseArray  # [n, n_others] ratings
    others: FloatArray  # [n_others, d]
    entity: IntArray  # [n_pairs] whose pair it is
    direction: FloatArray  # [n_pairs, d] what the margin is the product of the entity's vector with
    weight: float  # λ_b
    offset: FloatArray | None = None  # [n_pairs] the rest of the margin
    steps: int = 3
    damping: float = 1.0

    def descent(self, vectors: FloatArray) -> FloatArray:
        """The negative gradient of both losses."""
        rows, entry = np.repeat(np.arange(len(vectors)), np.diff(self.rows.indptr)), self.rows.indices
        errors = self.rows.data - np.einsum("ed,ed->e", vectors[rows], self.others[entry])
        residual = type(self.rows)((errors, entry, self.rows.indptr), shape=self.rows.shape)
        descent = np.asarray(2 * (residual @ self.others))
        margin = np.einsum("pd,pd->p", vectors[self.entity], self.direction)
        slope = expit(-(margin if self.offset is None else margin + self.offset))
        np.add.at(descent, self.entity, self.weight * slope[:, None] * self.direction)
        return descent

    def curvature(self) -> FloatArray:
        """The bound on the second derivative."""
        ones = type(self.rows)(
            (np.ones(self.rows.nnz), self.rows.indices, self.rows.indptr), shape=self.rows.shape
        )
        curvature = np.asarray(2 * (ones @ outer(self.others)))
        np.add.at(curvature, self.entity, self.weight / 4 * outer(self.direction))
        return curvature
