"""Settled pairs of a past list, those that were still open, and how sure the model was of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.exploration import ordered_blocks
from rankloop.policies import Policy
from rankloop.policy import KnowsCertainOrders, KnowsOrders
from rankloop.service.core.lists.order_certainty import SETTLED, Grade, grade_of
from rankloop.service.core.model import Model, asker_of
from rankloop.service.store import Impression
from rankloop.types import BoolArray, FloatArray, IntArray, Query


@dataclass(frozen=True, slots=True)
class SettledPairs:
    """The results of a list, by what the model of that time was sure of.

    An order is settled when the model is at least 95 % sure of it, this way or the other. An order is open
    when the policy may try it either way, by its own criterion: one that is not may be far from settled.
    """

    shown: tuple[str, ...]  # best first
    scores: tuple[float, ...]  # of each
    settled: tuple[tuple[bool, ...], ...] | None  # [k][k], symmetric; None: the policy cannot tell
    open: tuple[tuple[bool, ...], ...] | None  # [k][k], symmetric; None: the policy tries out otherwise
    probabilities: tuple[tuple[float, ...], ...] | None  # [k][k], that the first belongs above the second
    grades: tuple[tuple[Grade, ...], ...] | None  # [k][k], of the likelier order
    blocks: tuple[tuple[str, ...], ...]  # best first; within one, something is open
    turned: tuple[tuple[bool, ...], ...] | None  # [k][k], upper above lower for fair exposure; None: not held

    @property
    def pairs(self) -> int:
        """How many pairs of results there are."""
        return len(self.shown) * (len(self.shown) - 1) // 2

    @property
    def turned_pairs(self) -> int:
        """How many of them stand the other way round than they were drawn, for fair exposure."""
        return sum(map(sum, self.turned or ()))

    @property
    def open_pairs(self) -> int | None:
        """How many of them may be tried either way."""
        return None if self.open is None else sum(map(sum, self.open)) // 2

    @property
    def settled_pairs(self) -> int | None:
        """How many of them are settled."""
        return None if self.settled is None else sum(map(sum, self.settled)) // 2


def settled_pairs(shown: Impression, model: Model, *, swapped: BoolArray | None = None) -> SettledPairs:
    """The picture of a list, with the model that made it; `swapped` is by position, if it was merged."""
    policy, query = model.asked(
        shown.query_id, shown.features, shown.object_ids, shown.groups, asker_of(shown.user, shown.context)
    )
    mine = query.take(shown.order)
    names, scores = tuple(shown.shown), policy.score(mine)
    turned = None if swapped is None else _rows(np.triu(swapped))
    told = _probabilities(policy, query, shown.order)
    settled = None if told is None else _rows(np.maximum(told, 1 - told) >= SETTLED)
    probabilities = None if told is None else tuple(map(tuple, told.round(4).tolist()))
    grades = None if told is None else tuple(tuple(map(grade_of, row)) for row in told.tolist())
    numbers = names, tuple(scores.tolist()), settled
    if not isinstance(policy, KnowsCertainOrders):
        return SettledPairs(*numbers, None, probabilities, grades, (), turned)
    certain = policy.certain_orders(query)[np.ix_(shown.order, shown.order)]
    blocks = tuple(tuple(names[row] for row in block) for block in ordered_blocks(scores, certain))
    undecided = ~(certain | certain.T | np.eye(len(names), dtype=bool))
    return SettledPairs(*numbers, _rows(undecided), probabilities, grades, blocks, turned)


def _probabilities(policy: Policy, query: Query, rows: IntArray) -> FloatArray | None:
    return policy.order_probabilities(query, rows) if isinstance(policy, KnowsOrders) else None


def _rows(pairs: BoolArray) -> tuple[tuple[bool, ...], ...]:
    return tuple(map(tuple, pairs.tolist()))
