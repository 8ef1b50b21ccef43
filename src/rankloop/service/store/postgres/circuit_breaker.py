"""Circuit breaker: while a database cannot be reached nobody waits for it, and one at a time tries again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rankloop.service.store.store import ConnectionLost

FIRST, MOST = 0.1, 2.0  # seconds between two tries; twice as many after each
TRY = 6.0  # seconds that a try may take before another one begins


class CircuitBreaker:
    """Lets everything pass until told that nothing does; then says no at once, but for a try now and then.

    >>> now = [0.0]
    >>> breaker = CircuitBreaker(clock=lambda: now[0])
    >>> breaker.attempt()
    >>> breaker.open("nobody answers")
    >>> breaker.attempt()
    Traceback (most recent call last):
    rankloop.service.store.store.ConnectionLost: nobody answers
    >>> now[0] = 1.0
    >>> breaker.attempt()  # this is the try; until it has ended nobody else may
    >>> breaker.due
    False
    >>> breaker.close()
    >>> breaker.reason, breaker.due
    ('', True)
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.reason = ""  # why nothing passes; empty: everything does
        self._clock, self._lock = clock, threading.Lock()
        self._pause, self._next = FIRST, 0.0

    @property
    def due(self) -> bool:
        """Whether something may pass now, if only as a try."""
        return not self.reason or self._clock() >= self._next

    def attempt(self) -> None:
        """Pass, or raise; whoever passes then says how it went, by `open` or `close`."""
        with self._lock:
            if not self.due:
                raise ConnectionLost(self.reason)
            if self.reason:
                self._next = self._clock() + TRY

    def open(self, reason: str) -> None:
        """It did not go well: nobody passes for a while, and for a longer one each time."""
        with self._lock:
            self._pause = min(2 * self._pause, MOST) if self.reason else FIRST
            self.reason, self._next = reason, self._clock() + self._pause

    def close(self) -> None:
        """It went well: everything passes."""
        if self.reason:
            with self._lock:
                self.reason = ""
