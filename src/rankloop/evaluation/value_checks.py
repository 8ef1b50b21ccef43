"""Checks of numbers that estimates are made of: finite columns, and levels between 0 and 1."""

from __future__ import annotations

from numbers import Real

import numpy as np

from rankloop.errors import DataError, SettingError
from rankloop.types import BoolArray, FloatArray

MOST = 1e150  # squares of such numbers can still be added up


def check_level(level: float, name: str = "level") -> float:
    """Return a probability that is neither 0 nor 1; refuse anything else.

    >>> check_level(0.95)
    0.95
    """
    if not isinstance(level, Real) or not 0 < level < 1:
        raise SettingError(f"{name} must be between 0 and 1, found {level!r}")
    return float(level)


def check_column(values: FloatArray, noun: str = "values") -> FloatArray:
    """Return numbers as one column; refuse what is none, NaN, and numbers too large to be squared.

    >>> check_column([0, True, 2.5]).tolist()
    [0.0, 1.0, 2.5]
    """
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "biuf":
        found = f"{column.dtype} of shape {column.shape}"
        raise DataError(f"{noun} must be one column of numbers, found {found}")
    numbers = np.asarray(column, np.float64)
    if not (np.abs(numbers) <= MOST).all():
        raise DataError(f"{noun} must be finite numbers of at most {MOST:g}, found NaN or a larger one")
    return numbers


def check_flags(flags: BoolArray, noun: str) -> BoolArray:
    """Return a column of True and False; refuse anything else.

    >>> check_flags([True, False], "wins").tolist()
    [True, False]
    """
    column = np.asarray(flags)
    if column.ndim != 1 or (column.dtype.kind != "b" and column.size):
        found = f"{column.dtype} of shape {column.shape}"
        raise DataError(f"{noun} must be one column of True and False, found {found}")
    return np.asarray(column, np.bool_)
