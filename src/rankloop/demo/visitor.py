"""Visitor state of the demo: what the last click of someone taught."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass

from rankloop.demo.learned_words import Lesson

COOKIE = "rankloop_demo"
MOST = 1000  # visitors remembered


@dataclass(frozen=True, slots=True)
class Clicked:
    """A click, and what was learned from it."""

    object_id: str
    position: int
    lesson: Lesson


@dataclass(eq=False)
class Visitor:
    """Someone with a cookie, and what their last click taught."""

    name: str
    clicked: Clicked | None = None


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
