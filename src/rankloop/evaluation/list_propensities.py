"""Probabilities of lists: how likely a policy puts each document next, given the documents above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.exploration import ordered_blocks
from rankloop.policies import PDGD, AdPolicy, ExploresUncertain, Policy, Random
from rankloop.types import BoolArray, FloatArray, IntArray, Query

NextProbabilities: TypeAlias = Callable[[IntArray], FloatArray]  # from the rows above to [n] of the next


def draw_probabilities(policy: Policy, query: Query) -> NextProbabilities:
    """Compute the probabilities with which a policy draws its next result, exactly; refuse those that cannot.

    >>> following = draw_probabilities(Random(), Query("q", np.eye(3)))
    >>> following(np.array([2])).tolist()
    [0.5, 0.5, 0.0]
    """
    if isinstance(policy, AdPolicy):  # one ad: only the first place is drawn
        propensities = policy.propensities(query)
        return lambda above: propensities if not above.size else np.zeros(query.n_docs)
    if isinstance(policy, Random):
        return lambda above: _shared(_left(query.n_docs, above))
    if isinstance(policy, PDGD):
        lift = np.exp(policy.score(query) - policy.score(query).max()).astype(np.float64)
        return lambda above: _shared(np.where(_left(query.n_docs, above), lift, 0.0))
    if isinstance(policy, ExploresUncertain) and policy.draws_from_certain_orders:
        return _uncertain(policy, query)
    raise SettingError(
        f"{type(policy).__name__} cannot say with which probability it shows a list: only pdgd, random, "
        "policies for one ad and policies that draw from certain orders, such as pairrank, can"
    )


def greedy_probabilities(policy: Policy, query: Query) -> NextProbabilities:
    """Compute the probabilities without exploration: the best result left, of equal ones the first, is next.

    >>> class Last(Random):
    ...     def score(self, query):
    ...         return np.arange(query.n_docs)
    >>> greedy_probabilities(Last(), Query("q", np.eye(3)))(np.array([2])).tolist()
    [0.0, 1.0, 0.0]
    """
    order = np.argsort(-policy.score(query), kind="stable")

    def following(above: IntArray) -> FloatArray:
        left = _left(query.n_docs, above)
        found = np.zeros(query.n_docs)
        if left.any():
            found[order[left[order].argmax()]] = 1.0
        return found

    return following


def _uncertain(policy: ExploresUncertain, query: Query) -> NextProbabilities:
    """Uniform over what no document left certainly beats or, block after block, over the block that is on."""
    certain = policy.certain_orders(query)
    if policy.exploration == "random":
        block = np.empty(query.n_docs, dtype=np.int64)
        for number, rows in enumerate(ordered_blocks(policy.list_scores(query), certain)):
            block[rows] = number

        def in_blocks(above: IntArray) -> FloatArray:
            left = _left(query.n_docs, above)
            return _shared(left & (block == block[left].min(initial=query.n_docs)))

        return in_blocks

    def topological(above: IntArray) -> FloatArray:
        left = _left(query.n_docs, above)
        return _shared(left & ~certain[left].any(axis=0))

    return topological


def _left(n: int, above: IntArray) -> BoolArray:
    left = np.ones(n, dtype=np.bool_)
    left[above] = False
    return left


def _shared(weights: FloatArray | BoolArray) -> FloatArray:
    total = weights.sum()
    return np.asarray(weights / total) if total else np.zeros(len(weights))  # nothing is left to be next
