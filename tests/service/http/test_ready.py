"""Load balancers are told when to send requests, and monitors when something is wrong; both heal."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from rankloop.candidate import Candidate
from rankloop.errors import DataError
from rankloop.service import Health, UserEvent
from rankloop.service.core.history import History
from rankloop.service.http.recent_value import RecentHealth
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SERVICE, Decision, StoreError, TemporaryStore, open_temporary_store
from tests.support.serving import Process, alive
from tests.support.waiting import wait_until

MUGS = [Candidate("blue", {"price": 3.0}), Candidate("red", {"price": 1.0})]
BODY = {"candidates": [{"object_id": "blue"}, {"object_id": "red"}]}


def test_it_is_not_ready_until_its_logs_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    store, newest = open_temporary_store(), History.newest
    first = ServiceFacade(store)
    first.create("default")
    shown = first.rank(MUGS)
    first.record([UserEvent(shown.query_id, "red")])
    first.flush("default")
    released = threading.Event()

    def slow(self: History) -> object:
        released.wait(120)  # a failing test must not hold the suite
        return newest(self)

    monkeypatch.setattr(History, "newest", slow)
    with ServiceFacade(store, background=True, wait=False) as service, alive(service) as live:
        answer = live["none"].get("/v1/ready")
        assert (answer.status_code, answer.json()["ready"]) == (503, False)
        assert "being folded" in answer.json()["reason"]
        ranked = live["rank"].post("/v1/rank", json=BODY).json()
        assert "starting" in ranked["provenance"]["fallback"]  # and it is answered, in the caller's order
        released.set()
        wait_until(lambda: live["none"].get("/v1/ready").status_code == 200)
        assert service.model("default").lists == 1
        assert live["none"].get("/v1/health").status_code == 200
        live.context.draining.set()
        assert live["none"].get("/v1/ready").status_code == 503


class Full(TemporaryStore):
    """Lists cannot be written down, for a while."""

    full = False

    def submit(self, job, *, urgent=True):  # type: ignore[no-untyped-def]
        if self.full:
            raise StoreError("the disk is full")
        return super().submit(job, urgent=urgent)


def test_health_is_false_only_while_it_is_and_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    store = Full()
    service = ServiceFacade(store)
    service.create("default")
    with alive(service) as live:
        store.full = True
        for _ in range(3):
            live["rank"].post("/v1/rank", json=BODY | {"client_id": "person 7"})
        sick = live["none"].get("/v1/health")
        assert (sick.status_code, sick.json()["ok"]) == (503, False)
        assert live["none"].get("/v1/ready").status_code == 200  # lists are better than none
        store.full = False
        live["rank"].post("/v1/rank", json=BODY)
        assert live["none"].get("/v1/health").status_code == 200
        assert live.metric("rankloop_ranker_unlogged", ranker="default") == 3  # it is still told
    (line,) = [each for each in caplog.records if "cannot be written down" in each.getMessage()]
    said = line.data  # type: ignore[attr-defined]
    assert set(said) == {"what", "where", "why", "do"}
    assert said["where"] == "ranker 'default'"
    assert "person 7" not in json.dumps(said)


def test_an_error_of_learning_is_counted_and_passes() -> None:
    class Troubled(TemporaryStore):
        broken = False

        def read_decisions(self, ranker: str | None = None, **chosen: Any) -> list[Decision]:
            if self.broken:
                raise StoreError("cannot be read")
            return super().read_decisions(ranker, **chosen)

    store = Troubled()
    with ServiceFacade(store, background=True) as service, alive(service) as live:
        service.create("default")
        shown = service.rank(MUGS)
        service.record([UserEvent(shown.query_id, "red")])
        store.broken = True
        wait_until(lambda: not service.health().ok)
        store.broken = False
        wait_until(lambda: service.health().ok)
        assert live.metric("rankloop_learner_age_seconds") < 60
        text = live["rank"].get("/metrics").text
        names = (
            "jobs_waiting",
            "learner_behind",
            "learner_errors_total",
            "store_bytes",
            "trials",
            "ranker_mode",
        )
        assert all(f"\nrankloop_{name}" in text for name in names)
        assert "\nprocess_resident_memory_bytes" in text


class KeysUnreadable(TemporaryStore):
    """A store whose entries about the service cannot be read."""

    def read_decisions(self, ranker: str | None = None, **chosen: Any) -> list[Decision]:
        if ranker == SERVICE:
            raise StoreError("this page is damaged")
        return super().read_decisions(ranker, **chosen)


def test_a_service_that_cannot_be_opened_leaves_no_thread_behind(tmp_path: Path) -> None:
    unreadable, fine = KeysUnreadable(), open_temporary_store()
    before = set(threading.enumerate())
    with pytest.raises(StoreError):
        ServiceFacade(unreadable, background=True)
    with pytest.raises(DataError):
        ServiceFacade(fine, background=True, recommenders={"shop": tmp_path / "nowhere.npz"})
    assert set(threading.enumerate()) <= before


def test_it_drains_on_sigterm_while_balancers_look_elsewhere(tmp_path: Path) -> None:
    process = Process(tmp_path / "data", "--drain", "600").start()
    with httpx.Client(base_url=process.url, timeout=60) as client:
        assert client.get("/v1/ready").status_code == 200
        assert process._process is not None
        os.kill(process._process.pid, signal.SIGTERM)
        wait_until(lambda: client.get("/v1/ready").status_code == 503)
    with process.client("rank") as client:  # a new connection is still taken in
        assert client.post("/v1/rank", json=BODY).status_code == 200
    assert process.stop() == 0  # whoever asks twice does not wait


class Crowded(ServiceFacade):
    """A service whose health takes a while to look at, as that of thousands of rankers does."""

    looks = 0

    def health(self) -> Health:
        self.looks, began = self.looks + 1, time.thread_time()
        while time.thread_time() - began < 0.03:
            pass
        return super().health()


def test_those_who_ask_for_health_at_once_share_one_look() -> None:
    together, used, looks = threading.Barrier(8), count(), list[float]()

    def look() -> Health:
        looks.append(time.monotonic())
        time.sleep(0.2)  # meanwhile all the others ask
        return Health({})

    health = RecentHealth(look, used=lambda: float(next(used)))  # each takes a second: it is good for twenty

    def ask() -> bool:
        together.wait(60)
        return health.look().ok

    with ThreadPoolExecutor(8) as threads:
        assert [each.result() for each in [threads.submit(ask) for _ in range(8)]] == [True] * 8
    assert len(looks) == 1


def test_whoever_has_no_key_cannot_have_the_health_of_thousands_of_rankers_looked_at_all_the_time() -> None:
    store = Full()
    service = Crowded(store)
    service.create("default")
    with alive(service) as live:
        assert [live["none"].get("/v1/health").status_code for _ in range(12)] == [200] * 12
        assert service.looks < 12
        store.full = True
        live["rank"].post("/v1/rank", json=BODY)
        wait_until(lambda: live["none"].get("/v1/health").status_code == 503)  # it is heard of soon
