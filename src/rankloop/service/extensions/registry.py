"""Registry of the extensions of this package, in the order in which they change a list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from rankloop.service.core.extension import Registry

NAMES = ("promise", "trial", "fair", "guardrails", "recommend")


@cache
def load_registry(names: Sequence[str] = NAMES) -> Registry:
    """Load the extensions of these names, each from its folder.

    A promise comes first, because it may force the caller's order, which nothing changes then. A trial puts
    another list in the policy's place, or mixes both. Fair exposure merges what is still the policy's.
    Guardrails bound every list that is not the caller's.

    >>> [each.name for each in load_registry(("fair", "guardrails")).extensions]
    ['fair', 'guardrails']
    """
    rooms = [import_module(f"rankloop.service.extensions.{name}.extension") for name in names]
    return Registry(tuple(room.EXTENSION for room in rooms))
