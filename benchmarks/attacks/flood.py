"""Flood: orphan events with the public page key, and honest visitors with the same key beside it."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from multiprocessing.synchronize import Event as Flag
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.attacks.watching import Honest, dial, quiet, watched
from benchmarks.service_load import post

SECONDS, RATE = 12.0, 20.0
CONNECTIONS = 3
BATCHES = (7000, 300)  # events in a request: more than a page may send, and as many as it may
CANDIDATES = [{"object_id": name, "features": {"x": float(at)}} for at, name in enumerate("abc")]


def run() -> None:
    """Honest events and lists, first alone, then beside a flood of each kind."""
    print(f"flood: {CONNECTIONS} connections of one address send orphans as fast as they can, page key")
    for batch in BATCHES:
        with tempfile.TemporaryDirectory() as folder, quiet(folder, "--deadline", "0.1") as server:
            port, log = int(urlsplit(server.url).port or 0), Path(folder) / "data"
            for name in ("quiet", f"flood of {batch}"):
                stop, told = multiprocessing.Event(), multiprocessing.Queue()  # type: ignore[var-annotated]
                attack = multiprocessing.Process(
                    target=flood, args=(port, server.keys["page"], batch, stop, told)
                )
                if name != "quiet":
                    attack.start()
                    time.sleep(1.0)
                before, began = _size(log), time.perf_counter()
                visitors = Visitor(port, server.keys)
                lists, clicks = Honest(visitors.rank, rate=RATE), Honest(visitors.click, rate=RATE)
                with watched(server.pid) as cost, lists, clicks:
                    time.sleep(SECONDS)
                grown = (_size(log) - before) / (time.perf_counter() - began)
                print(f"{name:14} events {clicks.found}")
                print(f"{'':14} lists  {lists.found}")
                print(
                    f"{'':14} log + {grown / 1e6:.3f} MB/s, server {cost.cpu:.2f} cores, {cost.memory:.0f} MB"
                )
                if name != "quiet":
                    stop.set()
                    share, answers = told.get(timeout=30)
                    attack.join()
                    print(
                        f"{'':14} flood: {share:.2f} cores of its own, answered {dict(answers)}", flush=True
                    )


class Visitor:
    """An honest visitor: lists for the shop's server, and clicks from an address of their own."""

    def __init__(self, port: int, keys: dict[str, str]) -> None:
        self._keys = keys
        self._shop, self._page, self._asking = dial(port), dial(port, "127.0.0.3"), dial(port)
        self._body = json.dumps({"candidates": CANDIDATES}).encode()

    def rank(self) -> None:
        """A list."""
        _answered(self._asking, post("/v1/rank", self._keys["rank"], self._body), 200)

    def click(self) -> None:
        """A list, and a click on it, which is what is to be quick."""
        shown = _answered(self._shop, post("/v1/rank", self._keys["rank"], self._body), 200)
        body = json.dumps({"events": [event(json.loads(shown)["query_id"])]}).encode()
        _answered(self._page, post("/v1/events", self._keys["page"], body), 200)


def flood(port: int, key: str, batch: int, stop: Flag, told: Any) -> None:
    """Send orphans until it is enough; then say how much of a core that took, and what came back."""
    os.nice(5)
    body = json.dumps({"events": [event(f"none-{number}") for number in range(batch)]}).encode()
    request, answers, began = post("/v1/events", key, body), Counter[str](), time.perf_counter()
    wires = [dial(port, "127.0.0.2") for _ in range(CONNECTIONS)]
    while not stop.is_set():
        for number, wire in enumerate(wires):
            try:
                wire.sendall(request)
            except OSError:
                answers["closed"] += 1
                with contextlib.suppress(OSError):
                    wires[number] = dial(port, "127.0.0.2")
        for number, wire in enumerate(wires):
            try:
                answers[_response(wire)[9:12].decode()] += 1
            except OSError:
                answers["closed"] += 1
                time.sleep(0.01)
                with contextlib.suppress(OSError):
                    wires[number] = dial(port, "127.0.0.2")
    told.put((time.process_time() / (time.perf_counter() - began), answers))


def event(query_id: str) -> dict[str, Any]:
    """A click."""
    return {"action_name": "click", "query_id": query_id, "event_attributes": {"object": {"object_id": "a"}}}


def _answered(wire: Any, request: bytes, status: int) -> bytes:
    wire.sendall(request)
    found = _response(wire)
    if not found.startswith(f"HTTP/1.1 {status}".encode()):
        raise OSError(found[:60])
    return found.partition(b"\r\n\r\n")[2]


def _response(wire: Any) -> bytes:
    """Head and body of an answer, in however many pieces they come."""
    found = b""
    while b"\r\n\r\n" not in found or not _whole(found):
        more = wire.recv(65536)
        if not more:
            raise OSError("closed")
        found += more
    return found


def _whole(found: bytes) -> bool:
    head, _, body = found.partition(b"\r\n\r\n")
    return len(body) >= int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.iterdir() if each.is_file())
