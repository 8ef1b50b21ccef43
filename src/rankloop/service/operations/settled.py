"""Settled pairs of a past list, and those that were still open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.explorers import ordered_blocks
from rankloop.service.learning.model import Model, asker_of
from rankloop.service.serving.serve import Listing, TellsCertainty
from rankloop.store import Impression
from rankloop.types import BoolArray


@dataclass(frozen=True, slots=True)
class SettledPairs:
    """The results of a list, by what the model of that time was sure of."""

    shown: tuple[str, ...]  # best first
    scores: tuple[float, ...]  # of each
    settled: tuple[tuple[bool, ...], ...] | None  # [k][k], symmetric; None: the policy cannot tell
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
        """How many of them are not settled."""
        return None if self.settled is None else self.pairs - sum(map(sum, self.settled)) // 2


def settled_pairs(shown: Impression, model: Model, *, again: Listing | None = None) -> SettledPairs:
    """The picture of a list, with the model that made it; `again` is the list, if it was merged."""
    policy, query = model.asked(
        shown.query_id, shown.features, shown.object_ids, shown.groups, asker_of(shown.user, shown.context)
    )
    mine = query.take(shown.order)
    names, scores = tuple(shown.shown), policy.score(mine)
    turned = None if again is None else _rows(np.triu(again.turned(shown.order)))
    if not isinstance(policy, TellsCertainty):
        return SettledPairs(names, tuple(scores.tolist()), None, (), turned)
    certain = policy.certain_orders(query)[np.ix_(shown.order, shown.order)]
    blocks = tuple(tuple(names[row] for row in block) for block in ordered_blocks(scores, certain))
    return SettledPairs(names, tuple(scores.tolist()), _rows(certain | certain.T), blocks, turned)


def _rows(pairs: BoolArray) -> tuple[tuple[bool, ...], ...]:
    return tuple(map(tuple, pairs.tolist()))
