"""What honest users notice during an attack, and what the server's process takes."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from benchmarks.service_load import cpu_seconds, resident
from benchmarks.serving import Server


@dataclass
class Latencies:
    """Seconds that answers took, and how many did not come."""

    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        found = sorted(self.seconds)
        return 1000 * found[min(int(len(found) * share), len(found) - 1)] if found else float("nan")

    def __str__(self) -> str:
        return (
            f"p50 {self.percentile(0.5):7.1f} ms, p99 {self.percentile(0.99):7.1f} ms, "
            f"{len(self.seconds)} answered, {self.failed} not"
        )


class Honest(threading.Thread):
    """An honest user who asks at a steady rate; waiting for one's turn counts."""

    def __init__(self, ask: Callable[[], object], *, rate: float) -> None:
        super().__init__(daemon=True)
        self.found = Latencies()
        self._ask, self._rate, self._ended = ask, rate, threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        """Ask, and note how long it took."""
        began, number = time.perf_counter(), 0
        while not self._ended.is_set():
            due = began + number / self._rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            number += 1
            try:
                self._ask()
            except Exception:
                self.found.failed += 1
            else:
                self.found.seconds.append(time.perf_counter() - due)


@dataclass
class Cost:
    """What a process took while it was watched."""

    memory: float = 0.0  # megabytes, at most
    files: int = 0  # descriptors, at most
    children: int = 0  # processes it started, at most at once
    cpu: float = 0.0  # share of a core


@contextmanager
def watched(pid: int) -> Iterator[Cost]:
    """Look at a process every few milliseconds."""
    cost, ended = Cost(), threading.Event()
    began, used = time.perf_counter(), cpu_seconds(pid)

    def look() -> None:
        while True:  # at least once, however soon it ends
            cost.memory = max(cost.memory, resident(pid))
            cost.files = max(cost.files, len(os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208
            started = [
                each.read_text(encoding="ascii") for each in Path(f"/proc/{pid}/task").glob("*/children")
            ]
            cost.children = max(cost.children, len(" ".join(started).split()))
            if ended.wait(0.05):
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield cost
    finally:
        ended.set()
        thread.join()
        cost.cpu = (cpu_seconds(pid) - used) / (time.perf_counter() - began)


def dial(port: int, source: str = "127.0.0.1") -> socket.socket:
    """A connection from one of this machine's own addresses: each of 127.0.0.0/8 is one."""
    return socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))


def quiet(folder: str, *options: str) -> Server:
    """A server whose log nobody reads: it would be as long as the attack."""
    return Server(Path(folder) / "data", *options, log=subprocess.DEVNULL)
