"""Objectives of two factor matrices: their loss, and per side the descent and curvature of every entity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from scipy import sparse
from scipy.special import expit

from rankloop.recommend.reviews import Reviews, SparseArray, binarize
from rankloop.types import FloatArray, IntArray

HALF_STEPS = 40  # of the start of ratings and pairs


class OneSide(Protocol):
    """The loss of one factor matrix while the other one is fixed; parts of a group add up."""

    @property
    def steps(self) -> int:
        """Newton steps to a vector; 1, if the loss is quadratic."""
        ...

    def descent(self, vectors: FloatArray) -> FloatArray:
        """Return the negative gradient of every entity at its vector, [n, d]."""
        ...

    def curvature(self) -> FloatArray:
        """Return the second derivative of every entity, or a bound on it, packed: [n, d (d + 1) / 2]."""
        ...


class FactorObjective(Protocol):
    """A loss of users' and items' vectors, whose product is a score."""

    def loss(self, users: FloatArray, items: FloatArray) -> float:
        """Return the loss, without any penalty."""
        ...

    def start(self, d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return users' and items' vectors to begin with."""
        ...

    def for_users(self, items: FloatArray) -> OneSide:
        """Return the loss of users' vectors, given those of items."""
        ...

    def for_items(self, users: FloatArray) -> OneSide:
        """Return the loss of items' vectors, given those of users."""
        ...


