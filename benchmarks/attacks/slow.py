"""Slow and huge requests without a key: stalled bodies, endless heads, large assets."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from benchmarks.attacks.watching import Cost, Honest, dial, quiet, watched
from benchmarks.service_load import Wire, post, resident

BODY = json.dumps({"candidates": [{"object_id": name, "features": {"x": 1.0}} for name in "abc"]}).encode()
STALLED, SLOW, SECONDS = 60, 700, 12.0


def run() -> None:
    """Each attack for itself, with an honest user beside it."""
    print("slow and huge requests without a key")
    attacks: dict[str, Callable[[int], object]] = {
        "nobody": lambda _: time.sleep(3),
        f"{STALLED} stalled bodies of 8 MB": stalled_bodies,
        f"{SLOW} heads, a byte a second": slow_heads,
        "a head of 100 MB": endless_head,
        "6 times /assets/vega.js": lambda port: ask_for(port, "/assets/vega.js", 6),
        "the first /v1/openapi.json": lambda port: ask_for(port, "/v1/openapi.json", 1),
    }
    for name, attack in attacks.items():
        with tempfile.TemporaryDirectory() as folder, quiet(folder) as server:
            port = int(urlsplit(server.url).port or 0)
            wire, request = Wire(server.url), post("/v1/rank", server.keys["rank"], BODY)
            for _ in range(50):
                wire.send(request)
            before = resident(server.pid)
            with Honest(lambda: wire.send(request), rate=20) as honest, watched(server.pid) as cost:  # noqa: B023
                left = attack(port)
            told(name, before, cost, honest, left)
            wire.close()


def told(name: str, before: float, cost: Cost, honest: Honest, left: object) -> None:
    """A line for an attack."""
    found = honest.found
    worst = 1000 * max(found.seconds, default=float("nan"))
    print(
        f"{name:30} memory {before:4.0f} -> {cost.memory:4.0f} MB, {cost.files:4} files, "
        f"{cost.children} processes; honest p50 {found.percentile(0.5):6.1f} ms, worst {worst:7.1f} ms, "
        f"{found.failed} failed{f'; {left}' if left else ''}",
        flush=True,
    )


def stalled_bodies(port: int) -> str:
    """Nearly all of many large bodies, and then nothing."""
    head = b"POST /v1/rank HTTP/1.1\r\nHost: a\r\nContent-Length: 7999999\r\n\r\n"
    held = [dial(port) for _ in range(STALLED)]
    for each in held:
        each.settimeout(1.0)
        threading.Thread(target=_send, args=(each, head + bytes(7_900_000)), daemon=True).start()
    time.sleep(SECONDS)
    return _left(held)


def slow_heads(port: int) -> str:
    """Slowloris."""
    held = [dial(port) for _ in range(SLOW)]
    until = time.monotonic() + SECONDS
    for letter in b"GET /v1/health HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaa":
        for each in held:
            with contextlib.suppress(OSError):
                each.send(bytes([letter]))
        time.sleep(1.0)
        if time.monotonic() > until:
            break
    return _left(held)


def endless_head(port: int) -> str:
    """A hundred megabytes of headers."""
    with dial(port) as each:
        sent = 0
        line = b"X-Long: " + b"a" * 50_000 + b"\r\n"
        with contextlib.suppress(OSError):
            each.sendall(b"GET /v1/health HTTP/1.1\r\n")
            while sent < 100_000_000:
                each.sendall(line)
                sent += len(line)
        time.sleep(1.0)
        return f"{sent / 1e6:.1f} MB taken"


def ask_for(port: int, path: str, times: int) -> str:
    """The same, so often at the same time, without a key."""
    command = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code} ", f"http://127.0.0.1:{port}{path}"]
    asking = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(times)]
    return "status " + "".join(each.communicate(timeout=110)[0] for each in asking).strip()


def _send(to: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        to.sendall(data)


def _left(held: list[socket.socket]) -> str:
    """How many connections are still open."""
    still = 0
    for each in held:
        each.setblocking(False)
        try:
            while each.recv(65536):
                pass
        except BlockingIOError:
            still += 1
        except OSError:
            pass
        each.close()
    return f"{still} of {len(held)} still open after {SECONDS:.0f} s"
