"""Rows of a log, kept in arrays that grow by doubling and then forget what is oldest."""

from __future__ import annotations

import numpy as np

from rankloop.learning.replay_memory import enlarge
from rankloop.types import Array, FloatArray


def keep_rows(memory: Array, count: int, rows: Array, limit: int) -> Array:
    """Put rows into a memory after `count` others; in place, unless it must grow.

    Row number $i$ of a log stands in slot $i$ modulo `limit`.

    >>> memory = keep_rows(np.zeros(0), 0, np.array([1.0, 2.0]), 3)
    >>> keep_rows(memory, 2, np.array([3.0, 4.0]), 3).tolist()
    [4.0, 2.0, 3.0]
    """
    rows, first = rows[-limit:], count + max(len(rows) - limit, 0)
    needed = min(first + len(rows), limit)
    if needed > len(memory):
        size = min(max(2 * len(memory), needed), limit)
        memory = enlarge(memory, (size, *rows.shape[1:]))
    memory[(first + np.arange(len(rows))) % limit] = rows
    return memory


def draw_negatives(rows: FloatArray, positives: int, *, share: float | None, seed: int) -> FloatArray:
    """Draw so many rows for each positive one, in their order; all of them where `share` is None.

    >>> draw_negatives(np.arange(6.0)[:, None], 1, share=2.0, seed=0).ravel().tolist()
    [2.0, 3.0]
    >>> len(draw_negatives(np.arange(6.0)[:, None], 9, share=2.0, seed=0))
    6
    """
    wanted = len(rows) if share is None else round(share * positives)
    if wanted >= len(rows):
        return rows
    rng = np.random.default_rng([seed, positives, len(rows)])
    return rows[np.sort(rng.permutation(len(rows))[:wanted])]
