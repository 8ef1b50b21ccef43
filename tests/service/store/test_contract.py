"""Both stores keep the contract, and a store that does not is found out."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from rankloop.service.store import (
    Decision,
    Event,
    Impression,
    Job,
    MemoryStore,
    Snapshot,
    SqliteStore,
    Store,
    StoreError,
    Transaction,
    memory,
    write,
)
from rankloop.service.store.checks import ContractBroken, check_store
from rankloop.service.store.checks.samples import DECISION, put


@contextmanager
def no_commit(store: Store) -> Iterator[None]:
    """Every COMMIT fails, as on a disk that is full."""
    assert isinstance(store, SqliteStore)
    real = store._writer

    class Full:
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            return real.execute(statement, *values)

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    store._writer = Full()  # type: ignore[assignment]
    yield
    store._writer = real


def test_a_store_in_a_file_keeps_the_contract(tmp_path: Path) -> None:
    numbers = count()

    def reopen(store: Store) -> Store:
        store.close()
        assert isinstance(store, SqliteStore)
        return SqliteStore(store._path)

    check_store(
        lambda: SqliteStore(tmp_path / f"log{next(numbers)}.db"),
        reopen=reopen,
        failing=no_commit,
    )


def test_a_store_in_memory_keeps_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def failing(store: Store) -> Iterator[None]:
        def commit(self: object) -> None:
            raise StoreError("no memory left")

        with monkeypatch.context() as patch:
            patch.setattr(memory._MemoryTransaction, "commit", commit)
            yield

    check_store(MemoryStore, failing=failing)


class Forgetful(MemoryStore):
    """Knows no events."""

    def submit(self, job: Job[Any], *, urgent: bool = True) -> Future[Any]:
        self.known.clear()
        return super().submit(job, urgent=urgent)


class Careless(MemoryStore):
    """Commits what a job wrote before it failed."""

    def submit(self, job: Job[Any], *, urgent: bool = True) -> Future[Any]:
        failed: list[Exception] = []

        def caught(transaction: Transaction) -> Any:
            try:
                return job(transaction)
            except Exception as error:
                failed.append(error)

        future = super().submit(caught, urgent=urgent)
        if failed:
            future = Future()
            future.set_exception(failed[0])
        return future


class Hoarder(MemoryStore):
    """Loses no snapshot, not even one that should go."""

    def submit(self, job: Job[Any], *, urgent: bool = True) -> Future[Any]:
        before = {(each.ranker, each.seq): each for each in self.kept}
        future = super().submit(job, urgent=urgent)
        before |= {(each.ranker, each.seq): each for each in self.kept}
        self.kept = sorted(before.values(), key=lambda each: each.seq)
        return future


class Shuffling(MemoryStore):
    """Gives the events of a list newest first."""

    def find_events(self, ids: Collection[str] = (), *, query_id: str = "") -> Sequence[Event]:
        return super().find_events(ids, query_id=query_id)[::-1]


class Eager(MemoryStore):
    """Lets the log's time run with a clock that is wrong."""

    def time(self, now: float) -> float:
        return now


class Rounding(MemoryStore):
    """Loses the sign of zero."""

    def find_impression(self, query_id: str) -> Impression | None:
        found = super().find_impression(query_id)
        if found is not None:
            return replace(found, features=found.features + 0.0)
        return found


@pytest.mark.parametrize(
    ("mutant", "law"),
    [
        (Forgetful, "an event that found its list is known"),
        (Careless, "other lists are not harmed|jobs before and after a failure are done"),
        (Hoarder, "old snapshots are thinned|snapshots that are left"),
        (Shuffling, "events are found by their list"),
        (Eager, "time is never before the last entry|readers are told the same time"),
        (Rounding, "a list comes back to the bit"),
    ],
)
def test_a_store_that_breaks_the_contract_is_found_out(mutant: Callable[[], Store], law: str) -> None:
    with pytest.raises(ContractBroken, match=law):
        check_store(mutant)


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


def test_what_a_base_names_need_not_be_there(store: Store) -> None:
    put(store, Decision(at=1.0, ranker="shop", kind="retain", body={"base": 7}))
    snapshot = Snapshot(seq=9, at=1.0, ranker="shop", body={}, arrays={})
    write(store, lambda transaction: transaction.save_snapshot(snapshot))
    assert list(store.list_snapshots("shop")) == [(9, 1.0)]
