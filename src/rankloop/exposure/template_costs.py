"""Costs of templates: which certain orders each violates, all templates at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankloop.exposure.group_templates import Templates
from rankloop.types import BoolArray, FloatArray, IntArray

EMPTY = 2.0**20  # the cost of a document that is not there: more than there are certain orders in a list


@dataclass(frozen=True, slots=True, eq=False)
class TemplateCosts:
    """What the next positions of a list can be filled with, and what that violates.

    A document costs those who certainly belong above it, less those who stand there.
    """

    queues: Sequence[IntArray]  # of each group: what is left of it, in the order drawn
    certain: BoolArray  # [n, n]
    missing: IntArray  # [n] how many belong above each document and stand nowhere yet

    @classmethod
    def start(cls, queues: Sequence[IntArray], certain: BoolArray) -> Self:
        """Begin with an empty list."""
        return cls(queues, certain, certain.sum(axis=0, dtype=np.int32))

    def compute(self, templates: Templates) -> FloatArray:
        """Count the certain orders that each template violates, [t]; infinite if it cannot be filled."""
        costs: FloatArray = templates.paths @ self._steps(templates).astype(np.float32)
        if min(map(len, self.queues)) < templates.groups.shape[1]:
            costs[costs > EMPTY / 2] = np.inf
        return costs

    def compute_next(self) -> FloatArray:
        """Count those that the next document of each group violates, [m]; infinite without one."""
        return np.array([self.missing[queue[0]] if len(queue) else np.inf for queue in self.queues])

    def after(self, counts: Sequence[int]) -> Self:
        """Give the same when the next so many of each group stand in the list."""
        placed = np.concatenate([queue[:count] for queue, count in zip(self.queues, counts, strict=True)])
        left = [queue[count:] for queue, count in zip(self.queues, counts, strict=True)]
        missing = self.missing - self.certain[placed].sum(axis=0, dtype=np.int32)
        return type(self)(left, self.certain, missing)

    def fill(self, template: Sequence[int]) -> list[int]:
        """Take the documents of a template from the queues."""
        waiting = [iter(queue.tolist()) for queue in self.queues]
        return [next(waiting[group]) for group in template]

    def _steps(self, templates: Templates) -> FloatArray:
        """Count the certain orders that each step violates, [s]."""
        length, m = templates.groups.shape[1], len(self.queues)
        rows = np.zeros((m, length), dtype=np.int64)  # the next documents of each group
        cost = np.full((m, length), EMPTY)
        for group, queue in enumerate(self.queues):
            next_ones = queue[:length]
            rows[group, : len(next_ones)] = next_ones
            cost[group, : len(next_ones)] = self.missing[next_ones]
        flat = rows.ravel()
        above = np.zeros((m, length + 1, m * length))  # [h, b, d]: how many of h's first b belong above d
        pairs = self.certain[flat[:, None], flat].reshape(m, length, -1)
        np.add.accumulate(pairs, axis=1, out=above[:, 1:])
        found: FloatArray = cost.ravel()[templates.taken]
        found -= above.take(templates.above).sum(axis=0)
        return found


def count_violations(order: IntArray, certain: BoolArray) -> int:
    """Count the certain orders $(i, j)$ with $j$ in the list, and $i$ below it or not in it.

    >>> count_violations(np.array([1, 0]), np.triu(np.ones((3, 3), dtype=bool), 1))
    1
    """
    kept = np.triu(certain[order[:, None], order], 1)
    return int(np.count_nonzero(certain[:, order])) - int(np.count_nonzero(kept))
