"""Step sizes of online gradient descent: how far to go in which round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankloop.errors import SettingError


class StepSize(Protocol):
    """A schedule: the size of the step in a round."""

    def at(self, number: int) -> float:
        """The size in this round, counted from 1."""
        ...


@dataclass(frozen=True)
class InverseRoot(StepSize):
    r"""Ever smaller steps, $\eta_t = \eta_1 / \sqrt{t}$: no regret in the long run, against any fixed ranker.

    >>> InverseRoot(0.5).at(4)
    0.25

    Zinkevich: Online convex programming and generalized infinitesimal gradient ascent. ICML 2003.
    """

    first: float = 1.0

    def __post_init__(self) -> None:
        """Refuse steps backwards."""
        _check_positive("first", self.first)

    def at(self, number: int) -> float:
        """The first size over the root of the round's number."""
        return float(self.first / number**0.5)


@dataclass(frozen=True)
class Constant(StepSize):
    """Steps of one size: what was learned long ago fades, for worlds that change.

    >>> Constant(0.5).at(4)
    0.5
    """

    size: float = 0.1

    def __post_init__(self) -> None:
        """Refuse steps backwards."""
        _check_positive("size", self.size)

    def at(self, number: int) -> float:
        """The size, whatever the round."""
        del number
        return self.size


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < np.inf:
        raise SettingError(f"{name} of a step must be positive, found {value}")
