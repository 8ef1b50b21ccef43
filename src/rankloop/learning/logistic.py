r"""Logistic regression on preferences: solved from scratch, or one step at a time.

The rows of `pairs` are feature differences of a preferred and another document, so every label is 1 and the
loss is $L(\theta) = \sum_p \log(1 + e^{-x_p^\top \theta}) + \frac{\lambda}{2} \lVert\theta\rVert^2$.
The regularisation $\lambda$ is one number for all parameters, or one for each.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from scipy.special import expit

from rankloop.types import FloatArray

NEWTON_STEPS = 500  # five are typical; a weak regularisation and a strong tilt need up to two hundred
CLOSE = 1e-9  # how close to its equation a residual must be
FLAT = 1e-9  # a settled pair bends nothing, but must not divide by zero
GUIDED_STEPS = 10  # a preconditioner that needs more is too far off to lead anywhere


def loss(pairs: FloatArray, parameters: FloatArray, regularisation: float | FloatArray) -> float:
    """Compute the value of the regularised loss.

    >>> loss(np.zeros((1, 2)), np.array([3.0, 4.0]), 2.0)  # 25 + log 2
    25.6931...
    """
    if isinstance(regularisation, float):
        penalty = regularisation / 2 * float(parameters @ parameters)
    else:
        penalty = float(regularisation @ np.square(parameters)) / 2
    return float(np.logaddexp(0.0, -(pairs @ parameters)).sum()) + penalty


def slopes(margins: FloatArray) -> FloatArray:
    r"""$\sigma(m)\,\sigma(-m)$: how much a pair of this margin still bends the loss; 1/4 at most.

    >>> slopes(np.array([0.0])).tolist()
    [0.25]
    """
    weights: FloatArray = expit(margins) * expit(-margins)
    return np.maximum(weights, FLAT)


def curvature(pairs: FloatArray, parameters: FloatArray, regularisation: float | FloatArray) -> FloatArray:
    r"""Compute the loss's second derivative, $\lambda I + \sum_p \sigma\sigma\, x_p x_p^\top$, [d, d]."""
    weighted = pairs * slopes(pairs @ parameters)[:, None]
    return pairs.T @ weighted + regularisation * np.eye(pairs.shape[1])


def fit(
    pairs: FloatArray,
    regularisation: float | FloatArray,
    start: FloatArray,
    *,
    preconditioner: FloatArray | None = None,
    tilt: FloatArray | None = None,
) -> FloatArray:
    r"""Find the parameters of least loss, by Newton's method with step halving.

    With a `preconditioner` (an approximate inverse of the curvature) in place of the exact inverse, a step
    costs a product with the pairs instead of a decomposition, and a few more steps are needed. A `tilt` $g$
    adds $-g^\top \theta$ to the loss.

    >>> pairs = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> fit(pairs, 1.0, np.zeros(2)).round(4).tolist()  # the first feature speaks for and against
    [0.0, 0.4011]
    """
    force = np.zeros_like(start) if tilt is None else tilt
    here, value = start, loss(pairs, start, regularisation) - float(force @ start)
    for taken in range(NEWTON_STEPS):
        descent = pairs.T @ expit(-(pairs @ here)) - regularisation * here + force
        if np.abs(descent).max() <= 1e-7 * (1.0 + float(np.max(regularisation))):
            break
        if preconditioner is None or taken >= GUIDED_STEPS:
            step = np.linalg.solve(curvature(pairs, here, regularisation), descent)
        else:
            step = preconditioner @ descent
        while (lower := loss(pairs, here + step, regularisation) - float(force @ (here + step))) > value:
            if np.abs(step).max() <= 1e-12:  # as good as it gets in double precision
                return here
            step = step / 2
        here, value = here + step, lower
    return here


