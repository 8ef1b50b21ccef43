"""Retry of events that arrive before another process has written their list."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

from rankloop.service.store import EventLog, StoreError, Transaction

T = TypeVar("T")
PAUSES = (0.3, 1.0)  # seconds; lists are written within a fraction of one, as a rule


class ListNotWrittenYet(Exception):
    """An event names a list that is not there, and it is not the last time to look."""


def submit_with_retry(store: EventLog, job: Callable[[Transaction, bool], T], *, patient: bool) -> Future[T]:
    """Submit a job that learns whether it is its last chance; `ListNotWrittenYet` has it tried again later.

    If this process is alone on its store, a list is in the log before any job about it, so the first chance
    is the last one. A future that is cancelled before the job has succeeded undoes the job.
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
            if isinstance(error, ListNotWrittenYet):
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
