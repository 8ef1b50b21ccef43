"""`python -m benchmarks.service_fair`: what fair exposure adds to the time of a list, over HTTP.

One server has two rankers that differ in `fair` alone. Both rank the same bodies, 100 candidates of two
groups, and take turns, so that whatever else the machine does happens to both; told are medians of the turns.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks.service_load import Load, Send, Wire, bodies, load, post
from benchmarks.serving import Server
from rankloop.client import Client

CONSOLE = Console()
RANKERS = ("plain", "fair")
GOAL = 1.25


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--requests", type=int, default=100, help="of each ranker, in a turn")
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=5.0, help="0.2: nearly every list is merged")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        sends = {name: asking(server, name, options.groups) for name in RANKERS}
        begin(server, sends, options.tolerance)
        turns = [
            [
                load(server.url, server.pid, sends[name], connections=1, requests=options.requests)
                for name in RANKERS
            ]
            for _ in range(options.turns)
        ]
    CONSOLE.print(table(turns, options.groups))


def asking(server: Server, ranker: str, groups: int) -> Send:
    """Requests to one of the rankers."""
    requests = [post("/v1/rank", server.keys["rank"], grouped(body, ranker, groups)) for body in bodies()]

    def send(wire: Wire, number: int) -> None:
        answer = wire.send(requests[number % len(requests)])
        assert b'"fallback":null' in answer, answer[:300]

    return send


def grouped(body: bytes, ranker: str, groups: int) -> bytes:
    """The same request, for a ranker, with groups."""
    request = json.loads(body)
    for row, candidate in enumerate(request["candidates"]):
        candidate["group"] = f"seller {row % groups}"
    return json.dumps(request | {"ranker": ranker}).encode()


def begin(server: Server, sends: dict[str, Send], tolerance: float) -> None:
    """Two rankers that have learned a little, and a server that is warm."""
    with Client(server.url, server.keys["admin"], timeout=60) as client:
        client.create("plain", {"window": 1})
        client.create("fair", {"window": 1, "fair": {"shares": "equal", "tolerance": tolerance}})
        for name, send in sends.items():
            load(server.url, server.pid, send, connections=1, requests=200)
            for number in range(100):
                request = json.loads(grouped(bodies(1)[0], name, 2))
                shown = client._transport.send("POST", "/v1/rank", request)
                event = {
                    "query_id": shown["query_id"],
                    "action_name": "click",
                    "event_attributes": {"object": {"object_id": shown["ranking"][number % 5]["object_id"]}},
                }
                client.events([event])


def table(turns: Sequence[Sequence[Load]], groups: int) -> Table:
    """Time and processor time of both, and their ratios."""
    found = Table(title=f"a list of 10 of 100 candidates, {groups} groups, over HTTP")
    for heading in ("measure", *RANKERS, "fair / plain", "wanted"):
        found.add_column(heading, justify="left" if heading == "measure" else "right")
    measures: dict[str, Callable[[Load], float]] = {
        "median time to answer": lambda each: each.percentile(0.5),
        "server's processor time": lambda each: each.cpu_each,
    }
    for name, measure in measures.items():
        values = [[measure(each) for each in turn] for turn in turns]
        cells = [f"{median(column):.2f} ms" for column in zip(*values, strict=True)]
        ratio = median(fair / plain for plain, fair in values)
        found.add_row(name, *cells, f"{ratio:.2f}", f"at most {GOAL}")
    return found


if __name__ == "__main__":
    main()
