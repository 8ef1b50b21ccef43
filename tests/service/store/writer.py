"""A process to be killed: threads write events, and print an event's id once it is acknowledged.

Meanwhile another discards what belongs to nobody, and gives the space back.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

from rankloop.service.store import Event, SqliteStore, Store, write
from rankloop.service.store.postgres import PostgresStore


def work(store: Store, name: str) -> None:
    number = 0
    while True:
        event = Event(
            at=float(number),
            ranker="shop",
            event_id=f"{name}-{number}",
            query_id="q",
            object_id="a",
            action="click",
            verdict="accepted",
        )
        write(store, lambda transaction, each=event: transaction.append(each))  # type: ignore[misc]
        sys.stdout.write(f"{event.event_id}\n")
        sys.stdout.flush()
        number += 1


def tidy(store: Store) -> None:
    nobody: dict[str, Any] = dict.fromkeys(("ranker", "event_id", "query_id", "object_id", "action"), "")
    waste = Event(at=0.0, verdict="invalid", detail="x" * 100_000, **nobody)
    while True:
        write(store, lambda transaction: [transaction.append(waste) for _ in range(5)])
        write(store, lambda transaction: transaction.remove_before("", until=0, shown_before=1e9))
        store.reclaim_space()


if __name__ == "__main__":
    where = sys.argv[1]
    opened: Store = PostgresStore(where) if "://" in where else SqliteStore(Path(where))
    threading.Thread(target=tidy, args=(opened,)).start()
    for thread in range(4):
        threading.Thread(target=work, args=(opened, f"{sys.argv[2]}-{thread}")).start()
