"""What the options of synthetic worlds may be, and the sizes that all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from rankloop.bounds import Count, Natural, check_settings, describe_bound, fits
from rankloop.errors import SettingError, suggest_name
from rankloop.types import FloatArray, IntArray


def check_options(label: str, hints: Mapping[str, Any], options: Mapping[str, object]) -> dict[str, Any]:
    """Give the options, each as its annotation has it; refuse unknown ones and values out of range.

    >>> from rankloop.bounds import NonNegative
    >>> check_options("the linear world", {"noise": NonNegative, "raw": bool}, {"noise": 1, "raw": True})
    {'noise': 1.0, 'raw': True}
    >>> check_options("the linear world", {"queries": Count}, {"queries": 0})
    Traceback (most recent call last):
        ...
    rankloop.errors.SettingError: the linear world: queries must be a whole number of at least 1, found 0
    """
    for name, value in options.items():
        if name not in hints:
            raise SettingError(f"{label} has no option {name!r}: {suggest_name(name, hints)}")
        if not fits(value, hints[name]):
            raise SettingError(f"{label}: {name} must be {describe_bound(hints[name])}, found {value!r}")
    kinds = {name: get_args(hints[name])[0] if get_args(hints[name]) else hints[name] for name in options}
    return {name: kinds[name](value) for name, value in options.items()}


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
        check_settings(self)
        if self.max_documents < self.min_documents:
            raise SettingError(
                f"max_documents must be at least min_documents, found {self.max_documents} and "
                f"{self.min_documents}"
            )

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
