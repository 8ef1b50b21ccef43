"""A load generator: threads with sockets of their own, sending bytes that were written beforehand.

It must cost little, because it runs on the machine that it measures: no HTTP library, no JSON.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

import numpy as np

CANDIDATES, FEATURES, SHOWN = 100, 50, 10


class Wire:
    """One connection that is kept, and what it sends."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((str(parts.hostname), int(parts.port or 80)), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> bytes:
        """The body of the answer."""
        self._socket.sendall(request)
        answer = self._socket.recv(65536)
        while b"\r\n\r\n" not in answer:
            answer += self._socket.recv(65536)
        head, _, body = answer.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        while len(body) < length:
            body += self._socket.recv(65536)
        if b" 200 " not in head[:20]:
            raise RuntimeError(f"{head[:40]!r}: {body[:200]!r}")
        return body

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


Send: TypeAlias = Callable[[Wire, int], None]  # request number so and so


@dataclass(frozen=True)
class Load:
    """What came back."""

    count: int
    seconds: float
    latencies: Sequence[float]  # seconds, sorted
    cpu: float  # seconds that the server used

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.count / self.seconds

    @property
    def cpu_each(self) -> float:
        """Milliseconds of the server's processor time for a request."""
        return 1000 * self.cpu / self.count

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        return 1000 * self.latencies[min(int(len(self.latencies) * share), len(self.latencies) - 1)]


def bodies(count: int = 20) -> list[bytes]:
    """Requests to rank, each with other numbers."""
    rng = np.random.default_rng(0)
    names = [f"feature_{number}" for number in range(FEATURES)]
    return [
        json.dumps(
            {
                "k": SHOWN,
                "user_query": f"query {number}",
                "candidates": [
                    {"object_id": f"d{row}", "features": dict(zip(names, values, strict=True))}
                    for row, values in enumerate(rng.random((CANDIDATES, FEATURES)).tolist())
                ],
            }
        ).encode()
        for number in range(count)
    ]


def post(path: str, key: str, body: bytes) -> bytes:
    """A request as it goes over the wire."""
    head = f"POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def load(
    url: str, pid: int, send: Send, *, connections: int, requests: int, rate: float | None = None
) -> Load:
    """Send so many requests; at a steady rate, or each as soon as the one before is answered."""
    lock = threading.Lock()
    numbers, latencies = iter(range(requests)), list[float]()
    wires = [Wire(url) for _ in range(connections)]
    began, cpu = time.perf_counter(), cpu_seconds(pid)

    def work(wire: Wire) -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            due = time.perf_counter() if rate is None else began + number / rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            send(wire, number)
            latencies.append(time.perf_counter() - due)  # waiting for a free connection counts

    threads = [threading.Thread(target=work, args=(wire,)) for wire in wires]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, used = time.perf_counter() - began, cpu_seconds(pid) - cpu
    for wire in wires:
        wire.close()
    return Load(len(latencies), seconds, sorted(latencies), used)


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, all its threads together."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:  # noqa: PTH123
            total += int(file.read().split()[0])  # nanoseconds; /proc/pid/stat counts in hundredths
    return total / 1e9


def resident(pid: int) -> float:
    """Memory of a process, in megabytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
