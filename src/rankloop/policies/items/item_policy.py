"""What policies for fixed items share: they know items by id, and add up what each is worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

import numpy as np

from rankloop.errors import SettingError
from rankloop.learning.objectives import AdditiveObjective, DCGGain, Objective
from rankloop.learning.observability import smallest_k
from rankloop.policies.items.by_id import KnowsItems
from rankloop.types import FloatArray, IntArray


@dataclass(kw_only=True, eq=False)
class FixedItems(KnowsItems):
    """Knows items by their ids and nothing else; of each it keeps a few numbers.

    Features are passed over. Items may appear at any time, and a query may have any of them as candidates.
    Without ids, candidates are known by their row number.
    """

    signals = ("grades", "clicks")

    objective: Objective = field(default_factory=DCGGain)
    top_grade: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what cannot be learned item by item."""
        super().__post_init__()
        if not 0 < self.top_grade < np.inf:
            raise SettingError(f"top_grade must be positive, found {self.top_grade}")
        if not isinstance(self.objective, AdditiveObjective):
            raise SettingError(_why_not(self.objective))

    def widened(self, n_features: int) -> Self | None:
        """None: features are not looked at, new ones neither."""
        del n_features
        return None

    @property
    def top_worth(self) -> float:
        """What an item of the highest grade is worth."""
        assert isinstance(self.objective, AdditiveObjective)
        return _top_worth(self.objective, self.top_grade)

    def _worth(self, grades: FloatArray) -> FloatArray:
        assert isinstance(self.objective, AdditiveObjective)
        return self.objective.worth(grades)


def mean_worth(totals: FloatArray, counts: IntArray) -> FloatArray:
    """Totals over counts; 0 where nothing was counted.

    >>> mean_worth(np.array([3.0, 0.0]), np.array([2, 0])).tolist()
    [1.5, 0.0]
    """
    return totals / np.maximum(counts, 1)


@lru_cache(maxsize=64)
def _top_worth(objective: AdditiveObjective, top_grade: float) -> float:
    return float(objective.worth(np.array(top_grade)))


def _why_not(objective: Objective) -> str:
    needed = ", ".join(_needed(objective, (3, 4, 5)))
    return (
        f"{objective.name} cannot be learned item by item: what a grade counts depends on all grades of the "
        "list together, so that worlds in which every item has the same mean grade want different orders. It "
        f"would take the grades of the first {needed}: "
        "choose dcg, sum-loss, pairwise-loss or precision, which add up over the items"
    )


def _needed(objective: Objective, sizes: Iterable[int]) -> list[str]:
    return [f"{smallest_k(objective, items)} of {items} items" for items in sizes]
