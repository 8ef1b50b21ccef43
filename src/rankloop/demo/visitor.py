"""Visitor state of the demo: the last order of a search, and what the last click or thumbs taught."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from rankloop.demo.lesson import Lesson
from rankloop.service import RankResponse

COOKIE = "rankloop_demo"
MOST = 1000  # visitors remembered
SEARCHES = 100  # of each


@dataclass(frozen=True, slots=True)
class Clicked:
    """A click, and what was learned from it."""

    object_id: str
    position: int
    lesson: Lesson


@dataclass(frozen=True, slots=True)
class Rated:
    """Thumbs in a list, and what was learned from them."""

    up: int
    down: int
    lesson: Lesson


@dataclass(eq=False)
class Visitor:
    """Someone with a cookie."""

    name: str
    clicked: Clicked | None = None
    rated: Rated | None = None
    positions: OrderedDict[str, Mapping[str, int]] = field(default_factory=OrderedDict)  # by search

    def moves(self, text: str, response: RankResponse) -> dict[str, int | None]:
        """How many positions each result went up since the last look; None: it was not there."""
        now = {result.object_id: result.position for result in response.ranking}
        before = self.positions.get(text, now)
        self.positions[text] = now
        while len(self.positions) > SEARCHES:
            self.positions.popitem(last=False)
        return {name: before[name] - position if name in before else None for name, position in now.items()}


class Visitors:
    """Everyone who was here lately.

    >>> visitors = Visitors()
    >>> me = visitors.of(None)
    >>> visitors.of(me.name) is me
    True
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, Visitor] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, cookie: str | None) -> Visitor:
        """Whom a cookie belongs to; a new one if nobody."""
        with self._lock:
            found = self._known.get(cookie or "")
            if found is None:
                found = Visitor(secrets.token_urlsafe(16))
                self._known[found.name] = found
            self._known.move_to_end(found.name)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
            return found
