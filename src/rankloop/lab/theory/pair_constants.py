"""Constants of pairs that the bounds on pairwise regret ask for, measured on judged queries."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import Annotated

import numpy as np

from rankloop.bounds import Bound, Count, NonNegative, Positive, check_settings
from rankloop.errors import DataError
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray


@dataclass(frozen=True, kw_only=True)
class PairConstants:
    r"""Constants of a world with $P(i \succ j) = \sigma(\theta^{*\top} x_{ij})$, $x_{ij} = x_i - x_j$.

    >>> world = PairConstants(
    ...     longest_weights=2.0,
    ...     longest_difference=1.0,
    ...     smallest_gap=0.1,
    ...     smallest_variance=0.1,
    ...     dimensions=5,
    ...     longest_list=20,
    ... )
    >>> round(world.flattest, 3)  # σ'(2)
    0.105
    """

    longest_weights: Positive  # Q, no less than ‖θ*‖
    longest_difference: Positive  # u in one document, P in the other: no less than any ‖x_ij‖
    smallest_gap: Annotated[float, Bound(at_least=0, at_most=inf)]  # Δ_min, the smallest |σ(θ*ᵀ x_ij) - 1/2|
    smallest_variance: NonNegative  # λ_min(Σ), Σ the second moments of x_ij
    dimensions: Count  # d
    longest_list: Annotated[int, Bound(at_least=2)]  # L_max or V_max, the most documents of a query

    def __post_init__(self) -> None:
        """Refuse worlds without length."""
        check_settings(self)

    @property
    def flattest(self) -> float:
        r"""$c_\mu = \sigma'(Q u)$, the smallest slope of the logistic function there is."""
        shrunk = exp(-self.longest_weights * self.longest_difference)
        return shrunk / (1 + shrunk) ** 2


def measure_pair_constants(queries: QuerySet, weights: FloatArray) -> PairConstants:
    r"""Measure the constants of a set of queries, if `weights` were the true ones, $\theta^*$.

    The true weights of real data are not known: those that the labels teach offline stand for them. Documents
    with the same features have no order that any ranker could learn, and no gap.

    >>> queries = QuerySet(np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([0, 2]), np.array([0, 1]), ("q",))
    >>> constants = measure_pair_constants(queries, np.array([0.0, 1.0]))
    >>> constants.longest_difference, constants.longest_weights, round(constants.smallest_gap, 3)
    (5.0, 1.0, 0.482)
    """
    if weights.shape != (queries.n_features,):
        raise DataError(f"expected a weight for each of {queries.n_features} features, found {weights.shape}")
    lengths, gaps, scatter, pairs = [0.0], [np.inf], np.zeros((len(weights), len(weights))), 0
    for judged in queries:
        rows = judged.query.features.astype(np.float64)
        centred = rows - rows.mean(axis=0)
        scatter += len(rows) * (centred.T @ centred)  # the sum over pairs of x_ij x_ijᵀ
        pairs += len(rows) * (len(rows) - 1) // 2
        lengths.append(_longest(centred))
        gaps.append(_smallest_gap(np.unique(rows, axis=0) @ weights))
    if not pairs:
        raise DataError("no query has two documents: there are no pairs to measure")
    return PairConstants(
        longest_weights=float(np.linalg.norm(weights)),
        longest_difference=max(lengths),
        smallest_gap=min(gaps),
        smallest_variance=_smallest_eigenvalue(scatter / pairs),
        dimensions=len(weights),
        longest_list=int(np.diff(queries.offsets).max()),
    )


def _longest(rows: FloatArray) -> float:
    """Find the longest difference of two rows."""
    squares = np.square(rows).sum(axis=1)
    return float(np.sqrt(max(0.0, (np.add.outer(squares, squares) - 2 * rows @ rows.T).max())))


def _smallest_gap(scores: FloatArray) -> float:
    """Find the preference nearest to a coin's, of neighbours in the order of the scores."""
    leads = np.diff(np.sort(scores))
    return float(np.tanh(leads.min() / 2) / 2) if leads.size else np.inf


def _smallest_eigenvalue(moments: FloatArray) -> float:
    """Find the smallest, 0 where rounding is all there is of it."""
    values = np.linalg.eigvalsh(moments)
    return float(values[0]) if values[0] > 1e-12 * values[-1] else 0.0