def absorb(inverse: FloatArray, pairs: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
    r"""Compute $(A + \sum_p w_p x_p x_p^\top)^{-1}$ from $A^{-1}$, and by how much $\log\det$ grew.

    The matrix inversion lemma: the cost depends on how many pairs are new, not on how many there were.

    >>> inverse, growth = absorb(np.eye(2), np.array([[1.0, 0.0]]), np.array([3.0]))
    >>> inverse.round(9).tolist(), round(growth, 4)  # log 4
    ([[0.25, 0.0], [0.0, 1.0]], 1.3863)
    """
    projected = pairs @ inverse
    factor = _factor(projected @ pairs.T, weights)
    growth = 2 * np.log(factor.diagonal()).sum() + np.log(weights).sum()
    return _shrunk(inverse, projected, factor), float(growth)


def _factor(gram: FloatArray, weights: FloatArray) -> FloatArray:
    r"""Find the Cholesky factor of $X A^{-1} X^\top + W^{-1}$, from the inner products of the new pairs."""
    if len(gram) == 1 and (square := gram.item() + 1.0 / weights.item()) > 0:
        return np.array([[sqrt(square)]])
    return np.linalg.cholesky(gram + np.diag(1.0 / weights))


def _shrunk(inverse: FloatArray, projected: FloatArray, factor: FloatArray) -> FloatArray:
    """Shrink the inverse by new pairs; what they take is a product with itself, so it stays symmetric."""
    if len(factor) == 1:
        row = projected[0] / factor.item()
        taken: FloatArray = np.einsum(
            "i,j->ij", row, row
        )  # the bits of a matrix product, in half of its time
    else:
        rows = np.linalg.solve(factor, projected)
        taken = rows.T @ rows
    return np.subtract(inverse, taken, out=taken)


def online_newton(
    parameters: FloatArray, inverse: FloatArray, pairs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""One step that takes the past as a quadratic and the new pairs as they are.

    $$\theta' = \arg\min_\vartheta \tfrac{1}{2} \lVert \vartheta - \theta \rVert_H^2
    + \sum_p \log(1 + e^{-x_p^\top \vartheta})$$

    has the form $\theta + H^{-1} \sum_p a_p x_p$ with $a_p = \sigma(-x_p^\top \theta')$, an equation in as
    many unknowns as there are new pairs. Then the new pairs join the curvature. Returns $\theta'$ and the
    new $H^{-1}$.

    >>> weights, inverse = online_newton(np.zeros(1), np.eye(1), np.array([[2.0]]))
    >>> bool(np.isclose(weights[0], 2 * expit(-2 * weights[0])))
    True
    """
    projected = pairs @ inverse
    gram, margins = projected @ pairs.T, pairs @ parameters
    residual = _residuals(gram, margins)
    factor = _factor(gram, slopes(margins + gram @ residual))
    return parameters + residual @ projected, _shrunk(inverse, projected, factor)


def _residuals(gram: FloatArray, margins: FloatArray) -> FloatArray:
    r"""Find the $a$ of `online_newton`: $a = \sigma(-(m + G a))$."""
    if len(margins) == 1:  # as a rule: one click
        return np.array([_residual_of_one(gram.item(), margins.item())])

    def objective(residual: FloatArray, gain: FloatArray, now: FloatArray) -> float:
        """Compute the value that these residuals, what they add to the margins, and the sums lead to."""
        return float(residual @ gain) / 2 + float(np.add.reduce(np.logaddexp(0.0, -now)))

    identity = np.eye(len(margins))
    residual: FloatArray = expit(-margins)
    gain = gram @ residual
    now = margins + gain
    value = objective(residual, gain, now)
    for _ in range(NEWTON_STEPS):
        chance = expit(-now)
        error = residual - chance
        if np.maximum.reduce(np.abs(error)) < CLOSE:
            break
        bend = np.maximum(expit(now) * chance, FLAT)  # slopes(now)
        step = np.linalg.solve(identity + bend[:, None] * gram, error)
        while True:
            ahead = residual - step
            gain = gram @ ahead
            now = margins + gain
            lower = objective(ahead, gain, now)
            if not lower > value + 1e-12 * (1.0 + value):
                break
            step = step / 2  # too far, as in fit()
        residual, value = ahead, lower
    return residual


def _residual_of_one(gram: float, margin: float) -> float:
    r"""Find the $a$ of a single pair: where $a - \sigma(-(m + g a))$, which only rises, crosses zero.

    It lies between 0 and 1; a step of Newton's method that would leave what is left of this is a bisection.

    >>> residual = _residual_of_one(4.0, 0.0)
    >>> bool(np.isclose(residual, expit(-4.0 * residual)))
    True
    """
    low, high = 0.0, 1.0
    residual = 0.5
    for _ in range(NEWTON_STEPS):
        chance = _sigmoid(-(margin + gram * residual))
        error = residual - chance
        if abs(error) < CLOSE:
            break
        low, high = (low, residual) if error > 0 else (residual, high)
        residual -= error / (1.0 + gram * chance * (1.0 - chance))
        if not low < residual < high:
            residual = (low + high) / 2
    return residual


def _sigmoid(x: float) -> float:
    """`expit` of one number, in a tenth of the time."""
    return 1.0 / (1.0 + exp(-x)) if x >= 0 else exp(x) / (1.0 + exp(x))
