"""Probabilities by grade: the tables behind every user model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rankloop.types import DataError, FloatArray, IntArray, SettingError


def probabilities(name: str, values: Sequence[float]) -> None:
    """Refuse anything but one probability or more.

    >>> probabilities("click", (0.1, 1.5))
    Traceback (most recent call last):
    ...
    rankloop.types.SettingError: click must hold probabilities between 0 and 1, found (0.1, 1.5)
    """
    if not values or not all(0 <= value <= 1 for value in values):
        raise SettingError(f"{name} must hold probabilities between 0 and 1, found {tuple(values)}")


def by_grade(table: tuple[float, ...], grades: IntArray) -> FloatArray:
    """The table's value for each grade.

    >>> by_grade((0.0, 0.5, 1.0), np.array([2, 0])).tolist()
    [1.0, 0.0]
    """
    try:
        return _as_array(table)[grades]
    except IndexError as error:
        raise DataError(
            f"this user knows the grades 0..{len(table) - 1} but met grade {grades.max()}: "
            f"choose a preset for {grades.max() + 1} grades"
        ) from error


@lru_cache(maxsize=64)
def _as_array(table: tuple[float, ...]) -> FloatArray:
    return np.array(table, dtype=np.float64)
