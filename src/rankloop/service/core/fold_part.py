"""Part of a fold: something that follows from a ranker's log, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rankloop.service.core.configuration import Configuration
from rankloop.service.store import Logged
from rankloop.types import Array


@dataclass(frozen=True, slots=True, eq=False)
class PartState:
    """What a snapshot keeps of a part: a body for JSON, and named arrays."""

    body: Mapping[str, Any]
    arrays: Mapping[str, Array] = field(default_factory=dict)


class FoldPart(Protocol):
    """A part: the learned model is one, and an extension may bring another.

    The fold moves `position` once an entry was applied, so that a part meets no entry twice, whatever fails
    in another part.
    """

    name: str
    position: int  # the last entry applied

    @property
    def needs_lists(self) -> bool:
        """Whether it also wants lists that were not clicked."""
        ...

    @property
    def closes_next(self) -> float:
        """When something falls due without a new entry; infinite if nothing waits."""
        ...

    def apply(self, entry: Logged, before: Configuration, after: Configuration) -> None:
        """Take in the next entry, under the configurations before and after it."""
        ...

    def value(self) -> object:
        """Return what readers may see; it never changes."""
        ...

    def snapshot(self) -> PartState:
        """Return all that does not follow from the decisions alone."""
        ...

    def restore(self, state: PartState, at: Configuration) -> None:
        """Go on from a snapshot, which was made under a configuration."""
        ...
