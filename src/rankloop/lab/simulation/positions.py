"""Where the open questions are: block sizes from the top of the list to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.exploration import ordered_blocks
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.order_probes import SIZE_MEANING, size_at_each_rank
from rankloop.lab.simulation.probe_base import (
    Checkpoint,
    CheckpointProbe,
    KnowsOrders,
    certain_orders,
    settled_scores,
)
from rankloop.policies import Policy
from rankloop.types import IntArray, QuerySet

# Close together at the top, where a place matters most; the same on all data.
POSITIONS = (*range(1, 11), *range(12, 51, 2), *range(55, 151, 5), *range(175, 1001, 25))


@dataclass(frozen=True, kw_only=True)
class BlockSizeByPosition(CheckpointProbe):
    """The size of the block at every position, at a few chosen rounds and at the end.

    A mean over the training queries with the most documents: only long lists have a middle. A chosen round
    that is no checkpoint is passed over.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 7a.
    """

    name: ClassVar[str] = "block-size-by-position"

    rounds: tuple[int, ...] = (10, 100, 1000)
    queries: int = 20

    def __post_init__(self) -> None:
        """Refuse a mean over nothing."""
        if self.queries < 1 or (self.rounds and min(self.rounds) < 1):
            raise SettingError(f"queries and rounds must be at least 1, found {self}")

    @property
    def measures(self) -> tuple[Measure, ...]:
        """A size for each position that a list can have."""
        return tuple(map(size_at, POSITIONS))

    def applies(self, policy: Policy) -> bool:
        """To policies that know certain orders."""
        return isinstance(policy, KnowsOrders)

    def values(self, checkpoint: Checkpoint) -> Mapping[Measure, float]:
        """The mean size at each position that at least half of the queries have."""
        if checkpoint.round not in (*self.rounds, checkpoint.rounds):
            return {}
        policy, train = checkpoint.policy, checkpoint.train
        sizes = [_sizes(policy, train, index) for index in longest(train, self.queries)]
        return {
            size_at(position): float(np.mean(found))
            for position in POSITIONS
            if 2 * len(found := [size[position - 1] for size in sizes if position <= len(size)]) >= len(sizes)
        }


@cache
def size_at(position: int) -> Measure:
    """The size of the block at a position, one point of a profile."""
    return Measure(
        f"block size at position {position}",
        kind=BlockSizeByPosition.name,
        unit="documents",
        meaning=SIZE_MEANING,
        title="block size",
        profile="block size by position",
        position=position,
    )


def longest(queries: QuerySet, n: int) -> list[int]:
    """The `n` queries with the most documents, the longest first.

    >>> longest(QuerySet(np.eye(6), np.array([0, 1, 4, 6]), np.zeros(6, dtype=int), "abc"), 2)
    [1, 2]
    """
    order: list[int] = (-np.diff(queries.offsets)).argsort(kind="stable")[:n].tolist()
    return order


def _sizes(policy: Policy, train: QuerySet, index: int) -> IntArray:
    query = train[index].query
    blocks = ordered_blocks(settled_scores(policy, query), certain_orders(policy, query))
    return size_at_each_rank(blocks)
