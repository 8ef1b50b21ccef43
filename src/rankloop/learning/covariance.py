r"""What the pairs learned from leave open: $\lVert g_{ij} \rVert_{A^{-1}}$ for every pair of documents.

$A = I + \sum g_{ij} g_{ij}^\top$ with the differences $g_{ij} = g_i - g_j$ of two documents' gradients, in
the unit in which the regularisation is 1, and the sum is over the pairs that were learned from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from rankloop.learning import logistic
from rankloop.learning.certainty import differences, squared_widths
from rankloop.scorers import Gradients
from rankloop.types import FloatArray, IntArray

CovarianceKind: TypeAlias = Literal["projected", "diagonal", "full"]


class Covariance(Protocol):
    """A way to keep $A$ as one array, which the policy owns."""

    def start(self, gradients: Gradients) -> FloatArray:
        r"""Start with $A = I$, for gradients such as these."""
        ...

    def squared_widths(self, known: FloatArray, gradients: Gradients) -> FloatArray:
        r"""$\lVert g_{ij} \rVert_{A^{-1}}^2$ for all pairs of documents, [n_docs, n_docs]."""
        ...

    def absorb(
        self, known: FloatArray, gradients: Gradients, better: IntArray, worse: IntArray
    ) -> FloatArray:
        r"""Add to $A + \sum g_{ij} g_{ij}^\top$ over pairs of these documents."""
        ...


@dataclass(frozen=True)
class Full(Covariance):
    r"""All of $A$, as its inverse: exact, and only for networks of a few thousand parameters.

    >>> documents = Gradients([(np.ones((2, 1)), np.array([[2.0, 0.0], [0.0, 0.0]]))])
    >>> known = Full().absorb(Full().start(documents), documents, np.array([0]), np.array([1]))
    >>> Full().squared_widths(known, documents)[0, 1].round(4).item()  # 4 / (1 + 4)
    0.8
    """

    def start(self, gradients: Gradients) -> FloatArray:
        """Start with the identity."""
        return np.eye(self._features(gradients).shape[1])

    def squared_widths(self, known: FloatArray, gradients: Gradients) -> FloatArray:
        """By the inverse."""
        return squared_widths(self._features(gradients), known)

    def absorb(
        self, known: FloatArray, gradients: Gradients, better: IntArray, worse: IntArray
    ) -> FloatArray:
        """By the matrix inversion lemma."""
        features = self._features(gradients).astype(np.float64, copy=False)
        pairs = features[better] - features[worse]
        return logistic.absorb(known, pairs, np.ones(len(pairs)))[0]

    def _features(self, gradients: Gradients) -> FloatArray:
        return gradients.dense()


@dataclass(frozen=True)
class Projected(Full):
    r"""All of $A$ after a random projection of the gradients to a few hundred dimensions.

    A layer's gradient is an outer product $\delta a^\top$, so its inner product with a random $u v^\top$ is
    $(u^\top \delta)(v^\top a)$: a dimension costs two short inner products, and the gradient itself is never
    formed. With random signs in $u$ and $v$, inner products of gradients are kept on average.

    With $r$ dimensions for $p$ parameters, many more, $A$ seems to know directions that it was never told
    of. Of a squared width $g^\top M g$ with $M = A^{-1}$, the part $g^\top M^2 g$ is about what is unknown,
    where $M$ is nearly 1. It is enlarge so that a random direction has the squared width that it has among
    all parameters, if $r - \text{tr} M$ of them are known: $g^\top M g + c\, g^\top M^2 g$ with

    $$c\, \text{tr} M^2 / r = 1 - (r - \text{tr} M) / p - \text{tr} M / r.$$

    >>> rng = np.random.default_rng(0)
    >>> documents = Gradients([(rng.random((2, 30)), rng.random((2, 50)))])
    >>> exact, projected = (
    ...     covariance.squared_widths(covariance.start(documents), documents)[0, 1]
    ...     for covariance in (Full(), Projected(4000))
    ... )
    >>> bool(abs(projected / exact - 1) < 0.1)
    True
    """

    dimensions: int

    def squared_widths(self, known: FloatArray, gradients: Gradients) -> FloatArray:
        """By the inverse, corrected for what the projection cannot tell apart."""
        features = self._features(gradients)
        centred = features - features.mean(axis=0)  # differences stay, and cancel less
        halfway = centred @ known.astype(features.dtype, copy=False)
        trace, squared = float(np.trace(known)), float(np.vdot(known, known))
        wanted = 1 - (self.dimensions - trace) / max(gradients.size, self.dimensions)
        more = (wanted * self.dimensions - trace) / squared
        return differences(halfway @ centred.T + more * (halfway @ halfway.T))

    def _features(self, gradients: Gradients) -> FloatArray:
        shapes = tuple((delta.shape[-1], given.shape[-1]) for delta, given in gradients.layers)
        signs = _signs(shapes, self.dimensions, gradients.layers[0][1].dtype)
        parts = zip(gradients.layers, signs, strict=True)
        total = np.sum([(delta @ u) * (given @ v) for (delta, given), (u, v) in parts], axis=0)
        return np.asarray(total) / math.sqrt(self.dimensions)


@dataclass(frozen=True)
class Diagonal(Covariance):
    r"""Only the diagonal of $A$, which is what the papers keep for networks of ordinary size.

    >>> documents = Gradients([(np.ones((2, 1)), np.array([[2.0, 0.0], [0.0, 0.0]]))])
    >>> known = Diagonal().absorb(Diagonal().start(documents), documents, np.array([0]), np.array([1]))
    >>> known.tolist(), Diagonal().squared_widths(known, documents)[0, 1].round(4).item()
    ([5.0, 1.0], 0.8)
    """

    def start(self, gradients: Gradients) -> FloatArray:
        """One for every parameter."""
        return np.ones(gradients.size)

    def squared_widths(self, known: FloatArray, gradients: Gradients) -> FloatArray:
        """With every parameter in a unit of its own."""
        units = (1 / np.sqrt(known)).astype(gradients.layers[0][1].dtype, copy=False)
        scaled = gradients.dense()
        scaled -= scaled.mean(axis=0)  # differences stay, and cancel less
        scaled *= units
        return differences(scaled @ scaled.T)

    def absorb(
        self, known: FloatArray, gradients: Gradients, better: IntArray, worse: IntArray
    ) -> FloatArray:
        """Add sums of squares."""
        dense = gradients.dense().astype(np.float64, copy=False)
        squares: FloatArray = np.square(dense[better] - dense[worse]).sum(axis=0)
        return known + squares


def make_covariance(kind: CovarianceKind, dimensions: int) -> Covariance:
    """Make the way to keep $A$ that a word names; the dimensions are those of a projection.

    >>> make_covariance("projected", 64), make_covariance("diagonal", 64)
    (Projected(dimensions=64), Diagonal())
    """
    return {"projected": Projected(dimensions), "diagonal": Diagonal(), "full": Full()}[kind]


@lru_cache(maxsize=16)  # drawing them takes longer than using them
def _signs(
    shapes: tuple[tuple[int, int], ...], dimensions: int, dtype: npt.DTypeLike
) -> list[tuple[FloatArray, FloatArray]]:
    """Random signs, [n_out, dimensions] and [n_in, dimensions] for each layer."""
    rng = np.random.default_rng(0)
    coins = ([rng.integers(2, size=(size, dimensions)) for size in shape] for shape in shapes)
    return [((2 * u - 1).astype(dtype), (2 * v - 1).astype(dtype)) for u, v in coins]
