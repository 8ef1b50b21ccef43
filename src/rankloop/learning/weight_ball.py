r"""Projection onto a ball of weights: the ranker of bounded length that is nearest to the one of least loss.

The projection of PairRank's analysis (Equation 4 of its paper): with
$g(\theta) = \sum_p \sigma(x_p^\top \theta)\, x_p + \lambda \theta$ and $M = \lambda I + \sum_p x_p x_p^\top$,

$$\hat\theta = \arg\min_{\lVert\theta\rVert \le Q} \lVert g(\theta) - g(\tilde\theta) \rVert_{M^{-1}}.$$
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from rankloop.learning.logistic import curvature
from rankloop.types import FloatArray

STEPS = 100  # five are typical
CLOSE = 1e-10  # of the radius: a step that changes nothing


def project_onto_ball(
    pairs: FloatArray, solved: FloatArray, regularisation: float, radius: float
) -> FloatArray:
    """Find the weights no longer than the radius that are nearest to those of least loss, as the module says.

    By Gauss and Newton's method: every step takes $g$ as linear and solves that problem on the ball.

    >>> pairs = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> project_onto_ball(pairs, np.array([0.7, 0.4]), 1.0, 2.0).tolist()  # short enough
    [0.7, 0.4]
    >>> float(np.linalg.norm(project_onto_ball(pairs, np.array([0.7, 0.4]), 1.0, 0.5)).round(9))
    0.5
    """
    length = float(np.linalg.norm(solved))
    if length <= radius:
        return solved
    design = regularisation * np.eye(len(solved)) + pairs.T @ pairs
    wanted = _slope(pairs, solved, regularisation)
    here, value = solved * (radius / length), np.inf
    for _ in range(STEPS):
        away = _slope(pairs, here, regularisation) - wanted
        value = float(away @ np.linalg.solve(design, away))
        bend = curvature(pairs, here, regularisation)
        weighed = np.linalg.solve(design, np.column_stack((bend, away)))
        quadratic, linear = bend @ weighed[:, :-1], bend @ weighed[:, -1]
        step = _least_in_ball(quadratic, linear - quadratic @ here, radius) - here
        while _distance(pairs, here + step, regularisation, wanted, design) > value:
            if np.abs(step).max() <= CLOSE * radius:
                return here
            step = step / 2
        here = here + step
        if np.abs(step).max() <= CLOSE * radius:
            break
    return here


def _slope(pairs: FloatArray, weights: FloatArray, regularisation: float) -> FloatArray:
    """Compute the g of the module's formula."""
    slope: FloatArray = expit(pairs @ weights) @ pairs + regularisation * weights
    return slope


def _distance(
    pairs: FloatArray, weights: FloatArray, regularisation: float, wanted: FloatArray, design: FloatArray
) -> float:
    away = _slope(pairs, weights, regularisation) - wanted
    return float(away @ np.linalg.solve(design, away))


def _least_in_ball(quadratic: FloatArray, linear: FloatArray, radius: float) -> FloatArray:
    r"""Where $\frac{1}{2} v^\top B v + h^\top v$ is least among the vectors no longer than the radius.

    >>> _least_in_ball(np.eye(2), np.array([-3.0, -4.0]), 1.0).round(9).tolist()
    [0.6, 0.8]
    """
    heights, axes = np.linalg.eigh((quadratic + quadratic.T) / 2)
    along = -(linear @ axes)

    def excess(multiplier: float) -> float:
        return float(np.linalg.norm(along / (heights + multiplier))) - radius

    multiplier = 0.0 if excess(0.0) <= 0 else brentq(excess, 0.0, float(np.linalg.norm(linear)) / radius)
    return np.asarray(axes @ (along / (heights + multiplier)))
