"""Client values: what is sent, what comes back, and the caller's own order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankloop.errors import RankloopError


class ClientError(RankloopError):
    """A request that the service refused, or an answer that did not come."""

    def __init__(self, sentence: str, *, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status  # of HTTP; 0: there was no answer


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate: its id, its features by name, and perhaps a position where it must stand."""

    object_id: str
    features: Mapping[str, float | None] = field(default_factory=dict)
    pinned_at: int | None = None  # from 1
    group: str | None = None
    title: str = ""  # for people who look at past lists

    def to_json(self) -> dict[str, Any]:
        """As the service takes it."""
        sent = {
            "object_id": self.object_id,
            "features": dict(self.features),
            "pinned_at": self.pinned_at,
            "group": self.group,
        }
        return sent | ({"title": self.title} if self.title else {})


@dataclass(frozen=True, slots=True)
class RankedList:
    """A list to show, and the id under which its clicks are to be sent."""

    query_id: str  # empty: the service was not reached, and wants to hear nothing about this list
    object_ids: Sequence[str]  # best first
    fallback: str | None = None  # why it is your own order
    answer: Mapping[str, Any] = field(default_factory=dict)  # everything the service said


def own_order(items: Sequence[Item], k: int, reason: str) -> RankedList:
    """The caller's own order, around the pins.

    >>> own_order([Item("a"), Item("b"), Item("c", pinned_at=1)], 2, "no service").object_ids
    ['c', 'a']
    """
    pinned = {item.pinned_at: item.object_id for item in items if item.pinned_at}
    free = iter([item.object_id for item in items if not item.pinned_at])
    names = (pinned.get(position) or next(free, None) for position in range(1, len(items) + 1))
    return RankedList("", [each for each in names if each is not None][:k], reason)
