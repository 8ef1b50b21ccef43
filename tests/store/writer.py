"""A process to be killed: several threads write events, and print an event's id once it is acknowledged."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from rankloop.store import Event, SqliteStore, write


def work(store: SqliteStore, name: str) -> None:
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


if __name__ == "__main__":
    opened = SqliteStore(Path(sys.argv[1]))
    for thread in range(4):
        threading.Thread(target=work, args=(opened, f"{sys.argv[2]}-{thread}")).start()
