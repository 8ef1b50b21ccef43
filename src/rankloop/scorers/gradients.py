"""Gradients of scores, kept as the outer products they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankloop.types import FloatArray

Layer: TypeAlias = tuple[FloatArray, FloatArray]  # δ [..., n_docs, n_out] and a [..., n_docs, n_in]


@dataclass(frozen=True, slots=True, eq=False)
class Gradients:
    r"""The gradient of every document's score, layer by layer, without the [n_docs, n_parameters] matrix.

    In a network the gradient of document $i$'s score with respect to the weights of a layer is an outer
    product, $\delta_i a_i^\top$: what flows back into the layer, and what it was given. Sums and projections
    of gradients are small products of these. A gradient without structure $g_i$ is the layer with
    $\delta_i = 1$ and $a_i = g_i$.

    >>> gradients = Gradients([(np.array([[2.0], [1.0]]), np.array([[1.0, 0.0], [3.0, 4.0]]))])
    >>> gradients.dense().tolist()
    [[2.0, 0.0], [3.0, 4.0]]
    >>> gradients.total(np.array([1.0, 10.0])).tolist()
    [32.0, 40.0]
    """

    layers: Sequence[Layer]

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return sum(delta.shape[-1] * given.shape[-1] for delta, given in self.layers)

    def dense(self) -> FloatArray:
        """All gradients as one matrix, [n_docs, n_parameters]."""
        return _flat([delta[..., :, None] * given[..., None, :] for delta, given in self.layers])

    def total(self, coefficients: FloatArray) -> FloatArray:
        r"""Compute the weighted sum $\sum_i c_i \nabla_\theta f(x_i; \theta)$, [n_parameters]."""
        weights = coefficients[..., None]
        return _flat([(delta * weights).swapaxes(-1, -2) @ given for delta, given in self.layers])

    def times(self, factor: float) -> Gradients:
        """Give the same in another unit."""
        return Gradients([(delta * factor, given) for delta, given in self.layers])


def _flat(blocks: Sequence[FloatArray]) -> FloatArray:
    """Blocks of shape [..., n_out, n_in], one per layer, as one flat vector."""
    return np.concatenate([block.reshape(*block.shape[:-2], -1) for block in blocks], axis=-1)
