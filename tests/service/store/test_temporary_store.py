"""A temporary store writes at once and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rankloop.service.store import StoreError, open_temporary_store, write
from tests.support.log_samples import EVENT, event, impression, put

OPEN = """
from rankloop.service.store import open_temporary_store
print(open_temporary_store().folder)
"""


def test_a_job_is_done_when_submit_returns() -> None:
    with open_temporary_store() as store:
        future = store.submit(lambda transaction: transaction.append(impression()), urgent=False)
        assert future.done()
        assert store.find_impression("q1") is not None
        failed = store.submit(lambda transaction: transaction.append(impression()))
        assert isinstance(failed.exception(), StoreError)
        assert put(store, EVENT) == [2]


def test_threads_take_turns() -> None:
    with open_temporary_store() as store, ThreadPoolExecutor(4) as pool:
        batches = [[event(event_id=f"{n}-{number}") for number in range(20)] for n in range(4)]
        numbers = [seq for found in pool.map(lambda events: put(store, *events), batches) for seq in found]
        assert sorted(numbers) == [each.seq for each in store.read_events("shop")] == list(range(1, 81))


def test_a_job_cannot_submit_another() -> None:
    with open_temporary_store() as store:
        with pytest.raises(StoreError, match="wait for itself"):
            write(store, lambda transaction: write(store, lambda inner: inner.append(EVENT)))
        assert put(store, EVENT) == [1]


def test_a_closed_store_takes_nothing_and_its_folder_is_gone() -> None:
    store = open_temporary_store()
    store.close()
    store.close()
    assert not store.folder.exists()
    with pytest.raises(StoreError, match="closed"):
        put(store, EVENT)


def test_a_store_that_nobody_closed_goes_with_its_process() -> None:
    done = subprocess.run([sys.executable, "-c", OPEN], check=True, capture_output=True, text=True)
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("rankloop-")
    assert not folder.exists()
