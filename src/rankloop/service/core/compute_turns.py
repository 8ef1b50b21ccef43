"""Turns at the GIL: ranking and learning do not compute at the same time.

NumPy lets go of the interpreter at every step. Two threads that compute at the same time hand it to and fro
dozens of times for each list, which costs more than the list. So whoever learns waits while a list is made,
and a list waits for a lesson to end: but not for long, because either may take a while, or be stuck.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LIST, LESSON = 0.001, 0.02  # seconds that each waits for the other


class Turns:
    """Has one thread compute at a time, if that can be had without waiting long.

    A thread whose turn it is and that takes another within it, as a lesson does that has the log learned
    again, waits for nobody but those who wait: its first turn is over when the second begins.

    >>> turns = Turns()
    >>> with turns.take(LESSON), turns.take(LESSON):
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._whose: int | None = None  # the thread whose turn it is

    @contextmanager
    def take(self, patience: float) -> Iterator[None]:
        """Compute when it is one's turn, or when so many seconds have passed."""
        me = threading.get_ident()
        self._leave(me)
        if self._lock.acquire(timeout=patience):
            self._whose = me
        try:
            yield
        finally:
            self._leave(me)

    def _leave(self, me: int) -> None:
        """Nobody but the thread itself ends its turn, so that looking first is safe."""
        if self._whose == me:
            self._whose = None
            self._lock.release()
