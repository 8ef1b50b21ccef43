"""Queues of groups: the documents of each in the order in which they were drawn."""

from __future__ import annotations

import numpy as np

from rankloop.errors import RankingError
from rankloop.types import BoolArray, IntArray


def draw_deep(certain: BoolArray, groups: IntArray, k: int, rng: np.random.Generator) -> IntArray:
    """`random_topological`, drawn on until every group has `k` documents in it or no more to give.

    The first `k` are those that `random_topological` draws from the same generator.

    >>> certain = np.zeros((4, 4), dtype=bool)
    >>> draw_deep(certain, np.array([0, 0, 0, 1]), 1, np.random.default_rng(0)).tolist()
    [2, 0, 1, 3]
    """
    if k < 0 or certain.shape != (len(groups), len(groups)):
        raise RankingError(
            f"a draw of 0 or more needs a group for each candidate, found {k} and {len(groups)} groups for "
            f"certain orders of shape {certain.shape}"
        )
    beaten_by = certain.sum(axis=0, dtype=np.int32)
    wanting = np.minimum(np.bincount(groups), k).tolist()  # documents that each group still lacks
    missing, codes, order = sum(wanting), groups.tolist(), []
    for coin in rng.random(len(certain)).tolist():
        free = (beaten_by == 0).nonzero()[0]
        try:
            pick = int(free[int(coin * len(free))])
        except IndexError:
            raise RankingError(
                "certain orders contradict each other: every candidate left is beaten by another"
            ) from None
        order.append(pick)
        if wanting[codes[pick]]:
            wanting[codes[pick]] -= 1
            missing -= 1
            if not missing and len(order) >= k:
                break
        beaten_by -= certain[pick]
        beaten_by[pick] = -1  # taken
    return np.array(order)


def split_by_group(drawn: IntArray, groups: IntArray, k: int, n_groups: int) -> list[IntArray]:
    """List the first `k` documents of each group, in the order drawn.

    >>> queues = split_by_group(np.array([3, 0, 2, 1]), np.array([0, 1, 0, 1]), 2, 2)
    >>> [queue.tolist() for queue in queues]
    [[0, 2], [3, 1]]
    """
    theirs = groups[drawn]
    together = drawn[theirs.argsort(kind="stable")]
    ends = np.bincount(theirs, minlength=n_groups).cumsum().tolist()
    return [together[start:end][:k] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
