"""What the options of synthetic worlds may be, and the sizes that all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, TypeAlias, get_args

import numpy as np

from rankloop.errors import SettingError, suggest_name
from rankloop.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Range:
    """Which numbers an option may be, its ends included.

    >>> Range(0, 1).check("flip", 0.5, float)
    0.5
    >>> Range(1).check("queries", 0, int)
    Traceback (most recent call last):
        ...
    rankloop.errors.SettingError: queries: expected a whole number of at least 1, found 0
    """

    least: float
    most: float = inf

    def check(self, name: str, value: object, kind: type[float]) -> Any:
        """The value as a number of this kind; anything else is refused."""
        kinds = int if kind is int else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not self.least <= value <= self.most:
            number = "a whole number" if kind is int else "a number"
            upwards = self.most == inf
            allowed = f"of at least {self.least:g}" if upwards else f"from {self.least:g} to {self.most:g}"
            raise SettingError(f"{name}: expected {number} {allowed}, found {value!r}")
        return kind(value)


Count: TypeAlias = Annotated[int, Range(1)]
Natural: TypeAlias = Annotated[int, Range(0)]
NonNegative: TypeAlias = Annotated[float, Range(0)]
Share: TypeAlias = Annotated[float, Range(0, 1)]


def check_options(label: str, hints: Mapping[str, Any], options: Mapping[str, object]) -> dict[str, Any]:
    """The options, each as its annotation has it; unknown ones and values out of range are refused.

    >>> check_options("the world", {"noise": NonNegative, "raw": bool}, {"noise": 1, "raw": True})
    {'noise': 1.0, 'raw': True}
    """
    checked = {}
    for name, value in options.items():
        if name not in hints:
            raise SettingError(f"{label} has no option {name!r}: {suggest_name(name, hints)}")
        if hints[name] is bool:
            if not isinstance(value, bool):
                raise SettingError(f"{name}: expected True or False, found {value!r}")
            checked[name] = value
        else:
            kind, allowed = get_args(hints[name])
            checked[name] = allowed.check(name, value, kind)
    return checked


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many queries and documents a world has, and the seed that it is drawn with.

    >>> sizes = Sizes(queries=2, test_queries=1, min_documents=4, max_documents=4)
    >>> sizes.draw_offsets(np.random.default_rng(0)).tolist()
    [0, 4, 8, 12]
    """

    queries: Count = 200
    test_queries: Count = 100
    min_documents: Count = 10
    max_documents: Count = 30
    seed: Natural = 0

    def __post_init__(self) -> None:
        """Refuse lists whose longest is shorter than the shortest."""
        Range(self.min_documents).check("max_documents", self.max_documents, int)

    @property
    def total(self) -> int:
        """How many queries there are, for training and for testing."""
        return self.queries + self.test_queries

    @property
    def ids(self) -> tuple[str, ...]:
        """The queries' names, counted from 1."""
        return tuple(map(str, range(1, self.total + 1)))

    def draw_offsets(self, rng: np.random.Generator) -> IntArray:
        """Draw how many documents each query has; where their rows begin, and the end."""
        lengths = rng.integers(self.min_documents, self.max_documents, self.total, endpoint=True)
        return np.append(0, np.cumsum(lengths))


def grade_by_shares(latent: FloatArray, shares: tuple[float, ...]) -> IntArray:
    """Grades 0, 1, ... by thresholds on a latent relevance, so that they occur in these shares.

    >>> grade_by_shares(np.array([0.1, 0.9, 0.5, 0.2]), (0.5, 0.25, 0.25)).tolist()
    [0, 2, 1, 0]
    """
    thresholds = np.quantile(latent, np.cumsum(shares)[:-1])
    return np.searchsorted(thresholds, latent, side="right").astype(np.int64)
