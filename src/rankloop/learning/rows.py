"""Rows of a log, kept in arrays that grow by doubling and then forget what is oldest."""

from __future__ import annotations

import numpy as np

from rankloop.learning.replay_memory import enlarged
from rankloop.types import Array


def kept(memory: Array, count: int, rows: Array, limit: int) -> Array:
    """The memory with these rows after `count` others; in place, unless it must grow.

    Row number $i$ of a log stands in slot $i$ modulo `limit`.

    >>> memory = kept(np.zeros(0), 0, np.array([1.0, 2.0]), 3)
    >>> kept(memory, 2, np.array([3.0, 4.0]), 3).tolist()
    [4.0, 2.0, 3.0]
    """
    rows, first = rows[-limit:], count + max(len(rows) - limit, 0)
    needed = min(first + len(rows), limit)
    if needed > len(memory):
        size = min(max(2 * len(memory), needed), limit)
        memory = enlarged(memory, (size, *rows.shape[1:]))
    memory[(first + np.arange(len(rows))) % limit] = rows
    return memory
