"""Blocks of lists, in each of which every item is shown on top once: when to explore, and for how long."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, sqrt

from rankloop.errors import SettingError


@dataclass(frozen=True)
class Schedule(ABC):
    r"""How many lists a block has, and with which probability its next list explores a cell of items.

    With a `horizon` of $T$ lists there are `blocks` of the same length or, if none are named, the theory's
    $m^{1/3} T^{2/3} / C^{2/3}$, where $m$ items make $C$ cells. Without, block $i$ has
    $\lceil \text{growth} \cdot C \sqrt{i} \rceil$ lists.
    """

    horizon: int | None = None
    blocks: int | None = None
    growth: float = 2.5

    def __post_init__(self) -> None:
        """Refuse blocks in which nothing fits."""
        for name in ("horizon", "blocks"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise SettingError(f"{name} must be a whole number of at least 1, or None, found {value}")
        if self.blocks is not None and self.horizon is None:
            raise SettingError(f"{self.blocks} blocks of how many lists? give a horizon, too")
        if not self.growth >= 1:
            raise SettingError(
                f"growth must be at least 1, for every cell to fit into a block, found {self.growth}"
            )

    def length(self, block: int, *, cells: int, items: int) -> int:
        """How many lists the block has that comes after so many others.

        >>> [Live().length(block, cells=4, items=20) for block in range(3)]
        [10, 15, 18]
        >>> Planned(10_000, 200).length(0, cells=20, items=20)
        50
        """
        if self.horizon is None:
            return ceil(self.growth * cells * sqrt(block + 1))
        lists = self.horizon // self.count(block, cells=cells, items=items)
        if lists < cells:
            raise SettingError(
                f"a block must have a list for each of its {cells} cells, found {lists}: "
                f"{self.horizon} lists make at most {self.horizon // cells} blocks"
            )
        return lists

    def count(self, block: int, *, cells: int, items: int) -> int:
        """How many blocks there are, K; without a horizon, how many there have been with this one.

        >>> Planned(10_000).count(0, cells=20, items=20)
        171
        """
        if self.horizon is None:
            return block + 1
        theory = items ** (1 / 3) * (self.horizon / cells) ** (2 / 3)
        return self.blocks or max(1, min(round(theory), self.horizon // cells))

    @abstractmethod
    def chance(self, *, cells: int, left: int, passed: int, length: int) -> float:
        """The probability that the next list explores; `left` cells are still to be seen in this block."""

    @property
    @abstractmethod
    def once(self) -> bool:
        """Whether a cell is explored only once in a block."""


@dataclass(frozen=True)
class Live(Schedule):
    """Every list explores a uniform cell with the same probability, the cells over the length of the block.

    Nothing depends on what was learned of lists before, so it does not matter when feedback arrives.
    """

    def chance(self, *, cells: int, left: int, passed: int, length: int) -> float:
        """The same for every list of a block."""
        del left, passed
        return min(1.0, cells / length)

    @property
    def once(self) -> bool:
        """By chance more often, or never."""
        return False


@dataclass(frozen=True)
class Planned(Schedule):
    """Every cell is explored once in a block, at a list that is drawn uniformly among those of the block.

    Drawn one after the other: with `left` cells to be seen in the rest of the block, the next list is one of
    theirs with the probability of left over rest. That is the same as drawing all of them at the start.
    """

    def chance(self, *, cells: int, left: int, passed: int, length: int) -> float:
        """What is left to be seen, over the lists that are left."""
        del cells
        return min(1.0, left / max(length - passed, 1))

    @property
    def once(self) -> bool:
        """Exactly once."""
        return True
