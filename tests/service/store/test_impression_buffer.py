"""Lists on their way into the log: in order, together, and counted if they are lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rankloop.service.store import (
    ImpressionBuffer,
    SqliteStore,
    Store,
    StoreError,
    TemporaryStore,
    Transaction,
    impression_buffer,
    open_temporary_store,
    write,
)
from tests.support.log_samples import impression


class Lost:
    """Counts."""

    def __init__(self) -> None:
        self.lists = 0

    def __call__(self, lists: int) -> None:
        self.lists += lists


@pytest.fixture
def lost() -> Lost:
    return Lost()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "log.db") as store:
        yield store


class Held:
    """A job that holds the transaction open until it is let go."""

    def __init__(self, store: Store) -> None:
        self._begun, self._go = threading.Event(), threading.Event()
        self.future = store.submit(self._job)
        assert self._begun.wait(60)

    def _job(self, transaction: Transaction) -> None:
        self._begun.set()
        assert self._go.wait(60)

    def release(self) -> None:
        self._go.set()
        self.future.result(60)


def test_whatever_is_submitted_after_a_list_is_done_after_it(store: Store, lost: Lost) -> None:
    buffer = ImpressionBuffer(store, lost=lost)
    for number in range(50):
        buffer.put(impression(query_id=f"q{number}"))
        assert write(store, lambda transaction, name=f"q{number}": transaction.find_shown(name)) is not None  # type: ignore[misc]
    assert lost.lists == 0


def test_lists_that_come_while_another_transaction_is_open_are_one_job(
    sqlite: SqliteStore, lost: Lost
) -> None:
    buffer, held = ImpressionBuffer(sqlite, lost=lost), Held(sqlite)
    for number in range(50):
        buffer.put(impression(query_id=f"q{number}"))
    assert sqlite.committer.waiting() == 1
    held.release()
    write(sqlite, lambda _: None)
    assert [each.query_id for each in sqlite.read_impressions("shop")] == [
        f"q{number}" for number in range(50)
    ]
    assert lost.lists == 0


def test_an_urgent_list_takes_the_others_along(sqlite: SqliteStore, lost: Lost) -> None:
    buffer = ImpressionBuffer(sqlite, lost=lost)
    buffer.put(impression(query_id="q1"))
    buffer.put(impression(query_id="q2"), urgent=True)
    buffer.put(impression(query_id="q3"))
    write(sqlite, lambda _: None)
    assert [each.query_id for each in sqlite.read_impressions("shop")] == ["q1", "q2", "q3"]


def test_one_bad_list_does_not_harm_the_others(sqlite: SqliteStore, lost: Lost) -> None:
    buffer, held = ImpressionBuffer(sqlite, lost=lost), Held(sqlite)
    words = {"words": np.array(["cannot be stored"])}
    for changes in ({}, {"query_id": "q2", "evidence": words}, {}, {"query_id": "q4"}, {"seed": 2**70}):
        buffer.put(impression(**changes))
    held.release()
    write(sqlite, lambda _: None)
    assert [each.query_id for each in sqlite.read_impressions("shop")] == ["q1", "q4"]
    assert lost.lists == 3


def test_more_than_may_wait_is_lost_and_counted(
    sqlite: SqliteStore, lost: Lost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impression_buffer, "MOST", 3)
    buffer, held = ImpressionBuffer(sqlite, lost=lost), Held(sqlite)
    for number in range(5):
        buffer.put(impression(query_id=f"q{number}"))
    held.release()
    write(sqlite, lambda _: None)
    assert [each.query_id for each in sqlite.read_impressions("shop")] == ["q0", "q1", "q2"]
    assert lost.lists == 2


def test_a_closed_store_loses_lists_and_says_so(lost: Lost) -> None:
    store = open_temporary_store()
    store.close()
    buffer = ImpressionBuffer(store, lost=lost)
    buffer.put(impression(query_id="q1"))
    buffer.put(impression(query_id="q2"), urgent=True)
    assert lost.lists == 2


def test_a_disk_in_trouble_loses_lists_and_those_after_it_are_written(
    sqlite: SqliteStore, lost: Lost, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer, held = ImpressionBuffer(sqlite, lost=lost), Held(sqlite)

    def out_of_order(jobs: object) -> None:
        raise StoreError("no space left")

    works = sqlite.committer._transact
    monkeypatch.setattr(sqlite.committer, "_transact", out_of_order)
    buffer.put(impression(query_id="q1"))
    buffer.put(impression(query_id="q2"))
    held.release()
    with pytest.raises(StoreError, match="no space left"):
        write(sqlite, lambda _: None)
    assert lost.lists == 2
    monkeypatch.setattr(sqlite.committer, "_transact", works)
    buffer.put(impression(query_id="q3"))
    write(sqlite, lambda _: None)
    assert [each.query_id for each in sqlite.read_impressions("shop")] == ["q3"]


class Halting(TemporaryStore):
    """Stands still inside `submit` until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.go_on = threading.Event(), threading.Event()

    def submit(self, job, *, urgent=True):  # type: ignore[no-untyped-def]
        self.inside.set()
        assert self.go_on.wait(60)
        return super().submit(job, urgent=urgent)


def test_a_list_is_put_only_when_the_job_that_takes_it_is_in_the_queue(lost: Lost) -> None:
    store = Halting()
    buffer = ImpressionBuffer(store, lost=lost)
    first = threading.Thread(target=buffer.put, args=(impression(query_id="a"),))
    second = threading.Thread(target=buffer.put, args=(impression(query_id="b"),))
    first.start()
    assert store.inside.wait(60)
    second.start()
    second.join(0.2)
    assert second.is_alive()  # otherwise a click on it could come before it
    store.go_on.set()
    first.join()
    second.join()
    assert all(store.find_impression(name) for name in "ab")
    assert lost.lists == 0
