"""Training schedules: from how much of the past a ranker learns again in each round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from rankloop.bounds import Count, Natural, check_settings
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The lists of one gradient step."""

    slots: IntArray  # where they are in the memory
    counts: FloatArray  # how much each counts, 1 on average


@runtime_checkable
class Training(Protocol):
    """A schedule: which of the remembered lists each gradient step of a round is taken on."""

    @property
    def memory(self) -> int | None:
        """How many lists are remembered, the oldest being forgotten first; all, if None."""
        ...

    @property
    def restart(self) -> bool:
        """Whether every round trains anew, from where the ranker started."""
        ...

    def batches(self, lists: int, newest: int, rng: np.random.Generator) -> Iterator[Batch]:
        """Choose the lists of each step, after so many lists in all, the newest of them in slot `newest`."""
        ...


@dataclass(frozen=True)
class Exact(Training):
    """In every round, `steps` gradient steps on everything there is; the cost grows with the rounds.

    They go on from the last round's or, with `restart`, from where the ranker started, so that nothing is
    left of earlier rounds but their lists.

    >>> [batch.slots.tolist() for batch in Exact(2).batches(3, 2, np.random.default_rng(0))]
    [[0, 1, 2], [0, 1, 2]]
    """

    steps: Count = 20
    restart: bool = False
    memory: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        check_settings(self)

    def batches(self, lists: int, newest: int, rng: np.random.Generator) -> Iterator[Batch]:
        """Everything, again and again."""
        del newest, rng
        return repeat(Batch(np.arange(lists), np.ones(lists)), self.steps)


@dataclass(frozen=True)
class ReplayMemory(Training):
    r"""Experience replay: in every round a step on the new list and on a few old ones, at a constant cost.

    If the share $f$ of the memory is full, an old list counts $f \cdot \text{repeats} / \text{lists}$ times
    as much as the new one. So all lists have the same say, that of `repeats` new ones before they are
    forgotten, and the first ones, shown when little was known, do not set the course by being replayed most.
    More `steps` and `repeats` fit the lists more closely: for queries that come again and again.

    >>> (batch,) = ReplayMemory(3, memory=10, repeats=6).batches(5, 4, np.random.default_rng(0))
    >>> batch.slots.tolist(), batch.counts.tolist()  # the memory is half full
    ([4, 3, 2, 2], [1.0, 1.0, 1.0, 1.0])
    """

    lists: Natural = 7  # drawn in each round
    memory: Count = 5000  # lists remembered
    repeats: Natural = 16  # how often a list is learned from again, in effect
    steps: Count = 1  # in each round
    restart: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_settings(self)

    def batches(self, lists: int, newest: int, rng: np.random.Generator) -> Iterator[Batch]:
        """Choose the newest list and some of the others, others in each step."""
        kept = min(lists, self.memory)
        share = self.repeats * kept / (max(self.lists, 1) * self.memory)
        for _ in range(self.steps):
            ahead = rng.integers(kept - 1, size=self.lists) if kept > 1 else np.empty(0, dtype=np.int64)
            slots = np.append(newest, (newest + 1 + ahead) % kept)
            counts = np.where(slots == newest, 1.0, share)
            yield Batch(slots, counts / counts.mean())
