"""Pricing of templates: which certain orders each violates, all templates at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankloop.exposure.group_templates import Templates
from rankloop.types import BoolArray, FloatArray, IntArray

EMPTY = 2.0**20  # the price of a document that is not there: more than there are certain orders in a list


@dataclass(frozen=True, slots=True, eq=False)
class Pricing:
    """What the next positions of a list can be filled with, and what that violates.

    A document costs those who certainly belong above it, less those who stand there.
    """

    queues: Sequence[IntArray]  # of each group: what is left of it, in the order drawn
    certain: BoolArray  # [n, n]
    missing: IntArray  # [n] how many belong above each document and stand nowhere yet

    @classmethod
    def start(cls, queues: Sequence[IntArray], certain: BoolArray) -> Self:
        """Before anything stands anywhere."""
        return cls(queues, certain, certain.sum(axis=0, dtype=np.int32))

    def costs(self, templates: Templates) -> FloatArray:
        """The certain orders that each template violates, [t]; infinite if it cannot be filled."""
        costs: FloatArray = templates.paths @ self.steps(templates).astype(np.float32)
        costs[costs > EMPTY / 2] = np.inf
        return costs

    def heads(self) -> FloatArray:
        """The certain orders that the next document of each group violates, [m]; infinite without one."""
        return np.array([self.missing[queue[0]] if len(queue) else np.inf for queue in self.queues])

    def steps(self, templates: Templates) -> FloatArray:
        """The certain orders that each step violates, [s]."""
        length, m = templates.groups.shape[1], len(self.queues)
        rows = np.zeros((m, length), dtype=np.int64)  # the next documents of each group
        price = np.full((m, length), EMPTY)
        for group, queue in enumerate(self.queues):
            next_ones = queue[:length]
            rows[group, : len(next_ones)] = next_ones
            price[group, : len(next_ones)] = self.missing[next_ones]
        flat = rows.ravel()
        above = np.zeros((m, length + 1, m * length))  # [h, b, d]: how many of h's first b belong above d
        self.certain[flat[:, None], flat].reshape(m, length, -1).cumsum(axis=1, out=above[:, 1:])
        found: FloatArray = price.ravel()[templates.taken]
        found -= above.ravel()[templates.standing].sum(axis=0)
        return found

    def after(self, counts: Sequence[int]) -> Self:
        """The same when the next so many of each group stand in the list."""
        placed = np.concatenate([queue[:count] for queue, count in zip(self.queues, counts, strict=True)])
        left = [queue[count:] for queue, count in zip(self.queues, counts, strict=True)]
        missing = self.missing - self.certain[placed].sum(axis=0, dtype=np.int32)
        return type(self)(left, self.certain, missing)

    def filled(self, template: Sequence[int]) -> list[int]:
        """The documents of a template."""
        waiting = [iter(queue.tolist()) for queue in self.queues]
        return [next(waiting[group]) for group in template]
