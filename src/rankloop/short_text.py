"""Validation of short texts: what every store can keep."""

from __future__ import annotations

from collections.abc import Sequence

from rankloop.errors import RequestError

LONGEST_NAME = 200


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
    """Check many; together, because as a rule all of them are fine.

    >>> check_texts("object_id", ["a", "b", ""])
    Traceback (most recent call last):
    ...
    rankloop.errors.RequestError: object_id must be a text of 1 to 200 characters, found a text of 0
    """
    try:
        lengths = list(map(len, values))  # type: ignore[arg-type]
        fine = "".join(values).isprintable()  # type: ignore[arg-type]
    except TypeError:
        fine, lengths = False, []
    if not fine or max(lengths, default=0) > LONGEST_NAME or (not empty and not all(lengths)):
        for value in values:
            check_text(name, value, empty=empty)
