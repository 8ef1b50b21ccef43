"""Worker threads with deadlines and bounded queues.

A thread cannot be killed. One that is stuck stays so until its work ends, and is one fewer for others;
when all are stuck and enough work waits, more is refused at once.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from rankloop.service.store import Fate, Waiter

T = TypeVar("T")
Task: TypeAlias = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Busy(Exception):
    """There is as much to do as may wait."""


class Refused(Exception):
    """A request that is not let in: status, a sentence, and after how many seconds it may come again."""

    def __init__(self, status: int, sentence: str, retry: float = 0.0) -> None:
        super().__init__(sentence)
        self.status, self.retry = status, retry


class TooLate(TimeoutError):
    """It is not there in time; whether anything was written by then, and nothing more will be."""

    def __init__(self, fate: Fate) -> None:
        super().__init__(f"not there in time; written: {fate}")
        self.fate = fate


class WorkerPool:
    """A thread pool with a bounded queue.

    >>> workers = WorkerPool("doc", threads=1, waiting=1)
    >>> asyncio.run(workers.run(lambda: 6 * 7, seconds=5))
    42
    >>> workers.close()
    """

    def __init__(self, name: str, *, threads: int, waiting: int) -> None:
        self.pending = 0  # jobs that wait or run, also those that nobody waits for any more
        self._name, self._threads, self._most = name, threads, threads + waiting
        self._started = 0
        self._count = threading.Lock()
        self._queue: queue.SimpleQueue[Task | None] = queue.SimpleQueue()

    async def run(self, job: Callable[[], T], *, seconds: float) -> T:
        """The result of a job; `TooLate` if it is not there in time, `Busy` if it cannot even wait.

        What is late writes nothing any more, unless it has begun to.
        """
        waiter = Waiter()
        future = self.start(partial(_done_for, waiter, job))
        timer = future.get_loop().call_later(seconds, _expire, future)
        try:
            return await future
        except TimeoutError:
            raise TooLate(waiter.give_up()) from None
        finally:
            timer.cancel()

    def start(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """A job that nobody has to wait for."""
        with self._count:
            if self.pending >= self._most:
                raise Busy
            self.pending += 1
            if self._started < min(self.pending, self._threads):
                self._started += 1  # a daemon: one that is stuck does not keep the process alive
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((job, loop, future))
        return future

    def close(self) -> None:
        """Let the threads end when they have nothing more to do."""
        for _ in range(self._started):
            self._queue.put(None)

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            job, loop, future = task
            result: Any = None
            trouble: BaseException | None = None
            try:
                if not future.done():  # otherwise nobody waits for it any more
                    result = job()
            except BaseException as error:
                trouble = error
            with self._count:
                self.pending -= 1
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there to be told
                loop.call_soon_threadsafe(_settle, future, result, trouble)
            del task, job, future, result, trouble  # nothing is kept alive while waiting for the next job


class FutureWaiter:
    """Awaits futures that other threads resolve, few enough at once."""

    def __init__(self, *, most: int) -> None:
        self.pending = 0
        self._most = most

    async def run(self, begin: Callable[[], concurrent.futures.Future[T]], *, seconds: float) -> T:
        """What comes of it; `TooLate` if it is not there in time, `Busy` if too many wait already.

        What has not begun by then is never done.
        """
        if self.pending >= self._most:
            raise Busy
        begun, loop = begin(), asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self.pending += 1
        begun.add_done_callback(partial(_tell, loop, future))
        timer = loop.call_later(seconds, _expire, future)
        try:
            return await future
        except TimeoutError:
            raise TooLate("nothing" if begun.cancel() else "unknown") from None
        finally:
            timer.cancel()
            self.pending -= 1


class Once(Generic[T]):
    """Something that takes long to make: made once, in a thread, however many ask for it at the same time.

    >>> made = Once(lambda: 6 * 7)
    >>> asyncio.run(made.get())
    42
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._made: concurrent.futures.Future[T] | None = None

    async def get(self) -> T:
        """What was made; if that failed, the next who asks lets it be tried again."""
        with self._lock:
            if self._made is None or (self._made.done() and self._made.exception()):
                self._made = concurrent.futures.Future()
                threading.Thread(target=self._work, args=(self._made,), name="once", daemon=True).start()
            made = self._made
        return await asyncio.shield(asyncio.wrap_future(made))

    def _work(self, made: concurrent.futures.Future[T]) -> None:
        try:
            made.set_result(self._make())
        except BaseException as error:
            made.set_exception(error)


def _done_for(waiter: Waiter, job: Callable[[], T]) -> T:
    with waiter.waits():
        return job()


def _tell(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], done: Any) -> None:
    if done.cancelled():
        return  # by us
    trouble = done.exception()
    result = None if trouble else done.result()
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there to be told
        loop.call_soon_threadsafe(_settle, future, result, trouble)


def _expire(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(TimeoutError())


def _settle(future: asyncio.Future[Any], result: Any, trouble: BaseException | None) -> None:
    if future.done():
        return
    if trouble is None:
        future.set_result(result)
    else:
        future.set_exception(trouble)
