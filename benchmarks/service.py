"""`make bench-service`: the service under load, on the machine that also makes the load.

Everything is measured from outside, over real sockets, with learning on: one list in five gets a click. The
yardstick is a handler of the same framework that reads the same body and gives the order back.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.service_load import Load, bodies, load, posting, resident
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
        self._shown: list[dict[str, Any]] = []
        self._ended = threading.Event()
        self.send = posting("/v1/rank", server.keys["rank"], self._body, answered=self._look)

    @staticmethod
    def _body(number: int) -> bytes:
        return LISTS[number % len(LISTS)]

    def _look(self, number: int, answer: bytes) -> None:
        if number % 5 == 0:
            shown = json.loads(answer)
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
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder) / "data", "--window", "5") as server:
        visitors = Visitors(server)
        visitors.start()
        table = Table("", "measured", "wanted", title="100 candidates × 50 features, learning on")
        for row in measures(server, visitors, chosen.seconds, chosen.requests):
            table.add_row(*row)
        visitors.end()
        CONSOLE.print(table)
        with Client(server.url, server.keys["admin"], timeout=60) as client:
            CONSOLE.print(f"learned meanwhile from {client.rankers()['default']['lists']:,} lists")


def measures(
    server: Server, visitors: Visitors, seconds: float, requests: int
) -> Iterator[tuple[str, str, str]]:
    """Rows of the table."""
    steady = load(server.url, server.pid, visitors.send, connections=8, requests=int(100 * seconds), rate=100)
    yield "rank at 100/s: p50", f"{steady.percentile(0.5):.1f} ms", ""
    yield "rank at 100/s: p99", f"{steady.percentile(0.99):.1f} ms", "under 10 ms"
    full = flat_out(server.url, server.pid, visitors.send, seconds)
    bare = bare_handler(seconds)
    yield "rank, flat out", f"{full.rate:,.0f}/s", ""
    yield "bare handler, flat out", f"{bare.rate:,.0f}/s", ""
    yield "  rank / bare", f"{full.rate / bare.rate:.2f}", "at least 0.6"
    yield "processor time: rank", f"{1000 * full.cpu / full.count:.2f} ms", ""
    yield "processor time: bare", f"{1000 * bare.cpu / bare.count:.2f} ms", ""
    yield (
        f"durable events, {BATCH} at once",
        f"{BATCH * events(server, BATCH, seconds).rate:,.0f}/s",
        "at least 2,000/s",
    )
    yield "durable events, one at a time", f"{events(server, 1, seconds).rate:,.0f}/s", ""
    for quarter in range(1, 5):
        load(server.url, server.pid, visitors.send, connections=2, requests=requests // 4)
        yield f"memory after {quarter * requests // 4:,} more lists", f"{resident(server.pid):.0f} MB", "flat"


def flat_out(
    url: str, pid: int, send: Callable[[http.client.HTTPConnection, int], None], seconds: float
) -> Load:
    """As fast as it goes, for about so long."""
    trial = load(url, pid, send, connections=2, requests=100)
    return load(url, pid, send, connections=2, requests=max(int(trial.rate * seconds), 100))


def bare_handler(seconds: float) -> Load:
    """The yardstick."""
    command = [sys.executable, "-m", "benchmarks.service_bare"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        found = flat_out(url, process.pid, posting("/v1/rank", "", lambda n: LISTS[n % len(LISTS)]), seconds)
        process.terminate()
    return found


def events(server: Server, batch: int, seconds: float) -> Load:
    """Clicks on one list, all with ids of their own, acknowledged when they are durable."""
    with Client(server.url, server.keys["rank"], timeout=60) as client:
        query = client._wire.send("POST", "/v1/rank", json.loads(LISTS[0]))["query_id"]

    def body(_: int) -> bytes:
        return json.dumps({"events": [click(query, "d0") for _ in range(batch)]}).encode()

    send = posting("/v1/events", server.keys["rank"], body)
    trial = load(server.url, server.pid, send, connections=8, requests=40)
    return load(server.url, server.pid, send, connections=8, requests=max(int(trial.rate * seconds), 40))


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
