"""Probabilities by grade: the tables behind every user model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.types import FloatArray, IntArray


def probabilities(name: str, values: Sequence[float]) -> None:
    """Refuse anything but one probability or more.

    >>> probabilities("click", (0.1, 1.5))
    Traceback (most recent call last):
    ...
    rankloop.errors.SettingError: click must hold probabilities between 0 and 1, found (0.1, 1.5)
    """
    if not values or not all(0 <= value <= 1 for value in values):
        raise SettingError(f"{name} must hold probabilities between 0 and 1, found {tuple(values)}")


def by_grade(grades: IntArray, *tables: tuple[float, ...]) -> FloatArray:
    """What each table has for each grade, [n_tables, n]; all are of one length.

    >>> by_grade(np.array([2, 0]), (0.0, 0.5, 1.0), (0.1, 0.2, 0.3)).tolist()
    [[1.0, 0.0], [0.3, 0.1]]
    """
    try:
        return _as_array(tables).take(grades, axis=1)
    except IndexError as error:
        raise DataError(
            f"this user knows the grades 0..{len(tables[0]) - 1} but met grade {grades.max()}: "
            f"choose a preset for {grades.max() + 1} grades"
        ) from error


@lru_cache(maxsize=64)
def _as_array(tables: tuple[tuple[float, ...], ...]) -> FloatArray:
    return np.array(tables, dtype=np.float64)
