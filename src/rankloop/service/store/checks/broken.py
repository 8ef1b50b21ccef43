"""What a check says when a store breaks the contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class ContractBroken(AssertionError):
    """A store did what no store may do."""


def must(holds: object, law: str) -> None:
    """Say which law was broken, unless it holds."""
    if not holds:
        raise ContractBroken(law)


def equal(found: object, expected: object, law: str) -> None:
    """Say which law was broken, and how, unless two values are equal."""
    must(found == expected, f"{law}: expected {expected!r}, found {found!r}")


@contextmanager
def refused(error: type[Exception], law: str) -> Iterator[None]:
    """Say which law was broken, unless what is done here is refused with the right error."""
    try:
        yield
    except error:
        return
    raise ContractBroken(f"{law}: expected {error.__name__}, found nothing wrong")
