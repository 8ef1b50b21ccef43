"""`python -m benchmarks.late_clicks [--minutes 4]`: reading traffic while clicks come late.

300 lists a second, of which half are clicked: 80 % of them within about a minute, 20 % within half an hour.
Ten commits a second, sums once a second. It says how long the whole is read in 50 steps, and in 50 parts;
the first should take less than 50 ms.
"""

from __future__ import annotations

import argparse
import heapq
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

from rankloop.service.store import Event, Impression, SqliteStore, Transaction, write

LISTS, COMMITS = 300, 10  # a second
STEPS = 50
SHOWN = Impression(
    at=0.0,
    ranker="shop",
    query_id="",
    model=1,
    settings=1,
    mode="explore",
    policy="PDGD()",
    seed=0,
    k=2,
    object_ids=["a", "b"],
    pinned_at=np.zeros(2, np.int64),
    features=np.zeros((2, 1)),
    order=np.arange(2),
)


class LateClicks:
    """Lists, and their clicks in the order of time."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._waiting: list[tuple[float, int]] = []
        self.lists = self.clicks = 0

    def write(self, transaction: Transaction, now: float) -> None:
        """Write the lists of a commit, and the clicks that are due."""
        for _ in range(LISTS // COMMITS):
            self.lists += 1
            seq = transaction.append(replace(SHOWN, query_id=f"q{self.lists}", at=now))
            if self._rng.random() < 0.5:
                is_late = self._rng.random() < 0.2
                delay = self._rng.uniform(0, 1800) if is_late else self._rng.exponential(30)
                heapq.heappush(self._waiting, (now + delay, seq))
        while self._waiting and self._waiting[0][0] <= now:
            _, seq = heapq.heappop(self._waiting)
            self.clicks += 1
            transaction.append(click(self.clicks, seq, now))


def click(number: int, seq: int, now: float) -> Event:
    """A click on the second result of a list."""
    return Event(
        at=now,
        ranker="shop",
        event_id=f"e{number}",
        query_id="",
        object_id="b",
        action="click",
        verdict="accepted",
        position=2,
        list_seq=seq,
    )


def median_milliseconds(work: Callable[[], object], times: int = 9) -> float:
    """The median time of a piece of work."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append(1e3 * (time.perf_counter() - began))
    return statistics.median(took)


def main() -> None:
    """Live some minutes, and look at them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=4.0)
    seconds = 60 * parser.parse_args().minutes
    traffic = LateClicks()
    with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder) / "log.db") as store:
        for commit in range(int(seconds * COMMITS)):
            write(store, lambda transaction, now=commit / COMMITS: traffic.write(transaction, now))  # type: ignore[misc]
            if commit % COMMITS == 0:
                write(store, lambda transaction: transaction.sum_buckets())
        span = {"since": 0.0, "until": seconds}
        read = store.statistics
        steps = median_milliseconds(lambda: read.sum_traffic("shop", step=seconds / STEPS, **span))
        parts = median_milliseconds(lambda: read.sum_traffic_parts("shop", parts=STEPS, **span))
    Console().print(
        f"{traffic.lists:,} lists and {traffic.clicks:,} clicks: {STEPS} steps in {steps:.0f} ms, "
        f"{STEPS} parts in {parts:.0f} ms"
    )


if __name__ == "__main__":
    main()
