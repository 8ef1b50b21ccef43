"""A load generator: threads with connections of their own, sending what was written beforehand."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np

CANDIDATES, FEATURES, SHOWN = 100, 50, 10


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


def load(
    url: str,
    pid: int,
    send: Callable[[http.client.HTTPConnection, int], None],
    *,
    connections: int,
    requests: int,
    rate: float | None = None,
) -> Load:
    """Send so many requests; at a steady rate, or each as soon as the one before is answered."""
    parts, lock = urlsplit(url), threading.Lock()
    numbers, latencies = iter(range(requests)), []
    began, cpu = time.perf_counter(), cpu_seconds(pid)

    def work() -> None:
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            due = time.perf_counter() if rate is None else began + number / rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            send(connection, number)
            latencies.append(time.perf_counter() - due)  # waiting for a free connection counts
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    return Load(len(latencies), seconds, sorted(latencies), cpu_seconds(pid) - cpu)


def posting(
    path: str, key: str, body: Callable[[int], bytes], *, answered: Callable[[int, bytes], None] | None = None
) -> Callable[[http.client.HTTPConnection, int], None]:
    """A way to send request number so and so."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def send(connection: http.client.HTTPConnection, number: int) -> None:
        connection.request("POST", path, body(number), headers)
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {text[:200]!r}")
        if answered:
            answered(number, text)

    return send


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, all its threads together."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Memory of a process, in megabytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
