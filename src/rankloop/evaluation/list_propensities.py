"""Chances of lists: with which probability a policy puts each document next, given what stands above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.exploration import ordered_blocks
from rankloop.policies import PDGD, ExploresUncertain, Policy, Random
from rankloop.types import BoolArray, FloatArray, IntArray, Query

Chances: TypeAlias = Callable[[IntArray], FloatArray]  # from the rows above to [n] probabilities of the next


def draws(policy: Policy, query: Query) -> Chances:
    """The chances of a policy that explores; refused, if nobody can compute them.

    They are those it draws with, exactly: nothing is estimated.

    >>> chances = draws(Random(), Query("q", np.eye(3)))
    >>> chances(np.array([2])).tolist()
    [0.5, 0.5, 0.0]
    """
    if isinstance(policy, Random):
        return lambda above: _shared(_left(query.n_docs, above))
    if isinstance(policy, PDGD):
        lift = np.exp(policy.score(query) - policy.score(query).max()).astype(np.float64)
        return lambda above: _shared(np.where(_left(query.n_docs, above), lift, 0.0))
    if isinstance(policy, ExploresUncertain) and _draws_itself(type(policy)):
        return _uncertain(policy, query)
    raise SettingError(
        f"{type(policy).__name__} cannot say with which probability it shows a list: only pdgd, random "
        "and policies that draw from certain orders, such as pairrank, can"
    )


def by_score(policy: Policy, query: Query) -> Chances:
    """The chances without exploration: the best of those left, and of equal ones the first, for certain.

    >>> class Last(Random):
    ...     def score(self, query):
    ...         return np.arange(query.n_docs)
    >>> by_score(Last(), Query("q", np.eye(3)))(np.array([2])).tolist()
    [0.0, 1.0, 0.0]
    """
    order = np.argsort(-policy.score(query), kind="stable")

    def chances(above: IntArray) -> FloatArray:
        left = _left(query.n_docs, above)
        found = np.zeros(query.n_docs)
        found[order[left[order].argmax()]] = 1.0
        return found

    return chances


def _draws_itself(kind: type[ExploresUncertain]) -> bool:
    """Whether it draws as its kind does, and not in a way of its own."""
    return kind.rank is ExploresUncertain.rank and kind.draw is ExploresUncertain.draw


def _uncertain(policy: ExploresUncertain, query: Query) -> Chances:
    """Uniform over what no document left certainly beats or, block after block, over the block that is on."""
    certain = policy.certain_orders(query)
    if policy.exploration == "random":
        block = np.empty(query.n_docs, dtype=np.int64)
        for number, rows in enumerate(ordered_blocks(policy.list_scores(query), certain)):
            block[rows] = number

        def in_blocks(above: IntArray) -> FloatArray:
            left = _left(query.n_docs, above)
            return _shared(left & (block == block[left].min()))

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
    return np.asarray(weights / weights.sum())
