"""`make bench-service`: the service under load, on the machine that also makes the load.

Everything is measured from outside, over real sockets, with learning on: one list in five gets a click. The
yardstick is a handler of the same framework that reads the same body and gives the order back; both servers
run all the time and take turns, so that whatever else the machine does happens to both.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.service_load import Load, Send, Wire, bodies, load, post, resident
from benchmarks.serving import Server
from rankloop.client import Client

CONSOLE = Console()
LISTS = bodies()
BATCH = 50
NUMBERS = itertools.count()


class Visitors(threading.Thread):
    """Users who click on the first result of one list in five, a moment after it was shown."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._client = Client(server.url, server.keys["rank"], timeout=60)
        self._requests = [post("/v1/rank", server.keys["rank"], body) for body in LISTS]
        self._shown: list[dict[str, Any]] = []
        self._ended = threading.Event()

    def send(self, wire: Wire, number: int) -> None:
        """Ask for a list, and perhaps remember to click."""
        answer = wire.send(self._requests[number % len(LISTS)])
        if number % 5 == 0:
            shown = json.loads(answer)
            assert shown["provenance"]["fallback"] is None, shown["provenance"]
            self._shown.append(click(shown["query_id"], shown["ranking"][0]["object_id"]))

    def run(self) -> None:
        """Click, until the end."""
        while not self._ended.wait(0.1):
            events, self._shown = self._shown, []
            if events:
                self._client.events(events)
        self._client.close()

    def end(self) -> None:
        """Go home."""
        self._ended.set()
        self.join()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, help="for memory; 200000 to be sure")
    parser.add_argument("--seconds", type=float, default=10, help="for each of the other measures")
    parser.add_argument("--only", choices=["rank", "events", "memory"], help="one of the three parts")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder) / "data", "--window", "5") as server:
        visitors = Visitors(server)
        visitors.start()
        table = Table("", "measured", "wanted", title="100 candidates × 50 features, learning on")
        if chosen.only in (None, "rank"):
            _add(table, lists(server, visitors, chosen.seconds))
        if chosen.only in (None, "events"):
            _add(table, events(server, chosen.seconds))
        if chosen.only in (None, "memory"):
            _add(table, memory(server, visitors, chosen.requests))
        visitors.end()
        CONSOLE.print(table)
        with Client(server.url, server.keys["admin"], timeout=60) as client:
            CONSOLE.print(f"learned meanwhile from {client.rankers()['default']['lists']:,} lists")


def _add(table: Table, rows: Iterator[tuple[str, str, str]]) -> None:
    for row in rows:
        table.add_row(*row)


def lists(server: Server, visitors: Visitors, seconds: float) -> Iterator[tuple[str, str, str]]:
    """Latency at a steady rate; throughput and processor time beside the yardstick."""
    load(server.url, server.pid, visitors.send, connections=2, requests=200)  # to warm up
    steady = load(server.url, server.pid, visitors.send, connections=8, requests=int(100 * seconds), rate=100)
    yield "rank at 100/s: p50", f"{steady.percentile(0.5):.1f} ms", ""
    yield "rank at 100/s: p99", f"{steady.percentile(0.99):.1f} ms", "under 10 ms"
    with bare_handler() as (url, pid):
        turns = [
            (flat_out(server.url, server.pid, visitors.send, 0.5), flat_out(url, pid, ask_bare, 0.5))
            for _ in range(max(int(seconds), 3))
        ]
    rank, bare = zip(*turns, strict=True)
    yield "rank, flat out", f"{median(each.rate for each in rank):,.0f}/s", ""
    yield "bare handler, flat out", f"{median(each.rate for each in bare):,.0f}/s", ""
    ratio = median(one.rate / other.rate for one, other in turns)
    yield "  rank / bare, median of the turns", f"{ratio:.2f}", "at least 0.6"
    yield "processor time: rank", f"{median(each.cpu_each for each in rank):.2f} ms", ""
    yield "processor time: bare", f"{median(each.cpu_each for each in bare):.2f} ms", ""


def events(server: Server, seconds: float) -> Iterator[tuple[str, str, str]]:
    """How many events become durable in a second."""
    for batch, wanted in ((BATCH, "at least 2,000/s"), (1, "")):
        send = clicking(server, batch)
        load(server.url, server.pid, send, connections=8, requests=40)
        found = flat_out(server.url, server.pid, send, seconds, connections=32 if batch == 1 else 8)
        yield f"durable events, {batch} at once", f"{batch * found.rate:,.0f}/s", wanted
        yield "  processor time for an event", f"{found.cpu_each / batch:.3f} ms", ""


def memory(server: Server, visitors: Visitors, requests: int) -> Iterator[tuple[str, str, str]]:
    """The server's memory while lists are made, ten times."""
    began, asked = time.perf_counter(), 0
    for tenth in range(1, 11):
        share = tenth * requests // 10 - asked
        load(server.url, server.pid, visitors.send, connections=2, requests=share)
        asked += share
        passed = time.perf_counter() - began
        CONSOLE.print(f"{asked:>9,} lists  {passed:6.0f} s  {resident(server.pid):6.0f} MB")
        yield f"memory after {asked:,} lists", f"{resident(server.pid):.0f} MB", "flat"


def flat_out(url: str, pid: int, send: Send, seconds: float, *, connections: int = 2) -> Load:
    """As fast as it goes, for about so long."""
    trial = load(url, pid, send, connections=connections, requests=50)
    return load(url, pid, send, connections=connections, requests=max(int(trial.rate * seconds), 100))


@contextmanager
def bare_handler() -> Iterator[tuple[str, int]]:
    """The yardstick: its address and its process."""
    command = [sys.executable, "-m", "benchmarks.service_bare"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        load(url, process.pid, ask_bare, connections=2, requests=200)
        yield url, process.pid
        process.terminate()


BARE = [post("/v1/rank", "", body) for body in LISTS]


def ask_bare(wire: Wire, number: int) -> None:
    """The same bodies."""
    wire.send(BARE[number % len(BARE)])


def clicking(server: Server, batch: int) -> Send:
    """Clicks on one list, all with ids of their own, acknowledged when they are durable."""
    with Client(server.url, server.keys["rank"], timeout=60) as client:
        query = client._transport.send("POST", "/v1/rank", json.loads(LISTS[0]))["query_id"]

    def send(wire: Wire, _: int) -> None:
        body = json.dumps({"events": [click(query, "d0") for _ in range(batch)]}).encode()
        answer = wire.send(post("/v1/events", server.keys["rank"], body))
        assert answer.count(b"event_id") == batch, answer[:200]

    return send


def click(query_id: str, object_id: str) -> dict[str, Any]:
    """A click with an id of its own."""
    return {
        "event_id": f"e{next(NUMBERS)}",
        "query_id": query_id,
        "action_name": "click",
        "event_attributes": {"object": {"object_id": object_id}},
    }


if __name__ == "__main__":
    main()
