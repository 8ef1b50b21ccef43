"""`python -m benchmarks.size pages|start|rankers|bytes`: what a service costs once it is large.

The log is written straight into the store, as the service would: lists of 10 candidates with 5 features that
its own ranker made, three clicks for each of them, a day in all. Every figure is of this machine; run it on
another commit beside this one to compare. In brackets is the processor's time of the process, which says more
where others use the machine.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

from rankloop.candidate import Candidate
from rankloop.service import RankerSettings
from rankloop.service.core.lists.candidate_columns import columns
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.http import AppContext, Keys
from rankloop.service.http.routes.health_routes import diagnose, look
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import (
    Event,
    Impression,
    SqliteStore,
    Store,
    Transaction,
    open_temporary_store,
    write,
)

CONSOLE = Console()
DAY = 86_400.0
CLICKS = 3  # of each list
BATCH = 2000  # lists in a transaction
KINDS = 200  # different lists, which are shown again and again


def templates(features: int = 5) -> list[Impression]:
    """Lists as the ranker makes them before it has learned anything."""
    service, rng = ServiceFacade(open_temporary_store(), clock=lambda: 0.0), np.random.default_rng(0)
    service.create("shop", RankerSettings(max_features=5000))
    names = [f"feature {number}" for number in range(features)]
    made = []
    for number in range(KINDS):
        rows = rng.random((10, features))
        shown = [
            Candidate(f"item {number} {row}", dict(zip(names, rows[row], strict=True))) for row in range(10)
        ]
        made.append(service.prepare(RankRequest(ranker="shop", candidates=columns(shown))).impression)
    return made


def fill(store: Store, events: int, *, end: float, mode: str = "explore") -> None:
    """A day of lists and clicks, without a snapshot."""
    service = ServiceFacade(store, clock=lambda: end - DAY)
    service.create("shop", RankerSettings(max_features=5000), mode=mode)  # type: ignore[arg-type]
    service.ranker("shop").extend({"schema": [f"feature {number}" for number in range(5)], "context": []})
    lists, made = events // CLICKS, templates()
    step = DAY / (lists + 1)

    def job(transaction: Transaction, begin: int) -> None:
        for number in range(begin, min(begin + BATCH, lists)):
            at, shown = end - DAY + (number + 1) * step, made[number % KINDS]
            seq = transaction.append(
                replace(shown, at=at, query_id=f"q{number}", client_id=f"c{number % 9999}")
            )
            for position in range(1, CLICKS + 1):
                transaction.append(click(shown, number, position, seq, at))

    for begin in range(0, lists, BATCH):
        write(store, partial(job, begin=begin))


def click(shown: Impression, number: int, position: int, seq: int, at: float) -> Event:
    """A click on a result of a list."""
    return Event(
        at=at,
        ranker="shop",
        event_id=f"e{number} {position}",
        query_id=f"q{number}",
        object_id=shown.object_ids[int(shown.order[position - 1])],
        action="click",
        verdict="accepted",
        position=position,
        list_seq=seq,
        closes_at=at + 600.0,
        ordinal=position,
        occurred_at=at,
        client_id=f"c{number % 9999}",
        source=f"a{number % 9999}",
    )


Took = tuple[float, float]  # seconds, and of the processor


def timed(work: Callable[[], object], times: int = 3) -> Took:
    """The medians of a few runs."""
    found = []
    for _ in range(times):
        began, used = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - began, time.process_time() - used))
    return statistics.median(each for each, _ in found), statistics.median(each for _, each in found)


def pages(events: int) -> None:
    """The doctor and the overview of a day with so many events."""
    now = time.time()
    with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "log.db") as store:
        took = timed(lambda: fill(store, events, end=now, mode="passthrough"), 1)
        size = sum(each.stat().st_size for each in Path(folder).iterdir())
        say(f"{events:,} events and {events // CLICKS:,} lists written", took)
        CONSOLE.print(f"  {size / 1e6:.0f} MB, {1e6 * took[1] / (events * (1 + 1 / CLICKS)):.0f} µs an entry")
        service = ServiceFacade(store)
        say("doctor, a day", timed(lambda: diagnose(service, 1440)))
        for by in ("lists", "time"):
            seconds = timed(lambda by=by: look(service, "shop", minutes=1440, steps=40, by=by))  # type: ignore[misc]
            say(f"overview, a day, 40 steps by {by}", seconds)
        say("overview, an hour", timed(lambda: look(service, "shop", minutes=60, steps=40, by="time")))


def start(events: int) -> None:
    """Starts without a snapshot: the first one, one after a kill, and of a ranker that never learns."""
    with tempfile.TemporaryDirectory() as folder:
        for mode in ("explore", "frozen"):
            path = Path(folder) / f"{mode}.db"
            with SqliteStore(path) as store:
                fill(store, events, end=time.time(), mode=mode)
                forget_snapshots(store)
        copy = Path(folder) / "copy.db"
        copy.write_bytes((Path(folder) / "explore.db").read_bytes())
        first = started(copy)
        say(f"explore: first start, {events:,} events, no snapshot", first)
        killed = started(Path(folder) / "explore.db", kill=0.6 * first[1])
        say("explore: killed during its first start after", killed)
        say("explore: the start after that", started(Path(folder) / "explore.db"))
        say("frozen: first start", started(Path(folder) / "frozen.db"))
        say("frozen: start after that was killed when it was up", started(Path(folder) / "frozen.db"))


def forget_snapshots(store: SqliteStore) -> None:
    """As after an import of a log alone."""
    with store._writing:
        for table in ("snapshots", "snapshot_blocks", "blocks"):
            store._writer.execute(f"DELETE FROM {table}")


def started(path: Path, *, kill: float | None = None) -> Took:
    """How long a service in a process of its own takes until it is up; then it is killed.

    With `kill` it is killed after so many seconds of the processor, wherever it is by then.
    """
    code = (
        "import sys, time; from rankloop.service.store import SqliteStore\n"
        "from rankloop.service.service_facade import ServiceFacade\n"
        "store = SqliteStore(sys.argv[1]); began, used = time.perf_counter(), time.process_time()\n"
        "import signal\n"
        "if float(sys.argv[2]): signal.signal(signal.SIGPROF, signal.SIG_DFL)\n"
        "if float(sys.argv[2]): signal.setitimer(signal.ITIMER_PROF, float(sys.argv[2]))\n"
        "service = ServiceFacade(store); store.submit(lambda transaction: None).result()\n"
        "print(time.perf_counter() - began, time.process_time() - used, flush=True); time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(kill or 0)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    took = process.stdout.readline().split()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return (float(took[0]), float(took[1])) if took else (0.0, kill or 0.0)


def rankers(count: int) -> None:
    """Rank time, the time of a metrics page, and idle work, with one ranker and with many."""
    for number in (1, count):
        with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "log.db") as store:
            service = ServiceFacade(store)
            create_many(store, number)
            service.close()
            CONSOLE.print(f"[bold]{number:,} rankers[/bold]")
            began, used = time.perf_counter(), time.process_time()
            service = ServiceFacade(store, background=True)
            say("  start", (time.perf_counter() - began, time.process_time() - used))
            with_traffic(service)
            context = AppContext(service=service, keys=Keys.fresh()[0])
            say("  /metrics", timed(context.metrics.text, 5))
            context.close()
            service.close()


def create_many(store: Store, number: int) -> None:
    """Rankers with the usual settings, all in one transaction."""
    service = ServiceFacade(store)
    service.create("ranker 0")
    first = store.read_decisions("ranker 0")

    def job(transaction: Transaction) -> None:
        for name in range(1, number):
            for decision in first:
                transaction.append(replace(decision, seq=0, ranker=f"ranker {name}"))

    write(store, job)


def with_traffic(service: ServiceFacade) -> None:
    """Lists and clicks of one of the rankers, with the learning thread at work; what a list takes."""
    rng, names = np.random.default_rng(0), [f"feature {number}" for number in range(5)]
    mugs = [
        Candidate(f"item {row}", dict(zip(names, rng.random(5).tolist(), strict=True))) for row in range(10)
    ]
    found, events, idle, used = [], [], threading.Event(), time.process_time()
    for _ in range(400):
        began = time.perf_counter()
        shown = service.rank(mugs, ranker="ranker 0")
        found.append(time.perf_counter() - began)
        began = time.perf_counter()
        service.record([{"query_id": shown.query_id, "action_name": "click", "object_id": "item 0"}])
        events.append(time.perf_counter() - began)
        idle.wait(0.005)
    for name, values in (("a list", found), ("an event", events)):
        warm = sorted(values[50:])
        p50, p90 = (1000 * warm[int(share * len(warm))] for share in (0.5, 0.9))
        CONSOLE.print(f"  {name}: p50 {p50:.1f} ms, p90 {p90:.1f} ms")
    CONSOLE.print(f"  processor for each of these turns: {(time.process_time() - used) / 400 * 1000:.1f} ms")
    used = time.process_time()
    idle.wait(3.0)
    CONSOLE.print(f"  processor while idle: {(time.process_time() - used) / 3:.1%}")


def lists_in_bytes() -> None:
    """What a list of 10 x 5 takes in the log when so many features are known."""
    for known in (5, 2000):
        with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "log.db") as store:
            service = ServiceFacade(store, clock=lambda: 0.0)
            service.create("shop", RankerSettings(max_features=5000))
            service.ranker("shop").extend(
                {"schema": [f"feature {number}" for number in range(known)], "context": []}
            )
            rng, names = np.random.default_rng(0), [f"feature {number}" for number in range(5)]
            before = stored(store)
            for _ in range(100):
                shown = [
                    Candidate(f"item {row}", dict(zip(names, rng.random(5).tolist(), strict=True)))
                    for row in range(10)
                ]
                service.rank(shown, ranker="shop")
            CONSOLE.print(
                f"{known:,} features known: {(stored(store) - before) / 100:,.0f} bytes for a list of 10 x 5"
            )


def stored(store: SqliteStore) -> int:
    """Bytes of all payloads."""
    write(store, lambda transaction: transaction.list_rankers())
    return int(store.source.run("SELECT ifnull(sum(length(payload)), 0) FROM payloads")[0][0])


def say(what: str, took: Took) -> None:
    """One line."""
    CONSOLE.print(f"{what}: {_spelled(took[0])} ({_spelled(took[1])})")


def _spelled(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms" if seconds < 10 else f"{seconds:,.1f} s"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("pages", "start", "rankers", "bytes"))
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rankers", type=int, default=2000)
    chosen = parser.parse_args()
    works: dict[str, Callable[[], None]] = {
        "pages": lambda: pages(chosen.events),
        "start": lambda: start(chosen.events),
        "rankers": lambda: rankers(chosen.rankers),
        "bytes": lists_in_bytes,
    }
    works[chosen.what]()


if __name__ == "__main__":
    main()
