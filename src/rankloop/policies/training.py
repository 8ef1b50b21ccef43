"""From how much of the past a ranker learns again in each round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rankloop.types import IntArray, SettingError


class Training(Protocol):
    """A schedule: which of the remembered lists each gradient step of a round is taken on."""

    @property
    def memory(self) -> int | None:
        """How many lists are remembered, the oldest being forgotten first; all, if None."""
        ...

    def batches(self, lists: int, newest: int, rng: np.random.Generator) -> Iterator[IntArray]:
        """The slots of the lists for each step, after so many lists, the newest of them in slot `newest`."""
        ...


@dataclass(frozen=True)
class Exact:
    """As in the papers: in every round, `steps` gradient steps on everything there is.

    The cost of a round grows with the number of rounds.

    >>> [batch.tolist() for batch in Exact(2).batches(3, 2, np.random.default_rng(0))]
    [[0, 1, 2], [0, 1, 2]]
    """

    steps: int = 20
    memory: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        """Refuse never to learn."""
        if type(self.steps) is not int or self.steps < 1:
            raise SettingError(f"steps must be a whole number of at least 1, found {self.steps}")

    def batches(self, lists: int, newest: int, rng: np.random.Generator) -> Iterator[IntArray]:
        """Everything, again and again."""
        del newest, rng
        return (np.arange(lists) for _ in range(self.steps))


@dataclass(frozen=True)
class Replay:
    """In every round, one gradient step on the new list and on a few old ones, at a cost that is bounded.

    The old ones are drawn from the slots of the memory, filled or not; a slot that is still empty teaches
    nothing. So every list is replayed equally often, about `lists` times before it is forgotten, and the
    first ones, which were shown when little was known, do not set the course by being replayed most.

    >>> [batch.tolist() for batch in Replay(3, memory=10).batches(8, 7, np.random.default_rng(0))]
    [[7, 6, 5]]
    """

    lists: int = 16  # drawn in each round
    memory: int = 5000  # lists remembered

    def __post_init__(self) -> None:
        """Refuse memories that hold nothing."""
        whole = type(self.lists) is int and type(self.memory) is int
        if not whole or self.lists < 0 or self.memory < 1:
            raise SettingError(
                "lists must be a whole number of at least 0 and memory one of at least 1, "
                f"found lists={self.lists}, memory={self.memory}"
            )

    def batches(self, lists: int, newest: int, rng: np.random.Generator) -> Iterator[IntArray]:
        """The newest list, and some of the others."""
        drawn = rng.integers(self.memory, size=self.lists)
        yield np.append(newest, drawn[(drawn < lists) & (drawn != newest)])
