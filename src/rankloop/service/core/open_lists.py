"""Open lists: lists that got clicks or grades, and wait until their window closes."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from rankloop.service.store import Event


@dataclass(slots=True)
class OpenList:
    """A list that still takes clicks and grades."""

    number: int  # its entry
    shown_at: float
    closes_at: float
    done: dict[int, dict[str, float | None]] = field(
        default_factory=dict
    )  # by position and action: its value


class OpenLists:
    """Lists that wait for their window, by id; the one that closes first comes first.

    >>> lists = OpenLists()
    >>> for number, name in enumerate(["a", "b"], start=1):
    ...     lists.open(name, number, shown_at=0.0, closes_at=10.0 / number)
    >>> lists.next_due(until=9.0), lists.closes_next, len(lists)
    ('b', 5.0, 2)
    >>> lists.remove_next()
    >>> lists.next_due(until=9.0)
    """

    def __init__(self) -> None:
        self._lists: dict[str, OpenList] = {}
        self._closing: list[tuple[float, int, str]] = []  # a heap: closes_at, number of the list, its id

    def __len__(self) -> int:
        return len(self._lists)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._lists

    @property
    def closes_next(self) -> float:
        """When the next list closes; infinite if none is open."""
        return self._closing[0][0] if self._closing else float("inf")

    def open(self, query_id: str, number: int, *, shown_at: float, closes_at: float) -> None:
        """Have a list wait until its window closes."""
        self._lists[query_id] = OpenList(number, shown_at, closes_at)
        heapq.heappush(self._closing, (closes_at, number, query_id))

    def record(self, event: Event) -> None:
        """Add what was done with a result of an open list; of an action, the last value counts."""
        if event.position is not None:
            done = self._lists[event.query_id].done.setdefault(event.position, {})
            done[event.action] = event.value

    def actions(self, query_id: str) -> Mapping[int, Mapping[str, float | None]]:
        """Return what was done with an open list: by position and action, the value."""
        return self._lists[query_id].done

    def next_due(self, until: float) -> str | None:
        """Return the list that closes first, if it closes by a moment."""
        return self._closing[0][2] if self.closes_next <= until and self._closing else None

    def find_due(self, until: float) -> list[int]:
        """Return the entries of all lists that close by a moment, the first to close first."""
        found, places = [], [0]
        while places:  # below one that closes later, all do
            place = places.pop()
            if place < len(self._closing) and self._closing[place][0] <= until:
                found.append(self._closing[place])
                places += 2 * place + 1, 2 * place + 2
        return [number for _, number, _ in sorted(found)]

    def remove_next(self) -> None:
        """Remove the list that closes first: it was learned, or refused."""
        _, _, query_id = heapq.heappop(self._closing)
        del self._lists[query_id]

    def extend_windows(self, seconds: float) -> None:
        """Let open lists take clicks as long as a new window says; a shorter one leaves them as they are."""
        for each in self._lists.values():
            each.closes_at = max(each.closes_at, each.shown_at + seconds)
        self._closing = [(each.closes_at, each.number, name) for name, each in self._lists.items()]
        heapq.heapify(self._closing)

    def to_json(self) -> dict[str, Any]:
        """Return all of them as JSON, by id."""
        return {
            name: [
                each.number,
                each.shown_at,
                each.closes_at,
                [[at, dict(sorted(did.items()))] for at, did in each.done.items()],
            ]
            for name, each in self._lists.items()
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the lists that were kept."""
        found = cls()
        for name, (number, shown_at, closes_at, done) in data.items():
            found.open(name, number, shown_at=shown_at, closes_at=closes_at)
            found._lists[name].done |= {at: dict(did) for at, did in done}
        return found
