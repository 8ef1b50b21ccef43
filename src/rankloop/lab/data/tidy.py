"""Tidying of ratings before they become reviews: one scale, and one review of an item by a user."""

from __future__ import annotations

import warnings

import numpy as np

from rankloop.errors import DataError
from rankloop.types import BoolArray, FloatArray, IntArray


def scaled_ratings(rating: FloatArray, *, scale: tuple[float, float], highest: float = 5.0) -> FloatArray:
    """Ratings of any scale, mapped linearly to 1 ... highest.

    >>> scaled_ratings(np.array([0.0, 5.0, 10.0]), scale=(0, 10)).tolist()
    [1.0, 3.0, 5.0]
    """
    low, high = scale
    if not low < high:
        raise DataError(f"a scale goes from its lowest rating to its highest, found {low:g} to {high:g}")
    if len(rating) and not low <= rating.min() <= rating.max() <= high:
        raise DataError(
            f"ratings must be from {low:g} to {high:g}, found {rating.min():g} to {rating.max():g}; "
            "say what the scale is, as in read_reviews(path, scale=(0, 10))"
        )
    return 1 + (highest - 1) * (rating - low) / (high - low)


def last_of_each(user: IntArray, item: IntArray, time: IntArray | None = None) -> BoolArray:
    """Which reviews to keep where a user reviewed an item again: the last one, by time or by row.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     last_of_each(np.array([0, 1, 0]), np.array([2, 2, 2])).tolist()
    [False, True, True]
    """
    order = np.arange(len(user)) if time is None else np.argsort(time, kind="stable")
    pairs = user.astype(np.int64) * (int(item.max(initial=0)) + 1) + item
    _, last = np.unique(pairs[order][::-1], return_index=True)
    keep = np.zeros(len(user), bool)
    keep[order[len(order) - 1 - last]] = True
    if dropped := len(user) - int(keep.sum()):
        warnings.warn(
            f"{dropped} of {len(user)} reviews are of an item that the same user reviews again later: "
            "the last is kept",
            stacklevel=2,
        )
    return keep
