"""Patience with events that overtake their list, which another process is just writing down."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

from rankloop.service.store import EventLog, StoreError, Transaction

T = TypeVar("T")
PAUSES = (0.3, 1.0)  # seconds; lists are written within a fraction of one, as a rule


class ListUnderWay(Exception):
    """An event names a list that is not there, and it is not the last time to look."""


def patiently(store: EventLog, job: Callable[[Transaction, bool], T], *, patient: bool) -> Future[T]:
    """Have a job done that is told whether it is its last chance; `ListUnderWay` has it done again later.

    Without patience, what was shown by this process is in the log before any job that is about it, so the
    first chance is the last one. Whoever cancels the future before the job has succeeded has it never done.
    """
    if not patient:
        return store.submit(lambda transaction: job(transaction, True))
    chances = _Chances(store, job)
    chances.take(0)
    return chances.outcome


class _Chances(Generic[T]):
    """A job with several chances, and one future."""

    def __init__(self, store: EventLog, job: Callable[[Transaction, bool], T]) -> None:
        self._store, self._job = store, job
        self.outcome: Future[T] = Future()

    def take(self, number: int) -> None:
        """Have it done, for the last time or not."""

        def job(transaction: Transaction) -> T:
            found = self._job(transaction, number == len(PAUSES))
            if not self.outcome.set_running_or_notify_cancel():
                raise CancelledError  # and what it did is undone
            return found

        def done(future: Future[T]) -> None:
            error = future.exception()
            if isinstance(error, ListUnderWay):
                self._later(number)
            elif error:
                self._fail(error)
            else:
                self.outcome.set_result(future.result())

        self._store.submit(job).add_done_callback(done)

    def _later(self, number: int) -> None:
        timer = threading.Timer(PAUSES[number], self._again, (number + 1,))
        timer.daemon = True
        timer.start()

    def _again(self, number: int) -> None:
        try:
            if not self.outcome.cancelled():
                self.take(number)
        except StoreError as error:  # it is closed, or away
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if self.outcome.running() or self.outcome.set_running_or_notify_cancel():
            self.outcome.set_exception(error)
