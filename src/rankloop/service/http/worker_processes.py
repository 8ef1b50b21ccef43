"""Worker processes of one machine, which answer on one socket; one that dies is started again."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any, TypeAlias

from rankloop.errors import DataError

SPAWN = multiprocessing.get_context("spawn")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PAUSE = 1.0  # seconds before a worker is started again
Work: TypeAlias = Callable[[socket.socket, Callable[[], None]], None]  # a socket, and what to call when ready


def work_together(work: Work, listening: socket.socket, count: int, ready: Callable[[], None]) -> None:
    """Have so many processes do the work on one socket until SIGTERM or Ctrl-C, which they get, too.

    One that dies before it was ready is an error, and ends all of them. `work` must be a value that can be
    sent to another process.
    """
    crew = [Worker(work, listening) for _ in range(count)]
    with _ending(crew) as ended:
        for each in crew:
            each.start()
        if all(each.is_ready() for each in crew):
            ready()
            while not ended.is_set():
                gone = wait([each.process.sentinel for each in crew], timeout=PAUSE)
                for each in crew:
                    if each.process.sentinel in gone and not ended.is_set():
                        time.sleep(PAUSE)
                        each.start()
        elif not ended.is_set():
            raise DataError("a worker could not be started: its reason is above")


class Worker:
    """A process, and its word that it is ready."""

    def __init__(self, work: Work, listening: socket.socket) -> None:
        self._arguments = work, listening

    def start(self) -> None:
        """Start it, or start it again."""
        self._word, theirs = SPAWN.Pipe(duplex=False)
        self.process: SpawnProcess = SPAWN.Process(target=_life, args=(*self._arguments, theirs))
        self.process.start()
        theirs.close()

    def is_ready(self) -> bool:
        """Wait until it is; False: it has died."""
        try:
            return bool(self._word.recv())
        except EOFError:
            return False


@contextlib.contextmanager
def _ending(crew: list[Worker]) -> Iterator[threading.Event]:
    """Pass signals on, and leave nobody behind."""
    ended = threading.Event()

    def end(number: int = 0, frame: FrameType | None = None) -> None:  # noqa: ARG001
        ended.set()
        for each in crew:
            if hasattr(each, "process"):
                each.process.terminate()

    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        yield ended
    finally:
        end()
        for each in crew:
            if hasattr(each, "process"):
                each.process.join()
        for number, handler in before.items():
            signal.signal(number, handler)


def _life(work: Work, listening: socket.socket, word: Connection) -> None:
    threading.Thread(target=_follow_parent, daemon=True).start()

    def ready() -> None:
        word.send(True)
        word.close()

    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C before it was ready
        work(listening, ready)


def _follow_parent() -> None:
    """End when the process that started this one does, however it ended."""
    parent: Any = multiprocessing.parent_process()
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
