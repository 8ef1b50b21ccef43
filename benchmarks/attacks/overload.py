"""Overload: four times as many requests as can be answered, and then none. Every answer is to be in time."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import numpy as np

from benchmarks.attacks.watching import dial, quiet, watched
from benchmarks.service_load import post
from benchmarks.serving import Server

CANDIDATES, FEATURES, DEADLINE = 500, 100, 0.1
CONNECTIONS, SECONDS, TIMES = 160, 15.0, 4
IDLE = 4.0  # seconds after which a connection is opened anew: the server closes those that are idle for 5


@dataclass
class Answers:
    """What came back: seconds from the first byte sent to the last one received, and of which kind."""

    seconds: list[float] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    last_fallback: float = 0.0  # when it was asked for

    def told(self, name: str, elapsed: float) -> str:
        """A line."""
        found, total = sorted(self.seconds), max(len(self.seconds), 1)
        late = sum(each > DEADLINE + 0.05 for each in found)
        at = [1000 * found[min(int(total * share), total - 1)] for share in (0.5, 0.99, 1.0)]
        kinds = ", ".join(f"{kind} {100 * count / total:.1f} %" for kind, count in sorted(self.kinds.items()))
        return (
            f"{name:26} {total / elapsed:6.0f}/s: p50 {at[0]:6.1f}, p99 {at[1]:6.1f}, worst {at[2]:6.1f} ms; "
            f"{late} of {total} after deadline + 50 ms; {kinds}"
        )


def run() -> None:
    """Find out what saturates it; then four times that; then a little, to see it recover."""
    print(f"overload: {CANDIDATES} x {FEATURES} lists, deadline {1000 * DEADLINE:.0f} ms")
    rng = np.random.default_rng(0)
    names = [f"feature_{number}" for number in range(FEATURES)]
    candidates = [
        {"object_id": f"d{row}", "features": dict(zip(names, values, strict=True))}
        for row, values in enumerate(rng.random((CANDIDATES, FEATURES)).round(4).tolist())
    ]
    body = json.dumps({"k": 10, "user_query": "q", "candidates": candidates}).encode()
    with tempfile.TemporaryDirectory() as folder, quiet(folder, "--deadline", str(DEADLINE)) as server:
        request = post("/v1/rank", server.keys["rank"], body)
        offered(server, request, connections=1, rate=20, seconds=1.0)  # to warm up
        usual, took = offered(server, request, connections=2, rate=None, seconds=4.0)
        lists = usual.kinds["list"] / took
        print(usual.told("as fast as two can ask", took), flush=True)
        used = time.process_time()
        with watched(server.pid) as cost:
            flood, took = offered(
                server, request, connections=CONNECTIONS, rate=TIMES * lists, seconds=SECONDS
            )
        used = time.process_time() - used
        ended = time.perf_counter()
        print(flood.told(f"{TIMES} times {lists:.0f} a second", took))
        print(f"{'':26} server {cost.cpu:.2f} cores, {cost.memory:.0f} MB; generator {used / took:.2f} cores")
        after, took = offered(server, request, connections=2, rate=lists / 4, seconds=8.0)
        print(after.told("a quarter of it afterwards", took))
        print(
            f"{'':26} last fallback or refusal {max(after.last_fallback - ended, 0.0):.2f} s after the load"
        )


def offered(
    server: Server, request: bytes, *, connections: int, rate: float | None, seconds: float
) -> tuple[Answers, float]:
    """Ask at a rate, with so many connections, or as fast as they are answered."""
    answers, lock, began = Answers(), threading.Lock(), time.perf_counter()
    numbers = iter(range(10**9))
    port = int(urlsplit(server.url).port or 0)

    def work() -> None:
        wire, used = dial(port), time.perf_counter()
        while True:
            with lock:
                number = next(numbers)
            due = began + number / rate if rate else time.perf_counter()
            time.sleep(max(due - time.perf_counter(), 0.0))
            if time.perf_counter() - used > IDLE:
                wire.close()
                wire = dial(port)
            sent = used = time.perf_counter()
            if sent - began > seconds:
                break
            try:
                wire.sendall(request)
                kind = _kind(_answer(wire))
            except OSError:
                kind, wire = "broken", dial(port)
            with lock:
                answers.seconds.append(time.perf_counter() - sent)
                answers.kinds[kind] += 1
                if kind != "list":
                    answers.last_fallback = max(answers.last_fallback, sent)
        wire.close()

    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers, time.perf_counter() - began


def _answer(wire: object) -> bytes:
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _more(wire)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    while len(body) < length:
        body += _more(wire)
    return head + body


def _more(wire: object) -> bytes:
    found: bytes = wire.recv(65536)  # type: ignore[attr-defined]
    if not found:
        raise OSError("closed")
    return found


def _kind(answer: bytes) -> str:
    if not answer.startswith(b"HTTP/1.1 200"):
        return answer[9:12].decode()
    fallback = answer.partition(b'"fallback":')[2][:30]
    return "list" if fallback.startswith(b"null") else fallback.partition(b":")[0].decode().strip('"')
