"""Candidates of a request as columns: features by name become a matrix once, and stay one."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.short_text import check_texts
from rankloop.types import FloatArray

LARGEST = 1e100  # so that sums of squares stay finite
NUMBERS = (int, float, np.number, np.bool_, type(None))  # a bool is an int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Candidates:
    """Candidates in the caller's own order; `values[i, j]` is feature `names[j]` of candidate `i`.

    >>> candidates = Candidates(object_ids=["a", "b"], names=["price"], values=np.array([[1.5], [np.nan]]))
    >>> candidates.by_column({"age": 0, "price": 1}, 2).tolist()
    [[nan, 1.5], [nan, nan]]
    """

    object_ids: Sequence[str]  # [n]
    names: Sequence[str]  # [m], each once
    values: FloatArray  # [n, m], NaN = missing
    pinned_at: Sequence[int] = ()  # [n] positions from 1, 0 = free; or empty
    groups: Sequence[str] = ()  # [n] or empty
    titles: Sequence[str] = ()  # [n] or empty

    def __post_init__(self) -> None:
        """Refuse what cannot be an id or a number."""
        check_texts("object_id", self.object_ids)
        check_texts("group", self.groups, empty=True)
        check_texts("title", self.titles, empty=True)
        if self.values.size and not (self.values.min() >= -LARGEST and self.values.max() <= LARGEST):
            self._check_size()  # or something is missing, which is neither

    def new_names(self, schema: Mapping[str, int]) -> list[str]:
        """Features that are not in the schema yet, in the order they are sent."""
        names = [name for name in self.names if name not in schema]
        check_texts("a feature's name", names)
        return names

    def by_column(self, schema: Mapping[str, int], width: int) -> FloatArray:
        """The features by column of the schema, NaN where missing or retired, [n, width]."""
        columns = [schema[name] for name in self.names]
        if columns == list(range(width)):  # as a rule: who sends them always does so in one order
            return self.values
        table = np.full((len(self.object_ids), width), np.nan)
        table[:, columns] = self.values
        return table

    def _check_size(self) -> None:
        for row, column in np.argwhere(np.abs(self.values) > LARGEST)[:1].tolist():
            raise _refused(self.object_ids[row], self.names[column], float(self.values[row, column]))


def columns(candidates: Sequence[Candidate]) -> Candidates:
    """Candidates with any features in any order, as columns.

    >>> columns([Candidate("a", {"age": 2}), Candidate("b", {"price": 1.5})]).values.tolist()
    [[2.0, nan], [nan, 1.5]]
    """
    for each in candidates:
        if not isinstance(each, Candidate):
            raise RequestError(f"candidates must be Candidate objects, found {repr(each)[:50]}")
    kinds = list(dict.fromkeys([tuple(each.features) for each in candidates]))
    names = list(dict.fromkeys(chain.from_iterable(kinds)))
    if len(kinds) == 1:  # as a rule, all have the same features
        values = _numbers(candidates, kinds[0])
    else:
        column = {name: number for number, name in enumerate(names)}
        values = np.full((len(candidates), len(names)), np.nan)
        for kind in kinds:
            rows = [row for row, each in enumerate(candidates) if tuple(each.features) == kind]
            found = _numbers([candidates[row] for row in rows], kind)
            values[np.ix_(rows, [column[name] for name in kind])] = found
    pins, groups = [each.pinned_at or 0 for each in candidates], [each.group for each in candidates]
    titles = [each.title for each in candidates]
    return Candidates(
        object_ids=[each.object_id for each in candidates],
        names=names,
        values=values,
        pinned_at=pins if any(pins) else (),
        groups=groups if any(groups) else (),
        titles=titles if any(titles) else (),
    )


def _numbers(candidates: Sequence[Candidate], names: Sequence[str]) -> FloatArray:
    """The values of candidates that have the same features, [n, names]; NaN only where there is none."""
    shape = len(candidates), len(names)
    try:  # an array takes plain numbers only, and takes them quickly
        flat: list[Any] = [*chain.from_iterable(each.features.values() for each in candidates)]
        table: FloatArray = np.array(array("d", flat)).reshape(shape)
    except (OverflowError, TypeError):
        table = _numbers_or_none(candidates, names).reshape(shape)
    if np.isnan(table).any():
        for row, column in np.argwhere(np.isnan(table)).tolist():
            value = candidates[row].features[names[column]]
            if value is not None:
                raise _refused(candidates[row].object_id, names[column], value)
    return table


def _numbers_or_none(candidates: Sequence[Candidate], names: Sequence[str]) -> FloatArray:
    """The same where some are missing, or are no numbers at all."""
    values = [list(each.features.values()) for each in candidates]
    types = {each for row in values for each in set(map(type, row))}
    try:
        if any(not issubclass(each, NUMBERS) for each in types):
            raise TypeError
        return np.array(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise next(_wrong(candidates, names)) from None


def _wrong(candidates: Sequence[Candidate], names: Sequence[str]) -> Any:
    """What cannot be a number, in words."""
    for each in candidates:
        for name in names:
            value: Any = each.features[name]
            try:
                fits = isinstance(value, NUMBERS) and (value is None or abs(float(value)) <= LARGEST)
            except (OverflowError, TypeError, ValueError):
                fits = False
            if not fits:
                yield _refused(each.object_id, name, value)


def _refused(object_id: str, name: str, value: object) -> RequestError:
    return RequestError(
        f"{object_id!r}: feature {name!r} must be a number up to {LARGEST:g} or null, "
        f"found {repr(value)[:50]}"
    )
