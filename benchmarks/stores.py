"""`python -m benchmarks.stores`: durable events a second in PostgreSQL, in SQLite, and by a plain loop.

A store's event is what the service makes of one: its id and its list are looked up, then it is written, each
in a job of its own, or fifty in one. The plain loop inserts a row of the same columns and commits, on a
connection of its own for every thread. PostgreSQL is a private one on this machine. All take turns, so that
whatever else the machine does happens to each of them; what is printed are medians over the turns.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median

import psycopg
from rich.console import Console
from rich.table import Table

from rankloop.service.store import SqliteStore, Store, Transaction, write
from rankloop.service.store.impression_codec import EVENT_COLUMNS, event_row
from rankloop.service.store.postgres import PostgresStore
from tests.support.log_samples import EVENT, IMPRESSION, put
from tests.support.postgres import Cluster

INSERT_EVENT = (
    f"INSERT INTO events ({', '.join(EVENT_COLUMNS)}) VALUES ({', '.join(['%s'] * len(EVENT_COLUMNS))})"
)
NUMBERS = itertools.count(1)
CONSOLE = Console()


def recorded(store: Store, batch: int) -> int:
    """Have so many events written, as the service does; how many."""

    def job(transaction: Transaction) -> int:
        events = [replace(EVENT, event_id=f"e{next(NUMBERS)}") for _ in range(batch)]
        transaction.prefetch(event_ids=[each.event_id for each in events], query_ids=[EVENT.query_id])
        for event in events:
            if not transaction.knows(event.event_id) and transaction.find_shown(event.query_id):
                transaction.append(event)
        return batch

    return write(store, job)


def inserted(connection: psycopg.Connection) -> int:
    """Insert one row and commit."""
    number = next(NUMBERS)
    connection.execute(INSERT_EVENT, event_row(replace(EVENT, event_id=f"e{number}"), number, 0.0))
    connection.commit()
    return 1


def rate(works: list[Callable[[], int]], seconds: float) -> float:
    """Events a second, by as many threads as there are works."""
    counts, end = [0] * len(works), time.perf_counter() + seconds

    def run(number: int) -> None:
        while time.perf_counter() < end:
            counts[number] += works[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(works))]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - began)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement of a turn")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        cluster = Cluster(on_disk=True)
        stack.callback(cluster.remove)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stores: dict[str, Store] = {
            "SQLite": stack.enter_context(SqliteStore(folder / "log.db")),
            "PostgreSQL": stack.enter_context(PostgresStore(cluster.url())),
        }
        for store in stores.values():
            put(store, IMPRESSION)
        works = cases(stores, [stack.enter_context(psycopg.connect(each)) for each in plain(cluster)])
        found: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(chosen.turns):
            for name, work in works.items():
                found[name].append(rate(work, chosen.seconds))
        show({name: median(rates) for name, rates in found.items()})


def plain(cluster: Cluster) -> list[str]:
    """Addresses for nine plain connections, to a store's schema of its own."""
    url = cluster.url()
    PostgresStore(url).close()
    with psycopg.connect(url) as connection:  # a table with the same indexes, in one piece
        connection.execute("CREATE TABLE plain (LIKE events INCLUDING ALL)")
        connection.execute("DROP TABLE events")
        connection.execute("ALTER TABLE plain RENAME TO events")
    return [url] * 9


def cases(
    stores: dict[str, Store], connections: list[psycopg.Connection]
) -> dict[str, list[Callable[[], int]]]:
    """What is measured, by name."""
    found: dict[str, list[Callable[[], int]]] = {
        "INSERT, COMMIT; 1 thread": [lambda: inserted(connections[0])],
        "INSERT, COMMIT; 8 threads": [lambda each=each: inserted(each) for each in connections[1:]],  # type: ignore[misc]
    }
    for threads, batch in ((1, 1), (8, 1), (32, 1), (8, 50)):
        for name, store in stores.items():
            label = f"{name}; {threads} thread{'s' * (threads > 1)}{f', {batch} in a job' * (batch > 1)}"
            found[label] = [lambda store=store, batch=batch: recorded(store, batch)] * threads  # type: ignore[misc]
    return found


def show(rates: dict[str, float]) -> None:
    """A table with ratios to a plain loop of one thread."""
    first = next(iter(rates.values()))
    table = Table("", "durable events/s", "of the first", title="medians of interleaved turns")
    for name, value in rates.items():
        table.add_row(name, f"{value:,.0f}", f"{value / first:.2f}")
    CONSOLE.print(table)


if __name__ == "__main__":
    main()
