"""Failures of a list, in words that say nothing about a user."""

from __future__ import annotations

from rankloop.service.store import StoreError


class ListFailure(Exception):
    """A list that cannot be made, with the reason in words of our own, which may be shown."""


def describe_failure(error: Exception) -> str:
    """Name the kind of a failure, never its text, which may hold what belongs to a person.

    >>> describe_failure(ValueError("Anna")), describe_failure(StoreError("postgresql://..."))
    ('ValueError: the list could not be made', 'store: it cannot be written')
    """
    if isinstance(error, ListFailure):
        return str(error)
    if isinstance(error, StoreError):
        return "store: it cannot be written"
    return f"{type(error).__name__}: the list could not be made"