@dataclass(frozen=True, eq=False)
class Implicit:
    r"""Implicit feedback, in which what was not observed counts a little.

    $\sum_{obs} (1 - u^\top v)^2 + w_0 \sum_{all} (p - u^\top v)^2$, $p = 1$ if observed. It starts from a
    factorization that is given.
    """

    rows: SparseArray  # [n_users, n_items] ones where something was observed
    unobserved: float  # w0
    factorize: Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray]]

    def loss(self, users: FloatArray, items: FloatArray) -> float:
        """Return the loss over all cells, most of them from two Gram matrices."""
        predicted = _predict(self.rows, users, items)
        seen = ((1 - predicted) ** 2).sum() * (1 + self.unobserved) - self.unobserved * (predicted**2).sum()
        return float(seen + self.unobserved * ((users.T @ users) * (items.T @ items)).sum())

    def start(self, d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the vectors of the factorization."""
        return self.factorize(d, rng)

    def for_users(self, items: FloatArray) -> ImplicitSide:
        """Return the loss of users' vectors."""
        return ImplicitSide(self.rows, items, self.unobserved)

    def for_items(self, users: FloatArray) -> ImplicitSide:
        """Return the loss of items' vectors."""
        return ImplicitSide(sparse.csr_array(self.rows.T), users, self.unobserved)


@dataclass(frozen=True, eq=False)
class ImplicitSide:
    r"""One side of implicit feedback: quadratic, so one step is exact.

    $H = 2 (w_0 V^\top V + \sum w v v^\top)$ and $g = 2 \sum (w + w_0) v - H u$.
    """

    rows: SparseArray  # [n, n_others] weights w of what was observed
    others: FloatArray  # [n_others, d]
    unobserved: float  # w0
    steps: int = 1

    def descent(self, vectors: FloatArray) -> FloatArray:
        """Return the negative gradient, through the observations alone."""
        weights = self.rows.data * (1 - _predict(self.rows, vectors, self.others)) + self.unobserved
        gram = self.unobserved * (self.others.T @ self.others)
        return np.asarray(2 * (_with_data(self.rows, weights) @ self.others - vectors @ gram))

    def curvature(self) -> FloatArray:
        """Return the second derivative, which does not depend on the vectors."""
        shared = pack(self.unobserved * (self.others.T @ self.others))
        return np.asarray(2 * (self.rows @ outer(self.others) + shared))


@dataclass(frozen=True, eq=False)
class RatingsAndPairs:
    r"""The thesis' objective (4.2.2): ratings, and pairs of items of which a user prefers one.

    $\sum (r - u^\top v)^2 - \lambda_b \sum \ln \sigma(u^\top v_j - u^\top v_l)$
    """

    ratings: SparseArray  # [n_users, n_items]
    user: IntArray  # [n_pairs]
    better: IntArray  # [n_pairs] the item that the user prefers
    worse: IntArray  # [n_pairs]
    weight: float  # λ_b
    regularisation: float = 1.0  # of the start alone

    @classmethod
    def of(
        cls, reviews: Reviews, weight: float, rng: np.random.Generator, *, regularisation: float = 1.0
    ) -> Self:
        """Make the objective of these reviews, with a pair drawn for each of them."""
        ratings = reviews.rating_matrix()
        return cls(ratings, *draw_pairs(ratings, rng), weight, regularisation)

    def loss(self, users: FloatArray, items: FloatArray) -> float:
        """Return the squared errors of ratings and the logistic loss of pairs."""
        errors = self.ratings.data - _predict(self.ratings, users, items)
        margin = np.einsum("pd,pd->p", users[self.user], items[self.better] - items[self.worse])
        return float((errors**2).sum() + self.weight * np.logaddexp(0, -margin).sum())

    def start(self, d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Alternate Newton steps on single vectors; each lowers the loss with its penalty."""
        users, items = (rng.normal(size=(n, d)) / np.sqrt(d) for n in self.ratings.shape)
        for _ in range(HALF_STEPS // 2):
            users = step_down(self.for_users(items), users, self.regularisation)
            items = step_down(self.for_items(users), items, self.regularisation)
        return users, items

    def for_users(self, items: FloatArray) -> RatingSide:
        """Return the loss of users' vectors."""
        return RatingSide(
            self.ratings, items, self.user, None, items[self.better] - items[self.worse], self.weight
        )

    def for_items(self, users: FloatArray) -> RatingSide:
        """Return the loss of items' vectors; a pair moves two of them."""
        by_item = sparse.csr_array(self.ratings.T)
        return RatingSide(by_item, users, self.better, self.worse, users[self.user], self.weight)


@dataclass(frozen=True, eq=False)
class RatingSide:
    r"""One side of ratings and pairs, with a curvature that bounds the second derivative.

    $H = 2 \sum v v^\top + \frac{\lambda_b}{4} \sum \Delta \Delta^\top$, where a quarter bounds the slope of
    the logistic function. A pair of items that move at once counts twice: $(a - b)^2 \le 2 a^2 + 2 b^2$.
    """

    rows: SparseArray  # [n, n_others] ratings
    others: FloatArray  # [n_others, d]
    first: IntArray  # [n_pairs] the entity whose product with the direction raises the margin
    second: IntArray | None  # [n_pairs] the one whose product lowers it, if there is one
    direction: FloatArray  # [n_pairs, d]
    weight: float  # λ_b
    steps: int = 3

    def descent(self, vectors: FloatArray) -> FloatArray:
        """Return the negative gradient of both losses."""
        errors = self.rows.data - _predict(self.rows, vectors, self.others)
        descent = np.asarray(2 * (_with_data(self.rows, errors) @ self.others))
        gap = vectors[self.first] if self.second is None else vectors[self.first] - vectors[self.second]
        slope = self.weight * expit(-np.einsum("pd,pd->p", gap, self.direction))
        np.add.at(descent, self.first, slope[:, None] * self.direction)
        if self.second is not None:
            np.add.at(descent, self.second, -slope[:, None] * self.direction)
        return descent

    def curvature(self) -> FloatArray:
        """Return the bound on the second derivative."""
        curvature = np.asarray(2 * (binarize(self.rows) @ outer(self.others)))
        moving = [self.first] if self.second is None else [self.first, self.second]
        pairs = len(moving) * self.weight / 4 * outer(self.direction)
        for entity in moving:
            np.add.at(curvature, entity, pairs)
        return curvature


def step_down(side: OneSide, vectors: FloatArray, regularisation: float) -> FloatArray:
    """Move every vector by one Newton step of its loss with an L2 penalty, [n, d]."""
    ridge = 2 * regularisation * np.eye(vectors.shape[1])
    goal = side.descent(vectors) - 2 * regularisation * vectors
    matrices = unpack(side.curvature(), vectors.shape[1]) + ridge
    return np.asarray(vectors + np.linalg.solve(matrices, goal[..., None])[..., 0])


def draw_pairs(ratings: SparseArray, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    """Draw, for every review, an item that its user did not review or rated lower; users, better, worse."""
    user = np.repeat(np.arange(ratings.shape[0]), np.diff(ratings.indptr))
    other = rng.integers(ratings.shape[1], size=len(user))
    keep = np.asarray(ratings[user, other]).ravel() < ratings.data
    return user[keep], ratings.indices[keep].astype(np.int64), other[keep]


def pack(matrices: FloatArray) -> FloatArray:
    """Return the upper triangles of symmetric matrices, row by row, [..., d (d + 1) / 2].

    >>> pack(np.array([[1.0, 2.0], [2.0, 3.0]])).tolist()
    [1.0, 2.0, 3.0]
    """
    rows, columns = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns])


def unpack(packed: FloatArray, d: int) -> FloatArray:
    """Return symmetric matrices from their upper triangles, [..., d, d]."""
    full = np.empty((*packed.shape[:-1], d, d))
    rows, columns = np.triu_indices(d)
    full[..., rows, columns] = packed
    full[..., columns, rows] = packed
    return full


def outer(vectors: FloatArray) -> FloatArray:
    """Return the products of every vector with itself, packed."""
    d = vectors.shape[1]
    return np.concatenate([vectors[:, row, None] * vectors[:, row:] for row in range(d)], axis=1)


def _predict(rows: SparseArray, vectors: FloatArray, others: FloatArray) -> FloatArray:
    """Return the products at the cells of a sparse matrix, in their order."""
    row = np.repeat(np.arange(len(vectors)), np.diff(rows.indptr))
    return np.asarray(np.einsum("ed,ed->e", vectors[row], others[rows.indices]))


def _with_data(rows: SparseArray, data: FloatArray) -> SparseArray:
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
