"""What a caller may ask to rank, and the texts that every store can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankloop.types import RankloopError

LONGEST_NAME = 200


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


def check_texts(name: str, values: Sequence[object], *, empty: bool = False) -> None:
    """The same for many; together, because as a rule all of them are fine.

    >>> check_texts("object_id", ["a", "b", ""])
    Traceback (most recent call last):
    ...
    rankloop.service.features.RequestError: object_id must be a text of 1 to 200 characters, found a text of 0
    """
    try:
        lengths = list(map(len, values))  # type: ignore[arg-type]
        fine = "".join(values).isprintable()  # type: ignore[arg-type]
    except TypeError:
        fine, lengths = False, []
    if not fine or max(lengths, default=0) > LONGEST_NAME or (not empty and not all(lengths)):
        for value in values:
            check_text(name, value, empty=empty)
