"""Feature scaling: from features as they come to features that a policy can compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from rankloop.service.core.ranker_settings import Scaling
from rankloop.types import Array, FloatArray

FARTHEST = 3.0  # standard deviations: beyond, a value says no more


class Scale(Protocol):
    """A way to scale features; a value, replaced when more is known."""

    def apply(self, raw: FloatArray) -> FloatArray:
        """Scaled features of one list, [n, width]; nothing is missing any more."""
        ...

    def after(self, raw: FloatArray) -> Scale:
        """The scale once this list was learned from."""
        ...

    def state(self) -> Mapping[str, Array]:
        """What it knows, as named arrays."""
        ...


@dataclass(frozen=True, eq=False)
class WithinQuery:
    """To 0..1 between the least and the greatest of the list's candidates, as in LETOR; missing is 0.

    It knows nothing, so it needs no start and cannot drift. A feature on which all candidates agree is 0.

    >>> WithinQuery().apply(np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    """

    def apply(self, raw: FloatArray) -> FloatArray:
        """Scale between the list's own extremes."""
        least, most = raw.min(axis=0), raw.max(axis=0)
        gaps = np.isnan(least).any()
        if gaps:  # fmin and fmax pass over what is missing, and take longer
            least, most = np.fmin.reduce(raw, axis=0), np.fmax.reduce(raw, axis=0)
        span = most - least
        scaled = raw - least
        scaled /= np.where(span > 0, span, 1.0)
        return np.where(np.isnan(scaled), 0.0, scaled) if gaps else scaled

    def after(self, raw: FloatArray) -> WithinQuery:
        """Nothing changes."""
        del raw
        return self

    def state(self) -> Mapping[str, Array]:
        """Nothing."""
        return {}


_none = partial(np.zeros, 0)


@dataclass(frozen=True, eq=False)
class Running:
    r"""In standard deviations from the mean of all candidates learned from; missing is 0, the mean.

    Keeps how large a difference is, which scaling within the list forgets: a tie within cents stays a tie.
    The moments of a new list join those of the past by Chan's formula; beyond three standard deviations a
    value says no more.

    >>> scale = Running().after(np.array([[1.0], [3.0]]))
    >>> scale.apply(np.array([[2.0], [4.0], [99.0], [np.nan]])).tolist()
    [[0.0], [2.0], [3.0], [0.0]]
    """

    count: FloatArray = field(default_factory=_none)  # [width]
    mean: FloatArray = field(default_factory=_none)
    squares: FloatArray = field(default_factory=_none)  # sum of squared distances from the mean

    def apply(self, raw: FloatArray) -> FloatArray:
        """Scale by what was learned so far; a feature never learned from is 0."""
        count, mean, squares = (each[: raw.shape[1]] for each in self._padded(raw.shape[1]))
        deviation = np.sqrt(squares / np.maximum(count, 1.0))
        known = deviation > 0
        scaled = (raw - mean) / np.where(known, deviation, 1.0)
        usable = np.where(known & ~np.isnan(raw), scaled, 0.0)
        return np.minimum(np.maximum(usable, -FARTHEST), FARTHEST)

    def after(self, raw: FloatArray) -> Running:
        """Join the moments of this list."""
        count, mean, squares = self._padded(raw.shape[1])
        raw = np.hstack((raw, np.full((len(raw), len(count) - raw.shape[1]), np.nan)))
        there = ~np.isnan(raw)
        new = there.sum(axis=0).astype(np.float64)
        new_mean = np.where(there, raw, 0.0).sum(axis=0) / np.maximum(new, 1.0)
        new_squares = (np.where(there, raw - new_mean, 0.0) ** 2).sum(axis=0)
        total = np.maximum(count + new, 1.0)
        gap = np.where(new > 0, new_mean - mean, 0.0)
        joined = mean + gap * new / total
        return Running(count + new, joined, squares + new_squares + gap**2 * count * new / total)

    def state(self) -> Mapping[str, Array]:
        """The moments."""
        return {"count": self.count, "mean": self.mean, "squares": self.squares}

    def _padded(self, width: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        more = max(width - len(self.count), 0)
        count, mean, squares = (np.pad(each, (0, more)) for each in (self.count, self.mean, self.squares))
        return count, mean, squares


def scale_of(kind: Scaling, state: Mapping[str, Array] | None = None) -> Scale:
    """The scale of this kind, at its start or as it was stored."""
    return WithinQuery() if kind == "query" else Running(**(state or {}))
