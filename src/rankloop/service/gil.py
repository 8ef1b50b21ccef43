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

    >>> turns = Turns()
    >>> with turns.take(LESSON), turns.take(LIST):  # has waited, and goes on all the same
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def take(self, patience: float) -> Iterator[None]:
        """Compute when it is one's turn, or when so many seconds have passed."""
        mine = self._lock.acquire(timeout=patience)
        try:
            yield
        finally:
            if mine:
                self._lock.release()
