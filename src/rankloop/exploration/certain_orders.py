"""Explore only what is uncertain: certain orders, the blocks they leave, and lists that respect them.

A *certain order* $(i, j)$ says that $i$ belongs above $j$. Certain orders never contradict the scores they
come from, so they form a directed graph without cycles; all other pairs are *uncertain*, open to exploration.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rankloop.types import BoolArray, FloatArray, IntArray


def certain_orders(scores: FloatArray, widths: FloatArray) -> BoolArray:
    r"""Which pairs are settled: `certain[i, j]` when $\sigma(s_i - s_j) - \text{width}_{ij} > \frac{1}{2}$.

    >>> certain_orders(np.array([2.0, 0.0, -0.1]), np.full((3, 3), 0.1)).astype(int).tolist()
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021.
    """
    certain: BoolArray = expit(np.subtract.outer(scores, scores)) - widths > 0.5
    return certain


def ordered_blocks(scores: FloatArray, certain: BoolArray) -> list[IntArray]:
    r"""Find the finest division into blocks, best first, such that all pairs across blocks are certain.

    In the list sorted by score, let $\text{reach}_p$ be the last position still uncertain against $p$. A cut
    falls after $p$ exactly where nothing above reaches below it: $\max_{q \le p} \text{reach}_q = p$.

    >>> certain = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> [block.tolist() for block in ordered_blocks(np.array([0.9, 0.8, 0.1]), certain)]
    [[0, 1], [2]]
    """
    order = (-scores).argsort(kind="stable")
    return np.split(order, _cuts(certain[order[:, None], order])[:-1])


def _cuts(certain: BoolArray) -> IntArray:
    """Where the blocks of a list sorted by score end."""
    n = len(certain)
    reach = n - 1 - (~certain[:, ::-1]).argmax(axis=1)  # a document is never certain against itself
    return 1 + np.flatnonzero(np.maximum.accumulate(reach) == np.arange(n))


def shuffle_blocks(scores: FloatArray, certain: BoolArray, k: int, rng: np.random.Generator) -> IntArray:
    """Draw a list by *random exploration*: block after block, each in random order.

    >>> certain = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> shuffle_blocks(np.array([0.9, 0.8, 0.1]), certain, 3, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    parts: list[IntArray] = []
    shown = 0
    for block in ordered_blocks(scores, certain):
        parts.append(rng.permutation(block))
        shown += len(block)
        if shown >= k:
            break
    return np.concatenate(parts)[:k]


def random_topological(certain: BoolArray, k: int, rng: np.random.Generator) -> IntArray:
    """Draw a list by *conservative exploration*: no certain order is ever violated.

    Each position is drawn uniformly from the documents that no remaining one certainly beats: a random
    topological sort, as deep as the `k` shown.

    >>> certain = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> random_topological(certain, 3, np.random.default_rng(0)).tolist()
    [1, 0, 2]
    """
    beaten_by = certain.sum(axis=0, dtype=np.int32)
    order = np.empty(min(k, len(certain)), dtype=np.int64)
    for position, coin in enumerate(rng.random(len(order)).tolist()):
        free = (beaten_by == 0).nonzero()[0]
        pick = order[position] = free[int(coin * len(free))]
        beaten_by -= certain[pick]
        beaten_by[pick] = -1  # taken
    return order
