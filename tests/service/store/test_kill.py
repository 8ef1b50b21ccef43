"""`kill -9` at any moment loses nothing that was acknowledged, and doubles nothing; also while compacting."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankloop.service.store import SqliteStore, Store, StoreError, write
from rankloop.service.store.postgres import PostgresStore
from tests.support.log_samples import EVENT
from tests.support.postgres import Cluster
from tests.support.waiting import wait_until

KILLS = 20


def test_what_was_acknowledged_survives_being_killed(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    moments = np.random.default_rng(0).exponential(0.03, KILLS)
    for number, moment in enumerate(moments):
        acknowledged += killed_after(tmp_path / "log.db", f"run{number}", float(moment))
        with SqliteStore(tmp_path / "log.db") as store:
            found = [event.event_id for event in store.read_events("shop")]
        assert len(set(found)) == len(found), "an event is there twice"
        assert set(acknowledged) <= set(found), "an acknowledged event is lost"
    assert len(acknowledged) > KILLS


def test_what_was_acknowledged_survives_being_killed_beside_a_database(postgres: Cluster) -> None:
    url, acknowledged = postgres.url(), list[str]()
    for number, moment in enumerate(np.random.default_rng(1).exponential(0.1, 4)):
        acknowledged += killed_after(url, f"run{number}", float(moment))
    with PostgresStore(url) as store:
        check(acknowledged, store)


def test_what_was_acknowledged_survives_the_death_of_the_database(postgres: Cluster) -> None:
    """It goes in the middle of everything, comes back, and the same store goes on."""
    acknowledged: list[str] = []
    with PostgresStore(postgres.url()) as store:
        ended = threading.Event()

        def work(name: str) -> int:
            refused = number = 0
            while not ended.is_set():
                event, number = replace(EVENT, event_id=f"{name}-{number}"), number + 1
                try:
                    write(store, lambda transaction, each=event: transaction.append(each))  # type: ignore[misc]
                    acknowledged.append(event.event_id)
                except StoreError:  # never sent again: not even then is anything there twice
                    refused += 1
                    time.sleep(0.01)
            return refused

        with ThreadPoolExecutor(4) as pool:
            workers = [pool.submit(work, str(thread)) for thread in range(4)]
            for moment in (0.2, 0.3):
                time.sleep(moment)
                postgres.stop("immediate")
                before = len(acknowledged)
                postgres.start()
                wait_until(lambda: len(acknowledged) > before + 50)  # noqa: B023
            ended.set()
            assert all(each.result() > 0 for each in workers), "nobody noticed"
        check(acknowledged, store)


def check(acknowledged: list[str], store: Store) -> None:
    found = [event.event_id for event in store.read_events("shop")]
    assert len(set(found)) == len(found), "an event is there twice"
    assert set(acknowledged) <= set(found), "an acknowledged event is lost"
    assert len(acknowledged) > 50


def killed_after(path: Path | str, name: str, seconds: float) -> list[str]:
    """What a process acknowledged before it was killed, a while after its first acknowledgement."""
    script = Path(__file__).with_name("writer.py")
    process = subprocess.Popen([sys.executable, script, path, name], stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(seconds)
    process.kill()
    rest = process.stdout.read()
    process.stdout.close()
    process.wait()
    lines = (first + rest).splitlines(keepends=True)
    return [line.strip() for line in lines if line.endswith("\n")]
