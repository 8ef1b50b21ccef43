"""Training schedules: from how much of the past a ranker learns again in each round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar, Protocol

import numpy as np

from rankloop.errors import SettingError
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The lists of one gradient step."""

    slots: IntArray  # where they are in the memory
    counts: FloatArray  # how much each counts, 1 on average


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
        """The lists of each step, after so many lists in all, the newest of them in slot `newest`."""
        ...


@dataclass(frozen=True)
class Exact(Training):
    """In every round, `steps` gradient steps on everything there is; the cost grows with the rounds.

    They go on from the last round's or, with `restart`, from where the ranker started, so that nothing is
    left of earlier rounds but their lists.

    >>> [batch.slots.tolist() for batch in Exact(2).batches(3, 2, np.random.default_rng(0))]
    [[0, 1, 2], [0, 1, 2]]
    """

    steps: int = 20
    restart: bool = False
    memory: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        """Refuse never to learn."""
        if type(self.restart) is not bool:
            raise SettingError(f"restart must be True or False, found {self.restart!r}")
        if type(self.steps) is not int or self.steps < 1:
            raise SettingError(f"steps must be a whole number of at least 1, found {self.steps}")

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

    lists: int = 7  # drawn in each round
    memory: int = 5000  # lists remembered
    repeats: int = 16  # how often a list is learned from again, in effect
    steps: int = 1  # in each round
    restart: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse memories that hold nothing."""
        given = ((self.lists, 0), (self.repeats, 0), (self.memory, 1), (self.steps, 1))
        if any(type(each) is not int or each < least for each, least in given):
            raise SettingError(
                "lists and repeats must be whole numbers of at least 0, memory and steps of at least 1, "
                f"found {self}"
            )

    def batches(self, lists: int, newest: int, rng: np.random.Generator) -> Iterator[Batch]:
        """The newest list and some of the others, others in each step."""
        kept = min(lists, self.memory)
        share = self.repeats * kept / (max(self.lists, 1) * self.memory)
        for _ in range(self.steps):
            ahead = rng.integers(kept - 1, size=self.lists) if kept > 1 else np.empty(0, dtype=np.int64)
            slots = np.append(newest, (newest + 1 + ahead) % kept)
            counts = np.where(slots == newest, 1.0, share)
            yield Batch(slots, counts / counts.mean())
