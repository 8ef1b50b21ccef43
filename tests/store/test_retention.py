"""Discarding: what a model does not need goes, what it needs stays, and the disk gets its space back."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from rankloop.store import SqliteStore, Store, StoreError, write
from tests.store.samples import DECISION, event, impression, keep, put
from tests.store.test_migration import file_of_version


def test_what_a_model_does_not_need_is_discarded(store: Store) -> None:
    lists = [impression(query_id=f"q{number}", at=10.0) for number in range(1, 5)]
    put(store, *lists, DECISION)  # 1 to 5
    put(store, event(event_id="e1", query_id="q1", list_seq=1, at=20.0))  # 6
    put(store, event(event_id="e2", query_id="q2", list_seq=2, at=20.0))  # 7: before the base
    put(store, event(event_id="e3", ranker="", verdict="orphan", list_seq=None, at=20.0))  # 8
    put(store, event(event_id="e4", ranker="news", list_seq=None, at=20.0))  # 9
    put(store, impression(query_id="q5", at=30.0))  # 10: as new as lists may be
    put(store, event(event_id="e5", query_id="q3", list_seq=3, at=30.0))  # 11: after the base
    put(store, event(event_id="e6", ranker="", verdict="invalid", list_seq=None, at=30.0))  # 12
    for seq in (5, 9, 11):
        keep(store, seq=seq, at=float(seq))
    count = write(store, lambda job: job.discard("shop", until=10, shown_before=30.0, keep=["q4"]))
    assert count == 5
    assert [each.query_id for each in store.impressions("shop")] == ["q3", "q4", "q5"]
    assert [each.event_id for each in store.events(None)] == ["e4", "e5", "e6"]
    assert store.impression("q1") is None
    assert not write(store, lambda job: job.knows("e1"))
    assert write(store, lambda job: job.knows("e5"))
    assert [each.seq for each in store.decisions("shop")] == [5]
    assert [seq for seq, _ in store.snapshots("shop")] == [11]
    assert put(store, impression(query_id="q1", at=40.0)) == [13]


def test_numbers_and_time_never_go_back(store: Store, tmp_path: Path) -> None:
    put(store, event(at=50.0))
    write(store, lambda job: job.discard("shop", until=1, shown_before=0.0))
    assert not list(store.events(None))
    assert store.time(0.0) == 50.0
    if isinstance(store, SqliteStore):
        store.close()
        store = SqliteStore(tmp_path / "log.db")
    assert put(store, event(at=60.0)) == [2]
    store.close()


def fill(store: SqliteStore) -> None:
    features = np.random.default_rng(0).random((300, 100))
    rows = {"features": features, "pinned_at": np.zeros(300, int), "object_ids": ["a"] * 300}
    put(store, *(impression(query_id=f"large{number}", at=10.0, **rows) for number in range(20)))
    write(store, lambda job: job.discard("shop", until=25, shown_before=11.0))
    put(store, DECISION)


def size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.parent.iterdir() if each.name.startswith("log.db"))


@pytest.mark.parametrize("version", [None, 2])
def test_a_compacted_file_gives_its_space_back(tmp_path: Path, version: int | None) -> None:
    path = tmp_path / "log.db"
    if version is not None:
        file_of_version(path, version)
    with SqliteStore(path) as store:
        fill(store)
        before = size(path)
        given_back = store.compact()
        assert given_back == before - size(path) > 4_000_000
        assert [each.kind for each in store.decisions("shop")][-1] == "mode"
        put(store, DECISION)
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert file.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    file.close()


def test_jobs_are_done_while_a_file_is_compacted(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        fill(store)
        worker = threading.Thread(target=store.compact)
        worker.start()
        assert put(store, *(event(event_id=f"e{number}") for number in range(50))) == list(range(22, 72))
        worker.join()
        assert len(list(store.events("shop"))) == 50


def test_a_job_cannot_compact(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        with pytest.raises(StoreError, match="must not compact"):
            write(store, lambda _: store.compact())
        assert put(store, DECISION) == [1]
