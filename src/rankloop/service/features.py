"""Features by name: candidates come in with any features in any order, and leave as rows of a matrix."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from rankloop.types import FloatArray, RankloopError

LARGEST = 1e100  # so that sums of squares stay finite
LONGEST_NAME = 200
NUMBERS = (int, float, np.number, np.bool_, type(None))  # a bool is an int


class RequestError(RankloopError, ValueError):
    """A request that says something impossible; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that can be shown: an id, features by name, and perhaps a place where it must stand.

    A feature that is `None`, or not there, is missing.
    """

    object_id: str
    features: Mapping[str, float | None] = field(default_factory=dict)
    pinned_at: int | None = None  # from 1
    group: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be an id, a name or a place."""
        check_text("object_id", self.object_id)
        if type(self.features) is not dict and not isinstance(self.features, Mapping):
            found = type(self.features).__name__
            raise RequestError(f"{self.object_id!r}: features must map names to numbers, found {found}")
        pin: object = self.pinned_at
        if pin is not None and not (isinstance(pin, int) and not isinstance(pin, bool) and pin >= 1):
            raise RequestError(f"{self.object_id!r}: pinned_at must be a place from 1, found {pin!r}")
        check_text("group", self.group, empty=True)


def check_text(name: str, value: object, *, empty: bool = False, longest: int = LONGEST_NAME) -> None:
    """Refuse what is no short text, or none that every store can keep."""
    if not isinstance(value, str) or len(value) > longest or not (value or empty):
        found = f"a text of {len(value)}" if isinstance(value, str) else repr(value)[:50]
        least = 0 if empty else 1
        raise RequestError(f"{name} must be a text of {least} to {longest} characters, found {found}")
    if not value.isprintable() and any(
        character == "\0" or "\ud800" <= character <= "\udfff" for character in value
    ):
        raise RequestError(
            f"{name} must not hold null characters or halves of characters, found {value[:50]!r}"
        )


def new_names(candidates: Sequence[Candidate], schema: Mapping[str, int]) -> list[str]:
    """Features that are not in the schema yet, in alphabetical order.

    >>> new_names([Candidate("a", {"price": 1.0, "age": 2.0})], {"price": 0})
    ['age']
    """
    names = {name for kind in kinds(candidates) for name in kind if name not in schema}
    for name in names:
        check_text("a feature's name", name)
    return sorted(names)


def matrix(candidates: Sequence[Candidate], schema: Mapping[str, int]) -> FloatArray:
    """The candidates' features by column of the schema, NaN where missing, [n, width].

    >>> matrix([Candidate("a", {"age": 2}), Candidate("b", {"price": 1.5})], {"price": 0, "age": 1}).tolist()
    [[nan, 2.0], [1.5, nan]]
    """
    table = np.full((len(candidates), len(schema)), np.nan)
    found = kinds(candidates)
    for names in found:
        columns = [schema[name] for name in names]
        if len(found) == 1:  # as a rule
            table[:, columns] = _numbers(candidates, names)
        else:
            rows = [row for row, each in enumerate(candidates) if tuple(each.features) == names]
            table[np.ix_(rows, columns)] = _numbers([candidates[row] for row in rows], names)
    return table


def kinds(candidates: Sequence[Candidate]) -> set[tuple[str, ...]]:
    """The names of features that come together; as a rule, all candidates have the same."""
    first = list(candidates[0].features)
    if all(list(each.features) == first for each in candidates):
        return {tuple(first)}
    return {tuple(each.features) for each in candidates}


def _numbers(candidates: Sequence[Candidate], names: Sequence[str]) -> FloatArray:
    """The values of candidates that have the same features, [n, names]."""
    try:  # an array takes plain numbers only, and takes them quickly
        values: list[Any] = [*chain.from_iterable(each.features.values() for each in candidates)]
        flat = array("d", values)
    except (OverflowError, TypeError):
        return _numbers_or_none(candidates, names)
    table: FloatArray = np.array(flat).reshape(len(candidates), len(names))
    if not (np.abs(table) <= LARGEST).all():
        raise _refused(candidates, names)
    return table


def _numbers_or_none(candidates: Sequence[Candidate], names: Sequence[str]) -> FloatArray:
    """The same where some are missing; NaN for those."""
    values = [list(each.features.values()) for each in candidates]
    types = {each for row in values for each in set(map(type, row))}
    if any(not issubclass(each, NUMBERS) for each in types):
        raise _refused(candidates, names)
    try:
        table = np.array(values, dtype=np.float64).reshape(len(candidates), len(names))
    except (OverflowError, TypeError, ValueError) as error:
        raise _refused(candidates, names) from error
    with np.errstate(invalid="ignore"):
        fits = np.abs(table) <= LARGEST
    if not fits.all() and not all(values[row][column] is None for row, column in np.argwhere(~fits).tolist()):
        raise _refused(candidates, names)
    return table


def _refused(candidates: Sequence[Candidate], names: Sequence[str]) -> RequestError:
    """The first value that is not a number we can use, in words."""
    for each in candidates:
        for name in names:
            value: Any = each.features[name]
            try:
                number = 0.0 if value is None else float(value)
                fits = isinstance(value, NUMBERS) and abs(number) <= LARGEST
            except (OverflowError, TypeError, ValueError):
                fits = False
            if not fits:
                return RequestError(
                    f"{each.object_id!r}: feature {name!r} must be a number up to {LARGEST:g} or null, "
                    f"found {repr(value)[:50]}"
                )
    return RequestError("features must be numbers")
