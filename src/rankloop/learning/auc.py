r"""Logistic surrogate of the AUC loss, over all pairs of a positive and a negative row.

$$L(w) = \frac{1}{|S^+| |S^-|} \sum_{x^+ \in S^+} \sum_{x^- \in S^-}
\log\left(1 + e^{-w \cdot (x^+ - x^-)}\right) + \frac{\lambda}{2} \lVert w \rVert^2$$
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from rankloop.types import FloatArray

TILE = (16, 4096)  # positives and negatives at a time: half a megabyte, however many pairs there are
NARROW = 40.0  # scores within so much of each other: products of 16 exponentials stay finite
STEPS = 200
CLOSE = 1e-5  # the largest entry of a gradient that counts as 0


def auc_loss(positive: FloatArray, negative: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    r"""Compute the mean of $\log(1 + e^{s^- - s^+})$ over all pairs, and its slopes by scores, [P] and [N].

    Computed in tiles, so that memory is linear in the rows. With $p = e^{s^+}$ and $n = e^{s^-}$ a pair costs
    one division, because $\sigma(s^- - s^+) = n / (p + n)$, and sixteen pairs share a logarithm.

    >>> loss, up, down = auc_loss(np.array([0.0]), np.array([0.0, 0.0]))
    >>> round(loss, 4), up.tolist(), down.tolist()  # log 2
    (0.6931, [-0.5], [0.25, 0.25])
    """
    low = min(positive.min(), negative.min())
    high = max(positive.max(), negative.max())
    tile = _narrow_tile if high - low <= NARROW else _wide_tile
    centre, total = (low + high) / 2, 0.0
    up, down = np.zeros(positive.size), np.zeros(negative.size)
    for i in range(0, positive.size, TILE[0]):
        for j in range(0, negative.size, TILE[1]):
            rows, columns = slice(i, i + TILE[0]), slice(j, j + TILE[1])
            value, lost, gained = tile(positive[rows] - centre, negative[columns] - centre)
            total, up[rows], down[columns] = total + value, up[rows] - lost, down[columns] + gained
    pairs = positive.size * negative.size
    return total / pairs, up / pairs, down / pairs


def fit_auc(
    positive: FloatArray, negative: FloatArray, regularisation: float, start: FloatArray | None = None
) -> FloatArray:
    """Find the weights of least loss for rows [P, d] and [N, d], by L-BFGS.

    >>> fit_auc(np.array([[1.0, 0.5]]), np.array([[0.0, 0.5]]), 1.0).round(3).tolist()
    [0.401, 0.0]
    """

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        loss, up, down = auc_loss(positive @ weights, negative @ weights)
        slope = up @ positive + down @ negative + regularisation * weights
        return loss + regularisation / 2 * float(weights @ weights), slope

    if not positive.shape[1]:
        return np.zeros(0)
    first = np.zeros(positive.shape[1]) if start is None else start
    options = {"maxiter": STEPS, "gtol": CLOSE, "ftol": 1e-10}
    found: FloatArray = minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x
    return found


def _narrow_tile(positive: FloatArray, negative: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Sum over a tile of the loss [], and of its slopes by positives and negatives."""
    p, n = np.exp(positive), np.exp(negative)
    sums = np.add.outer(p, n)
    loss = float(np.log(np.multiply.reduce(sums, axis=0)).sum()) - n.size * float(positive.sum())
    inverse = np.reciprocal(sums, out=sums)
    return loss, inverse @ n, n * inverse.sum(axis=0)


def _wide_tile(positive: FloatArray, negative: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Do the same for scores so far apart that their exponentials overflow."""
    behind = np.subtract.outer(-positive, -negative)
    chances = expit(behind)
    return float(np.logaddexp(0.0, behind).sum()), chances.sum(axis=1), chances.sum(axis=0)
