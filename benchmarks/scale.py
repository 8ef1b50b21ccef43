"""`python -m benchmarks.scale`: what a list and a click cost, and from that a day of ten to the nine lists.

First the constants are measured, on this machine: bytes in PostgreSQL and in its write-ahead log, what one
writer gets through, and seconds of a processor to make a list, to learn from one, and to write. Then a day is
simulated, second by second: arrivals by chance around a curve with its peak in the evening, for each shard
one writer with a queue. `--constants file.json` takes constants from a file, `--save` puts them there.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import psycopg
from rich.console import Console

from rankloop.candidate import Candidate
from rankloop.service import UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Transaction, open_temporary_store, write
from rankloop.service.store.postgres import PostgresStore
from rankloop.types import FloatArray
from tests.support.log_samples import event, impression
from tests.support.postgres import Cluster

CONSOLE = Console()
CANDIDATES, FEATURES = 20, 10
TOGETHER = 128  # lists in a transaction, as they come from the buffer
DAY = 86_400
CLICKS = 0.2  # for a list
PEAK = 2.0  # the evening's load, of the mean
FULL = 0.6  # of a processor, or a writer, that may be used at the peak
LATE = 0.1  # seconds that a list may wait for the writer, in 99 of 100 seconds of the day


@dataclass(frozen=True)
class Constants:
    """What one list and one click cost."""

    list_bytes: float  # in tables and indexes
    click_bytes: float
    list_wal: float  # bytes written ahead
    click_wal: float
    lists_written: float  # a second, by one writer without a pause
    clicks_written: float  # a second, twenty in a request
    database: float  # seconds of the database's processors for a list that is written
    rank: float  # seconds of a replica's processor to make a list
    learn: float  # and to learn from one that was clicked


def measured(seconds: float) -> Constants:
    """Measure on this machine, with a PostgreSQL of its own on the disk."""
    with ExitStack() as stack:
        cluster = Cluster(on_disk=True)
        stack.callback(cluster.remove)
        url = cluster.url()
        store = stack.enter_context(PostgresStore(url))
        probe = stack.enter_context(psycopg.connect(url, autocommit=True))
        used = _database_seconds()
        lists, list_rate, list_bytes, list_wal = _written(probe, seconds, _lists(store))
        database = (_database_seconds() - used) / lists
        _, click_rate, click_bytes, click_wal = _written(probe, seconds, _clicks(store))
    rank, learn = _service(seconds)
    return Constants(
        list_bytes, click_bytes, list_wal, click_wal, list_rate, click_rate, database, rank, learn
    )


def _written(
    probe: psycopg.Connection, seconds: float, work: Callable[[], int]
) -> tuple[int, float, float, float]:
    """Entries, entries a second, bytes of an entry, and bytes of it in the write-ahead log."""
    work()
    before, began, count = _sizes(probe), time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        count += work()
    took, after = time.perf_counter() - began, _sizes(probe)
    return count, count / took, (after[0] - before[0]) / count, (after[1] - before[1]) / count


def _sizes(probe: psycopg.Connection) -> tuple[float, float]:
    query = """SELECT sum(pg_total_relation_size(oid))::double precision,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::double precision
        FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"""
    ((size, wal),) = probe.execute(query)
    return float(size), float(wal)


def _lists(store: PostgresStore) -> Callable[[], int]:
    rng, number = np.random.default_rng(0), iter(range(10**9))
    features = rng.random((CANDIDATES, FEATURES))
    names = [f"item {row}" for row in range(CANDIDATES)]
    plain = impression(
        object_ids=names,
        features=features,
        order=np.arange(10),
        k=10,
        pinned_at=np.zeros(CANDIDATES, int),
        groups=(),
        exposure=None,
        evidence={"scores": rng.random(CANDIDATES)},
    )

    def work() -> int:
        lists = [
            replace(plain, query_id=f"list {next(number):020d}", at=time.time()) for _ in range(TOGETHER)
        ]
        assert write(store, lambda transaction: transaction.append_all(lists)) == 0
        return TOGETHER

    return work


def _clicks(store: PostgresStore) -> Callable[[], int]:
    number, last = iter(range(10**9)), next(store.read_impressions("shop", newest=1))

    def work() -> int:
        ids = [f"click {next(number):026d}" for _ in range(20)]

        def job(transaction: Transaction) -> None:
            transaction.prefetch(event_ids=ids, query_ids=[last.query_id])
            for name in ids:
                if not transaction.knows(name) and transaction.find_shown(last.query_id):
                    transaction.append(event(event_id=name, query_id=last.query_id, list_seq=last.seq))

        write(store, job)
        return len(ids)

    return work


def _service(seconds: float) -> tuple[float, float]:
    """Seconds of a processor to make a list, and to learn from one."""
    service, rng = ServiceFacade(open_temporary_store()), np.random.default_rng(0)
    service.create("shop")
    names = [f"f{number}" for number in range(FEATURES)]
    ranked, began, shown = 0, time.process_time(), []
    while time.process_time() - began < seconds:
        rows = rng.random((CANDIDATES, FEATURES)).tolist()
        candidates = [
            Candidate(f"d{row}", dict(zip(names, values, strict=True))) for row, values in enumerate(rows)
        ]
        shown.append(service.rank(candidates, ranker="shop"))
        ranked += 1
    rank = (time.process_time() - began) / ranked
    few = shown[-min(len(shown), 300) :]
    service.record([UserEvent(each.query_id, each.object_ids[0]) for each in few])
    began = time.process_time()
    service.flush("shop")
    return rank, (time.process_time() - began) / len(few)


def _database_seconds() -> float:
    total = 0
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "comm").read_text().strip() == "postgres":
                total += sum(
                    int(each) for each in (folder / "stat").read_text().rpartition(")")[2].split()[11:15]
                )
        except OSError:
            continue
    return total / 100


@dataclass(frozen=True)
class Day:
    """A simulated day on so many shards."""

    shards: int
    busiest: float  # a writer's time that is used, in the busiest minute
    late: float  # seconds that a list waits to be written, in 99 of 100 seconds
    worst: float


def day(constants: Constants, lists: float, shards: int, *, seed: int = 0) -> Day:
    """Second by second: work that arrives by chance at one writer of several, and what waits.

    Work of a second is lists and clicks over what a writer gets through in one; what is left over waits:
    $w_{t+1} = max(0, w_t + a_t - 1)$.
    """
    rng, mean = np.random.default_rng(seed), lists / DAY / shards
    rates = mean * curve()
    work = rng.poisson(rates) / constants.lists_written
    work = work + rng.poisson(rates * CLICKS) / constants.clicks_written
    left = np.cumsum(work - 1)
    waits = left - np.minimum(np.minimum.accumulate(left), 0.0)  # the same recursion, all at once
    busiest = float(work.reshape(-1, 60).mean(axis=1).max())
    return Day(shards, busiest, float(np.quantile(waits, 0.99)), float(waits.max()))


def curve() -> FloatArray:
    """The load of each second of a day, of the mean: least at four in the morning."""
    hours = np.arange(DAY) / 3600
    found: FloatArray = 1 + (PEAK - 1) * np.sin(2 * math.pi * (hours - 10) / 24)
    return found


def table(constants: Constants) -> list[str]:
    """From a million to a thousand million lists a day, as a table in Markdown."""
    days = (1e6, 1e7, 1e8, 1e9)
    columns = [column(constants, lists) for lists in days]
    head = ["lists a day", *(f"{lists:,.0f}" for lists in days)]
    rows = [[name, *(each[name] for each in columns)] for name in columns[0]]
    return [f"| {' | '.join(row)} |" for row in (head, ["---", *["---:"] * len(days)], *rows)]


def column(constants: Constants, lists: float) -> dict[str, str]:
    """What so many lists a day need."""
    peak = lists / DAY * PEAK
    least = math.ceil(peak * (1 / constants.lists_written + CLICKS / constants.clicks_written))
    found = next(each for count in range(least, 10**6) if fits(each := day(constants, lists, count)))
    processors = peak * constants.rank / FULL + _folding(constants, peak, found.shards)
    stored = lists * (constants.list_bytes + CLICKS * constants.click_bytes)
    wal = peak * (constants.list_wal + CLICKS * constants.click_wal)
    return {
        "lists a second at the peak": f"{peak:,.0f}",
        "databases, one writer each": f"{found.shards:,}",
        "busiest minute of a writer": f"{found.busiest:.0%}",
        "a list waits for it, 99 % of the day": f"{found.late:.2f} s",
        "processors of replicas": f"{math.ceil(processors):,}",
        "processors of databases": f"{math.ceil(peak * constants.database / FULL):,}",
        "kept for a day": f"{stored / 1e9:,.1f} GB",
        "write-ahead log a second at the peak": f"{wal / 1e6:,.1f} MB",
    }


def _folding(constants: Constants, peak: float, shards: int) -> float:
    """Processors that fold the log: each replica of a shard folds all of it, and has two processors."""
    replicas = max(math.ceil(peak * constants.rank / FULL / shards / 2), 2)
    return peak * CLICKS * constants.learn * replicas / FULL


def fits(found: Day) -> bool:
    """Whether a shard's writer has room at the peak."""
    return found.busiest <= FULL and found.late <= LATE


def main() -> None:
    """Measure, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="for each of three measurements")
    parser.add_argument("--constants", type=Path, help="take them from this file")
    parser.add_argument("--save", type=Path, help="put them into this file")
    chosen = parser.parse_args()
    given = json.loads(chosen.constants.read_text()) if chosen.constants else None
    constants = Constants(**given) if given else measured(chosen.seconds)
    if chosen.save:
        chosen.save.write_text(json.dumps(asdict(constants), indent=1) + "\n")
    for name, value in asdict(constants).items():
        CONSOLE.print(f"{name:15} {value:,.6f}" if value < 1 else f"{name:15} {value:,.0f}")
    CONSOLE.print("\n".join(table(constants)), soft_wrap=True)


if __name__ == "__main__":
    main()
