"""Empirical risk minimisation within a ball, with or without regularisation."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.optimize import minimize

from rankloop.lab.theory.surrogate_losses import Surrogate
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

BISECTIONS = 15
CLOSE = 1e-2  # of the norm, for a minimiser on the edge of the ball


def total(loss: Surrogate, weights: FloatArray, queries: QuerySet) -> float:
    r"""The mean loss of a ranker over queries, $\hat L(w)$.

    >>> from rankloop.lab.theory.surrogate_losses import RankSVMLoss
    >>> two = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> total(RankSVMLoss(), np.array([0.0, 0.25]), two)
    0.75
    """
    return float(loss.losses(queries.features @ weights, queries).mean())


def minimise(loss: Surrogate, queries: QuerySet, *, norm: float, weight: float = 0.0) -> FloatArray:
    r"""Minimiser of $\frac{\lambda}{2} \lVert w \rVert^2 + \hat L(w)$ within $\lVert w \rVert \le W_2$.

    `weight` is $\lambda$. For a convex loss, what is smallest in the ball is smallest without one under some
    larger $\lambda$; that one is found by bisection. For any other it is a ranker that cannot be improved by
    small steps, from 0.

    >>> from rankloop.lab.theory.surrogate_losses import ListNetLoss
    >>> two = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> minimise(ListNetLoss(), two, norm=5.0).round(4).tolist()  # apart as the grades are
    [-0.5, 0.5]
    >>> round(float(np.linalg.norm(minimise(ListNetLoss(), two, norm=0.5))), 2)
    0.5
    """
    found = _free(loss, queries, weight, np.zeros(queries.n_features))
    if _length(found) <= norm:
        return found
    low, high = max(weight, 1e-8), max(weight, 1e-8) * 10
    while _length(found := _free(loss, queries, high, found)) > norm:
        low, high = high, high * 10
    for _ in range(BISECTIONS):
        if _length(found) >= (1 - CLOSE) * norm:
            break
        middle = sqrt(low * high)
        tried = _free(loss, queries, middle, found)
        if _length(tried) > norm:
            low = middle
        else:
            high, found = middle, tried
    return found


def _free(loss: Surrogate, queries: QuerySet, weight: float, start: FloatArray) -> FloatArray:
    """The minimiser without a ball, from a start."""
    features, count = queries.features, len(queries)

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        scores = features @ weights
        value = loss.losses(scores, queries).mean() + weight / 2 * (weights @ weights)
        return float(value), loss.slopes(scores, queries) @ features / count + weight * weights

    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x)


def _length(weights: FloatArray) -> float:
    return float(np.linalg.norm(weights))
