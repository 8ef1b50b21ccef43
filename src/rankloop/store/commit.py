"""Group commit: one thread writes, and whatever arrives while it does shares the next transaction."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias, TypeVar

from rankloop.store.base import Job, StoreError

T = TypeVar("T")
Outcome: TypeAlias = tuple[Any, BaseException | None]
Ticket: TypeAlias = tuple[Job[Any], "Future[Any]"]

LARGEST_GROUP = 1024  # jobs in one transaction
LONGEST_QUEUE = 20_000  # jobs waiting: beyond it, callers wait, so that memory stays bounded


class GroupCommitter:
    """Runs jobs in transactions on a thread of its own.

    `transact` runs a group of jobs in one transaction and returns their outcomes once they are durable. There
    is no waiting for company: a job alone is written at once, and the jobs that arrive while the disk is busy
    are the next group. So the slower the disk, the larger the groups.
    """

    def __init__(self, transact: Callable[[Sequence[Job[Any]]], Sequence[Outcome]], *, name: str) -> None:
        self.groups = self.jobs = 0
        self._transact = transact
        self._queue: queue.Queue[Ticket | None] = queue.Queue(LONGEST_QUEUE)
        self._closing = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Job[T]) -> Future[T]:
        """Put a job in the queue."""
        if threading.current_thread() is self._thread:
            raise StoreError("a job must not submit another one: it would wait for itself")
        future: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise StoreError("the store is closed")
            self._queue.put((job, future))
        return future

    def waiting(self) -> int:
        """How many jobs are in the queue."""
        return self._queue.qsize()

    def close(self) -> None:
        """Do what was submitted, then stop."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (ticket := self._queue.get()) is not None:
            group = [ticket]
            last = self._gather(group)
            self._commit(group)
            if last:
                return

    def _gather(self, group: list[Ticket]) -> bool:
        """Take whatever waits; whether the end of the queue was among it."""
        while len(group) < LARGEST_GROUP:
            try:
                ticket = self._queue.get_nowait()
            except queue.Empty:
                return False
            if ticket is None:
                return True
            group.append(ticket)
        return False

    def _commit(self, group: Sequence[Ticket]) -> None:
        try:
            outcomes = self._transact([job for job, _ in group])
        except Exception as error:  # nothing of the group is durable, and everyone who waits must know
            failed = StoreError(f"nothing could be written: {error}")
            failed.__cause__ = error
            outcomes = [(None, failed)] * len(group)
        self.groups, self.jobs = self.groups + 1, self.jobs + len(group)
        for (_, future), (result, trouble) in zip(group, outcomes, strict=True):
            if trouble is None:
                future.set_result(result)
            else:
                future.set_exception(trouble)
