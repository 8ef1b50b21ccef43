"""`python -m benchmarks.replicas`: what replicas on one PostgreSQL carry, and what the machine did meanwhile.

Four replicas are up, and fold the log; lists and clicks go to one of them, to two, to all four, in turns.
Eight visitors ask without a pause, and click on every fifth list; they run on the same machine, and take of
its processors, too. Then durable events a second: by a plain loop of INSERT and COMMIT, in SQLite, and in
PostgreSQL by one store and by two. What is printed are medians over interleaved turns.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks.chaos.replica import Orders, Replica
from benchmarks.service_load import Wire
from benchmarks.stores import inserted, plain, rate, recorded
from rankloop.service.http import Keys
from rankloop.service.store import SqliteStore
from rankloop.service.store.postgres import PostgresStore
from tests.support.log_samples import IMPRESSION, put
from tests.support.ports import free_port
from tests.support.postgres import Cluster

VISITORS, CANDIDATES, FEATURES, CLICKED = 8, 20, 10, 5
TICK = os.sysconf("SC_CLK_TCK")
CONSOLE = Console()


@dataclass(frozen=True)
class Turn:
    """One measurement."""

    lists: float  # a second
    median: float  # seconds for a list
    p99: float
    busy: float  # of all processors together, from 0 to 1
    replicas: float  # processors' seconds of the replicas for a list
    database: float  # and of the database


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement of a turn")
    parser.add_argument("--durable", action="store_true", help="lists are durable before they are answered")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        cluster = Cluster(on_disk=True)
        stack.callback(cluster.remove)
        CONSOLE.print(replicas(stack, cluster, chosen.turns, chosen.seconds, chosen.durable))
        CONSOLE.print(durable_events(stack, cluster, chosen.turns, chosen.seconds / 2))


def replicas(stack: ExitStack, cluster: Cluster, turns: int, seconds: float, durable: bool) -> Table:
    """Lists a second by one, two and four replicas."""
    url, folder = cluster.url(), Path(stack.enter_context(tempfile.TemporaryDirectory()))
    kept, keys = Keys.fresh()
    crew = [Replica(Orders(url, "127.0.0.1", free_port(), folder, durable), kept) for _ in range(4)]
    for each in crew:
        each.start()
        stack.callback(each.kill)
        assert each.wait(), "a replica did not start"
    found: dict[int, list[Turn]] = {1: [], 2: [], 4: []}
    for count in found:
        measured(crew[:count], crew, keys["rank"], 0.5)  # to warm up
    for _ in range(turns):
        for count, past in found.items():
            past.append(measured(crew[:count], crew, keys["rank"], seconds))
    for each in crew:
        each.kill()
    how = "durable first" if durable else "written behind"
    title = f"{VISITORS} visitors, {os.cpu_count()} processors, lists {how}"
    table = Table(
        "replicas",
        "lists/s",
        "of one",
        "median",
        "p99",
        "processors busy",
        "replicas, a list",
        "database, a list",
        title=title,
    )
    base = median(each.lists for each in found[1])
    for count, past in found.items():
        lists = median(each.lists for each in past)
        table.add_row(
            str(count),
            f"{lists:,.0f}",
            f"{lists / base:.2f}",
            f"{median(each.median for each in past) * 1e3:.1f} ms",
            f"{median(each.p99 for each in past) * 1e3:.0f} ms",
            f"{median(each.busy for each in past):.0%}",
            f"{median(each.replicas for each in past) * 1e3:.2f} ms",
            f"{median(each.database for each in past) * 1e3:.2f} ms",
        )
    return table


def measured(asked: Sequence[Replica], crew: Sequence[Replica], key: str, seconds: float) -> Turn:
    """Ask some of the replicas for a while."""
    waits: list[list[float]] = [[] for _ in range(VISITORS)]
    end = time.perf_counter() + seconds

    def visit(number: int) -> None:
        wire, rng = Wire(asked[number % len(asked)].url), np.random.default_rng(number)
        body = request("/v1/rank", key, _candidates(rng))
        while time.perf_counter() < end:
            began = time.perf_counter()
            answer = wire.send(body)
            waits[number].append(time.perf_counter() - began)
            if len(waits[number]) % CLICKED == 0:
                wire.send(request("/v1/events", key, _click(answer)))
        wire.close()

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(VISITORS)]
    processes, before = [each.process.pid for each in crew], _machine()
    used, database, began = _used(processes), _used(_postgres()), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, after = time.perf_counter() - began, _machine()
    every = np.concatenate(waits)
    return Turn(
        lists=every.size / took,
        median=float(np.median(every)),
        p99=float(np.quantile(every, 0.99)),
        busy=(after[0] - before[0]) / max(after[1] - before[1], 1),
        replicas=(_used(processes) - used) / every.size,
        database=(_used(_postgres()) - database) / every.size,
    )


def durable_events(stack: ExitStack, cluster: Cluster, turns: int, seconds: float) -> Table:
    """Events a second that are on the disk when they are acknowledged."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    sqlite = stack.enter_context(SqliteStore(folder / "log.db"))
    url = cluster.url()
    one, two = (stack.enter_context(PostgresStore(url, shared=True)) for _ in range(2))
    for store in (sqlite, one):
        put(store, IMPRESSION)
    loops = [stack.enter_context(psycopg.connect(each)) for each in plain(cluster)]
    cases: dict[str, list[Callable[[], int]]] = {
        "INSERT, COMMIT; 1 thread": [lambda: inserted(loops[0])],
        "INSERT, COMMIT; 8 threads": [lambda each=each: inserted(each) for each in loops[1:]],  # type: ignore[misc]
        "SQLite; 16 threads": [lambda: recorded(sqlite, 1)] * 16,
        "PostgreSQL; 16 threads, one store": [lambda: recorded(one, 1)] * 16,
        "PostgreSQL; 16 threads, two stores": [lambda: recorded(one, 1), lambda: recorded(two, 1)] * 8,
        "SQLite; 8 threads, 50 in a request": [lambda: recorded(sqlite, 50)] * 8,
        "PostgreSQL; 8 threads, 50 in a request": [lambda: recorded(one, 50)] * 8,
    }
    found: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(turns):
        for name, works in cases.items():
            found[name].append(rate(works, seconds))
    table = Table("durable events", "a second", "of the first")
    base = median(next(iter(found.values())))
    for name, past in found.items():
        table.add_row(name, f"{median(past):,.0f}", f"{median(past) / base:.1f}")
    return table


