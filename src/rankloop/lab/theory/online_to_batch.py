"""Online to batch: one ranker from an online run, the average of the iterates before each update."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import sqrt

import numpy as np

from rankloop.errors import RankingError
from rankloop.lab.theory.generalisation_bounds import Class
from rankloop.lab.theory.surrogate_losses import Surrogate
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray


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


def step_size(ball: Class, lipschitz: float) -> float:
    r"""The step of Theorem 35, $\eta = W_2 / (G R_X \sqrt{2n})$.

    >>> step_size(Class(norm=4.0, radius=1.0, queries=8, documents=80), 2.0)
    0.5
    """
    return ball.norm / (lipschitz * ball.radius * sqrt(2 * ball.queries))


def gradient_descent(loss: Surrogate, queries: QuerySet, *, step: float) -> Iterator[FloatArray]:
    r"""The iterates of $w \leftarrow w - \eta X^\top \nabla_s \phi(Xw)$ from 0, each before its update.

    >>> from rankloop.lab.theory.surrogate_losses import ListNetLoss
    >>> queries = QuerySet(np.eye(2), np.array([0, 2]), np.array([0, 0]), ("q",))
    >>> [iterate.tolist() for iterate in gradient_descent(ListNetLoss(), queries, step=1.0)]
    [[0.0, 0.0]]
    """
    weights = np.zeros(queries.n_features)
    for index in range(len(queries)):
        yield weights
        alone = only(queries, index)
        weights = weights - step * (loss.slopes(alone.features @ weights, alone) @ alone.features)


def only(queries: QuerySet, index: int) -> QuerySet:
    """One query, as a set."""
    judged = queries[index]
    offsets = np.array([0, judged.query.n_docs])
    return QuerySet(judged.query.features, offsets, judged.relevance, (judged.query.id,))
