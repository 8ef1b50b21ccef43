"""What the SQLite store promises beyond the contract: durability, groups, versions."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from rankloop.service.store import SqliteStore, StoreError, Transaction, write
from tests.support.log_samples import DECISION, EVENT, event, put


def test_what_is_acknowledged_is_synchronous(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        writer = store._writer
        assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert writer.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_what_waits_is_written_in_one_transaction(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        started, go = threading.Event(), threading.Event()

        def slow(transaction: Transaction) -> None:
            started.set()
            assert go.wait(60)

        futures = [store.submit(slow)]
        assert started.wait(60)  # the writer is busy with a group of one
        futures += [
            store.submit(lambda transaction, n=n: transaction.append(event(event_id=f"e{n}")))  # type: ignore[misc]
            for n in range(100)
        ]
        go.set()
        for future in futures:
            future.result()
        assert (store.committer.groups, store.committer.jobs) == (2, 101)


def test_nothing_is_acknowledged_before_it_is_durable(tmp_path: Path) -> None:
    """While the group is open, another connection sees nothing, and nobody has been answered."""
    with SqliteStore(tmp_path / "log.db") as store:
        wrote, go = threading.Event(), threading.Event()

        def slow(transaction: Transaction) -> None:
            wrote.set()
            assert go.wait(60)

        blocker = store.submit(slow)
        assert wrote.wait(60)
        first = store.submit(lambda transaction: transaction.append(EVENT))
        second = store.submit(slow)
        wrote.clear()
        go.set()
        assert wrote.wait(60)
        blocker.result()
        second.result()
        assert first.result() == 1
        assert len(list(store.read_events("shop"))) == 1


def test_a_job_cannot_wait_for_another(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        with pytest.raises(StoreError, match="wait for itself"):
            write(store, lambda transaction: write(store, lambda inner: inner.append(EVENT)))
        assert put(store, EVENT) == [1]


def test_a_disk_in_trouble_is_told_to_everyone_who_waits(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        put(store, EVENT)
        store._writer.execute("PRAGMA query_only = ON")  # as if the disk were full
        futures = [store.submit(lambda transaction: transaction.append(DECISION)) for _ in range(3)]
        for future in futures:
            with pytest.raises(StoreError, match="nothing could be written"):
                future.result()
        store._writer.execute("PRAGMA query_only = OFF")
        assert put(store, DECISION) == [2]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_another_version_is_left_alone(tmp_path: Path, read_only: bool) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        store._writer.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(StoreError, match=r"version 99.*newer rankloop"):
        SqliteStore(tmp_path / "log.db", read_only=read_only)


def test_a_file_that_holds_something_else_is_left_as_it_was(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "log.db") as other:
        other.execute("CREATE TABLE events (mine TEXT)")
    with pytest.raises(StoreError, match="table events already exists"):
        SqliteStore(tmp_path / "log.db")
    with sqlite3.connect(tmp_path / "log.db") as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("events",)]


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_text("not a database, and long enough to be noticed" * 100)
    with pytest.raises(StoreError, match=r"log\.db cannot be opened"):
        SqliteStore(tmp_path / "log.db")


def test_threads_that_ended_leave_no_connections(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        for _ in range(20):
            thread = threading.Thread(target=store.list_rankers)
            thread.start()
            thread.join()
        assert len(store._opened) == 2  # one to write, one to read


def test_counting_lists_does_not_read_their_features(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        columns = {name for _, name, *_ in store.source.run("PRAGMA table_info(impressions)")}
        assert "payload" not in columns


def test_reading_never_waits_for_a_job(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        put(store, DECISION)
        started, go = threading.Event(), threading.Event()

        def slow(transaction: Transaction) -> int:
            started.set()
            assert go.wait(60)
            return transaction.append(DECISION)

        written = store.submit(slow)
        assert started.wait(60)
        assert len(store.read_decisions("shop")) == 1
        go.set()
        assert written.result() == 2
