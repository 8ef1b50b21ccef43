"""Group commit: one thread writes, and whatever arrives while it does shares the next transaction."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from rankloop.service.store.store import (
    CommitUnknown,
    ConnectionLost,
    Job,
    StoreBusy,
    StoreError,
    Transaction,
)

T = TypeVar("T")
Outcome: TypeAlias = tuple[Any, BaseException | None]

LARGEST_GROUP = 1024  # jobs in one transaction
LONGEST_QUEUE = 20_000  # jobs waiting: one more is refused, so that memory stays bounded and nobody hangs
LINGER = 0.2  # seconds that jobs nobody waits for may wait for others


@dataclass(slots=True, eq=False)
class Ticket:
    """A job in the queue, and the future of whoever waits for it: it can be cancelled until it is begun."""

    job: Job[Any]
    future: Future[Any] = field(default_factory=Future)
    begun: bool = False

    def __call__(self, transaction: Transaction) -> Any:
        """Do the job, unless it was cancelled."""
        if not self.begin():
            raise CancelledError
        return self.job(transaction)

    def begin(self) -> bool:
        """Whether it is to be done; from now on it cannot be cancelled."""
        self.begun = self.begun or self.future.set_running_or_notify_cancel()
        return self.begun

    def settle(self, result: Any, trouble: BaseException | None) -> None:
        """Tell whoever waits."""
        if self.future.cancelled() or not self.begin():
            return
        if trouble is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(trouble)


class GroupCommitter:
    """Runs jobs in transactions on a thread of its own.

    `transact` runs a group of jobs in one transaction and returns their outcomes once they are durable. A job
    that somebody waits for is written at once, with whatever is there; the jobs that arrive while the disk is
    busy are the next group. So the slower the disk, the larger the groups.
    """

    def __init__(self, transact: Callable[[Sequence[Job[Any]]], Sequence[Outcome]], *, name: str) -> None:
        self.groups = self.jobs = 0
        self._began: float | None = None  # the group that is being written, by a clock that never jumps
        self._transact = transact
        self._queue: deque[Ticket] = deque()
        self._changed = threading.Condition(threading.Lock())
        self._urgent = self._closed = False
        self._thread = self._start(name)

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Put a job in the queue; returns at once, also when the queue is full: then with an error."""
        self.refuse_inside_a_job("submit another one")
        ticket = Ticket(job)
        with self._changed:
            if self._closed:
                raise StoreError("the store is closed")
            if len(self._queue) >= LONGEST_QUEUE:
                raise StoreBusy(f"{LONGEST_QUEUE:,} jobs wait to be written: the disk is too slow, or stuck")
            self._queue.append(ticket)
            if len(self._queue) == 1 or (urgent and not self._urgent):
                self._changed.notify()
            self._urgent |= urgent
        return ticket.future

    def _start(self, name: str) -> threading.Thread | None:
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        thread.start()
        return thread

    def refuse_inside_a_job(self, what: str) -> None:
        """Say no to what a job must not do."""
        if threading.current_thread() is self._thread:
            raise StoreError(f"a job must not {what}: it would wait for itself")

    def waiting(self) -> int:
        """How many jobs are in the queue."""
        return len(self._queue)

    def busy(self) -> float:
        """For how many seconds the group at hand has been under way; 0: there is none."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def close(self) -> None:
        """Do what was submitted, then stop."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while group := self._gather():
            self._began = time.monotonic()
            self._commit(group)
            self._began = None

    def _gather(self) -> list[Ticket]:
        """The next group; empty at the end."""
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            if not self._urgent and not self._closed:
                self._changed.wait(LINGER)
            group = [self._queue.popleft() for _ in range(min(len(self._queue), LARGEST_GROUP))]
            self._urgent &= bool(self._queue)
        return group

    def _commit(self, group: Sequence[Ticket]) -> None:
        try:
            outcomes = self._transact(group)
        except (CommitUnknown, ConnectionLost) as error:
            outcomes = [(None, error)] * len(group)
        except Exception as error:  # nothing of the group is durable, and everyone who waits must know
            failed = StoreError(f"nothing could be written: {error}")
            failed.__cause__ = error
            outcomes = [(None, failed)] * len(group)
        self.groups, self.jobs = self.groups + 1, self.jobs + len(group)
        for ticket, (result, trouble) in zip(group, outcomes, strict=True):
            ticket.settle(result, trouble)


class ImmediateCommitter(GroupCommitter):
    """Runs each job at once, in a transaction of its own, on the thread that submits it.

    For a store that never waits for the disk: there a group is no faster, and whoever reads after `submit`
    finds what the job wrote.
    """

    def __init__(self, transact: Callable[[Sequence[Job[Any]]], Sequence[Outcome]], *, name: str) -> None:
        super().__init__(transact, name=name)
        self._turn = threading.Lock()

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        """Do a job; its future is done."""
        del urgent
        self.refuse_inside_a_job("submit another one")
        ticket = Ticket(job)
        with self._turn:
            if self._closed:
                raise StoreError("the store is closed")
            self._thread = threading.current_thread()
            try:
                self._commit([ticket])
            finally:
                self._thread = None
        return ticket.future

    def close(self) -> None:
        """Wait for the job at hand, and take no more."""
        with self._turn:
            self._closed = True

    def _start(self, name: str) -> None:
        """Start no thread."""