def request(path: str, key: str, body: object) -> bytes:
    """A request as bytes."""
    sent = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {key}",
        f"Content-Length: {len(sent)}",
    )
    return "\r\n".join((*head, "", "")).encode() + sent


def _candidates(rng: np.random.Generator) -> dict[str, object]:
    names = [f"f{number}" for number in range(FEATURES)]
    rows = rng.random((CANDIDATES, FEATURES)).round(4).tolist()
    return {
        "candidates": [
            {"object_id": f"d{row}", "features": dict(zip(names, values, strict=True))}
            for row, values in enumerate(rows)
        ]
    }


def _click(answer: bytes) -> dict[str, object]:
    shown = json.loads(answer)
    clicked = {"object": {"object_id": shown["ranking"][0]["object_id"]}}
    return {"events": [{"action_name": "click", "query_id": shown["query_id"], "event_attributes": clicked}]}


def _machine() -> tuple[float, float]:
    """Ticks that all processors worked, and ticks there were."""
    ticks = [int(each) for each in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def _used(processes: Sequence[int]) -> float:
    """Seconds of a processor that processes have used so far, with those they started and that ended."""
    total = 0
    for pid in processes:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(each) for each in fields[11:15])
    return total / TICK


def _postgres() -> list[int]:
    """The processes of the database servers of this machine."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "comm").read_text().strip() == "postgres":
                found.append(int(folder.name))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main()
