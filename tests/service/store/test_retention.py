"""Discarding: what a model does not need goes, what it needs stays, and the disk gets its space back."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from rankloop.service.store import SqliteStore, StoreError, write
from tests.support.log_samples import DECISION, event, impression, put


def fill(store: SqliteStore) -> None:
    features = np.random.default_rng(0).random((300, 100))
    rows = {"features": features, "pinned_at": np.zeros(300, int), "object_ids": ["a"] * 300}
    put(store, *(impression(query_id=f"large{number}", at=10.0, **rows) for number in range(20)))
    write(store, lambda job: job.remove_before("shop", until=25, shown_before=11.0))
    put(store, DECISION)


def size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.parent.iterdir() if each.name.startswith("log.db"))


def test_a_compacted_file_gives_its_space_back(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with SqliteStore(path) as store:
        fill(store)
        before = size(path)
        given_back = store.reclaim_space()
        assert given_back == before - size(path) > 4_000_000
        assert [each.kind for each in store.read_decisions("shop")][-1] == "mode"
        put(store, DECISION)
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert file.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    file.close()


def test_jobs_are_done_while_a_file_is_compacted(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        fill(store)
        worker = threading.Thread(target=store.reclaim_space)
        worker.start()
        assert put(store, *(event(event_id=f"e{number}") for number in range(50))) == list(range(22, 72))
        worker.join()
        assert len(list(store.read_events("shop"))) == 50


def test_a_job_cannot_compact(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        with pytest.raises(StoreError, match="must not compact"):
            write(store, lambda _: store.reclaim_space())
        assert put(store, DECISION) == [1]
