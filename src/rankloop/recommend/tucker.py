"""Gradients of a Tucker decomposition on drawn cells, and of pairs of its overall ratings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rankloop.types import FloatArray


class Factors(NamedTuple):
    """The rows of three factor matrices that belong to drawn cells, and the core tensor."""

    first: FloatArray  # [n, a]
    second: FloatArray  # [n, b]
    third: FloatArray  # [n, c]
    core: FloatArray  # [a, b, c]


def predict(parts: Factors) -> FloatArray:
    """The predicted values of cells, [n]."""
    return np.asarray(np.einsum("nbc,nb,nc->n", _contract(parts), parts.second, parts.third))


def cell_gradients(parts: Factors, value: FloatArray, weight: FloatArray | float) -> Factors:
    r"""Gradients of $\sum_n w_n (\hat y_n - y_n)^2$ with respect to every part.

    $T = A\, G_{(1)}$, $\hat y = \langle B T, C \rangle$, $e = 2 w (\hat y - y)$; $dC = e\, B T$,
    $dB = e\, T C$, $Z = e B \otimes C$, $dA = Z\, G_{(1)}^\top$, $dG = A^\top Z$.
    """
    contracted = _contract(parts)  # [n, b, c]
    along = np.matmul(parts.second[:, None, :], contracted)[:, 0, :]  # [n, c]
    error = 2 * weight * (np.einsum("nc,nc->n", along, parts.third) - value)
    flat = parts.core.reshape(parts.core.shape[0], -1)
    pairs = (error[:, None] * parts.second)[:, :, None] * parts.third[:, None, :]
    outer = pairs.reshape(len(value), flat.shape[1])  # also of no cell at all
    return Factors(
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


def pair_gradients(
    user: FloatArray, gap: FloatArray, sign: FloatArray, core: FloatArray, overall: FloatArray, weight: float
) -> PairGradients:
    r"""Gradients of the logistic loss of pairs, with the core contracted once for all of them.

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


def _contract(parts: Factors) -> FloatArray:
    core = parts.core
    return (parts.first @ core.reshape(core.shape[0], -1)).reshape(-1, *core.shape[1:])
