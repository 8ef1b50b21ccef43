"""Waiter for writes: whoever gives up knows what was written, and nothing more is written for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias, TypeVar

T = TypeVar("T")
Fate: TypeAlias = Literal["nothing", "written", "unknown"]


class Waiter:
    """One who waits for the writes of a request, one after the other, and may give up.

    What is still in the queue then is taken out of it, and what would be written later is refused. A write
    that has begun cannot be called back: whether it becomes durable is not known at that moment.

    >>> waiter, slow = Waiter(), Future()
    >>> with waiter.waits():
    ...     waiter.give_up(), slow.cancelled()
    ('nothing', False)
    >>> waiter.wait(lambda: slow)
    Traceback (most recent call last):
    ...
    concurrent.futures._base.CancelledError: nobody waits for it any more
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gave_up = self._written = False
        self._future: Future[object] | None = None

    @contextmanager
    def waits(self) -> Iterator[None]:
        """What this thread writes meanwhile is written for this waiter."""
        token = CURRENT.set(self)
        try:
            yield
        finally:
            CURRENT.reset(token)

    def wait(self, submit: Callable[[], Future[T]]) -> T:
        """Have something written, and wait for it."""
        with self._lock:
            if self._gave_up:
                raise CancelledError("nobody waits for it any more")
            future = submit()
            self._future = future  # type: ignore[assignment]
        try:
            found = future.result()
            self._written = True
        finally:
            self._future = None
        return found

    def give_up(self) -> Fate:
        """Wait no longer; what has become of everything that was to be written."""
        with self._lock:
            self._gave_up, future = True, self._future
        if future is not None and not future.cancel() and not self._written:
            return "unknown"
        return "written" if self._written else "nothing"


CURRENT: ContextVar[Waiter | None] = ContextVar("waiter", default=None)
