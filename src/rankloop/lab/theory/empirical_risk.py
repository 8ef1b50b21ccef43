"""Empirical risk: minimisers within a ball, and gradient descent whose iterates become one ranker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import sqrt

import numpy as np
from scipy.optimize import minimize

from rankloop.errors import RankingError
from rankloop.lab.data.query_set_slices import take_queries
from rankloop.lab.theory.generalisation_bounds import LinearClass
from rankloop.lab.theory.surrogate_losses import Surrogate
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

BISECTIONS = 15
CLOSE = 1e-2  # of the norm, for a minimiser on the edge of the ball


def mean_loss(loss: Surrogate, weights: FloatArray, queries: QuerySet) -> float:
    r"""Average the loss of a ranker over queries, $\hat L(w)$.

    >>> from rankloop.lab.theory.surrogate_losses import RankSVMLoss
    >>> two = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> mean_loss(RankSVMLoss(), np.array([0.0, 0.25]), two)
    0.75
    """
    return float(loss.losses(queries.features @ weights, queries).mean())


def minimise_in_ball(loss: Surrogate, queries: QuerySet, *, norm: float, weight: float = 0.0) -> FloatArray:
    r"""Minimiser of $\frac{\lambda}{2} \lVert w \rVert^2 + \hat L(w)$ within $\lVert w \rVert \le W_2$.

    `weight` is $\lambda$. For a convex loss, what is smallest in the ball is smallest without one under some
    larger $\lambda$; that one is found by bisection. For any other it is a ranker that cannot be improved by
    small steps, from 0.

    >>> from rankloop.lab.theory.surrogate_losses import ListNetLoss
    >>> two = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> minimise_in_ball(ListNetLoss(), two, norm=5.0).round(4).tolist()  # apart as the grades are
    [-0.5, 0.5]
    >>> round(float(np.linalg.norm(minimise_in_ball(ListNetLoss(), two, norm=0.5))), 2)
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


def average_iterate(iterates: Iterable[FloatArray]) -> FloatArray:
    r"""$\bar w = \frac{1}{n} \sum_{i=1}^n w_i$, where $w_i$ has seen the queries before the $i$-th.

    So every $w_i$ is tried on a query that it does not know, and what was lost on the way bounds, for a
    convex loss, what the average will lose:
    $\mathbb{E} L(\bar w) \le \frac{1}{n} \mathbb{E} \sum_i \phi_i(w_i)$.

    >>> average_iterate([np.array([0.0, 0.0]), np.array([2.0, 1.0])]).tolist()
    [1.0, 0.5]
    """
    total, count = np.zeros(0), 0
    for iterate in iterates:
        total, count = (total if count else np.zeros(iterate.shape)) + iterate, count + 1
    if not count:
        raise RankingError("the average of no iterates: a run has at least one round")
    return np.asarray(total / count)


def find_step_size(ball: LinearClass, lipschitz: float) -> float:
    r"""Compute the step of Theorem 35, $\eta = W_2 / (G R_X \sqrt{2n})$.

    >>> find_step_size(LinearClass(norm=4.0, radius=1.0, queries=8, documents=80), 2.0)
    0.5
    """
    return ball.norm / (lipschitz * ball.radius * sqrt(2 * ball.queries))


def gradient_descent(loss: Surrogate, queries: QuerySet, *, step: float) -> Iterator[FloatArray]:
    r"""Yield the iterates of $w \leftarrow w - \eta X^\top \nabla_s \phi(Xw)$ from 0, each before its update.

    >>> from rankloop.lab.theory.surrogate_losses import ListNetLoss
    >>> queries = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 0]), ("q",))
    >>> [iterate.tolist() for iterate in gradient_descent(ListNetLoss(), queries, step=1.0)]
    [[0.0, 0.0]]
    """
    weights = np.zeros(queries.n_features)
    for index in range(len(queries)):
        yield weights
        alone = take_queries(queries, index, index + 1)
        weights = weights - step * (loss.slopes(alone.features @ weights, alone) @ alone.features)


def _free(loss: Surrogate, queries: QuerySet, weight: float, start: FloatArray) -> FloatArray:
    """Find the minimiser without a ball, from a start."""
    features, count = queries.features, len(queries)

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        scores = features @ weights
        value = loss.losses(scores, queries).mean() + weight / 2 * (weights @ weights)
        return float(value), loss.slopes(scores, queries) @ features / count + weight * weights

    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x)


def _length(weights: FloatArray) -> float:
    return float(np.linalg.norm(weights))
