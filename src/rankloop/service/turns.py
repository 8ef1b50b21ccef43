"""Ranking and learning take turns.

NumPy lets go of the interpreter at every step. Two threads that compute at the same time hand it to and fro
dozens of times for each list, which costs more than the list. So whoever learns waits while a list is made,
and a list waits for a lesson to end: but not for long, because some lessons take a while.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 0.001  # seconds that a list waits for a lesson


class Turns:
    """Two kinds of turns: `lesson` waits until it has one, `list` only for a moment.

    >>> turns = Turns()
    >>> with turns.lesson(), turns.list():  # has waited, and goes on all the same
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def lesson(self) -> Iterator[None]:
        """Learn something, while no list is made that takes turns."""
        with self._lock:
            yield

    @contextmanager
    def list(self) -> Iterator[None]:
        """Make a list; with a lesson beside it, if that does not end."""
        mine = self._lock.acquire(timeout=PATIENCE)
        try:
            yield
        finally:
            if mine:
                self._lock.release()
