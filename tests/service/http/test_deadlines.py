"""Whatever is slow or broken, the caller gets a list in time, marked as what it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import pytest

from rankloop.policies import PairRank
from rankloop.service import RankerSettings, TrialSettings
from rankloop.service.http import HttpSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Job, StoreBusy, StoreError, TemporaryStore, open_temporary_store
from rankloop.types import FloatArray, Query, Ranking
from tests.support.life import Clock, Ids
from tests.support.serving import Live, alive, click, request
from tests.support.waiting import wait_until

T = TypeVar("T")
GO = threading.Event()  # what is stuck goes on when it is set
HASTY = HttpSettings(deadline=0.05, patience=2.0, threads=2, waiting=1)


@dataclass(kw_only=True, eq=False)
class Stuck(PairRank):
    """A policy that never comes to an end by itself."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        GO.wait(60)
        return super().rank(query, k=k, rng=rng)


class StuckStore(TemporaryStore):
    """A store that writes nothing while it is stuck, or cannot write at all."""

    stuck = broken = False

    def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
        if self.broken:
            raise StoreError("the disk is full")
        if not self.stuck:
            return super().submit(job, urgent=urgent)
        later: Future[T] = Future()
        later.set_running_or_notify_cancel()  # it is just being written

        def write() -> None:
            GO.wait(60)
            later.set_result(super(StuckStore, self).submit(job, urgent=urgent).result())

        threading.Thread(target=write, daemon=True).start()
        return later


@pytest.fixture(autouse=True)
def stuck() -> Iterator[None]:
    GO.clear()
    yield
    GO.set()


def own_order(answer: dict[str, Any]) -> bool:
    return [each["object_id"] for each in answer["ranking"]] == ["d0", "d1", "d2", "d3"]


def test_a_policy_that_is_stuck_gives_the_callers_own_order() -> None:
    service = ServiceFacade(open_temporary_store(), policies=[Stuck])
    service.create("default", RankerSettings(policy=Stuck()))
    with alive(service, HASTY) as live:
        answer = live["rank"].post("/v1/rank", json=request()).json()
        assert own_order(answer)
        assert answer["provenance"]["fallback"] == "deadline: no list within 50 ms"
        assert live.metric("rankloop_fallbacks_total", ranker="default", reason="deadline") == 1
        GO.set()


def test_a_fallback_is_written_down_and_its_clicks_find_it() -> None:
    service = ServiceFacade(open_temporary_store(), policies=[Stuck])
    service.create("default", RankerSettings(policy=Stuck()))
    with alive(service, HASTY) as live:
        query = live["rank"].post("/v1/rank", json=request()).json()["query_id"]
        wait_until(lambda: service.store.find_impression(query))
        receipt = live["rank"].post("/v1/events", json={"events": [click(query, "d1")]}).json()["receipts"][0]
        assert receipt["verdict"] == "accepted"
        service.flush("default")
        assert service.model("default").lists == 0  # the policy had no part in it
        again = live["admin"].post(f"/v1/audit/{query}/replay").json()
        assert again["identical"] is True
        assert live["admin"].get(f"/v1/audit/{query}").json()["fallback"].startswith("deadline")
        assert live["admin"].get(f"/v1/explain/{query}?a=d0&b=d1").status_code < 500
        GO.set()


def test_a_fallback_has_the_time_and_the_id_that_the_service_gives() -> None:
    """So that a life can be lived again exactly, also where it went wrong."""
    service = ServiceFacade(open_temporary_store(), clock=Clock(1234.5), ids=Ids("given"), policies=[Stuck])
    service.create("default", RankerSettings(policy=Stuck()))
    with alive(service, HASTY) as live:
        answer = live["rank"].post("/v1/rank", json=request()).json()
        assert answer["provenance"]["fallback"].startswith("deadline")
        wait_until(lambda: service.store.find_impression(answer["query_id"]))
        logged = service.store.find_impression(answer["query_id"])
        assert logged is not None
        assert logged.at == 1234.5
        assert logged.query_id.startswith("given")
        GO.set()


@dataclass(kw_only=True, eq=False)
class StuckScores(PairRank):
    """A policy that never comes to an end with its scores."""

    def score(self, query: Any) -> FloatArray:
        GO.wait(60)
        return super().score(query)


def test_an_arm_b_that_is_stuck_costs_time_in_its_own_arm_and_nowhere_else() -> None:
    """Also of lists without a session: a fallback that drew its arm anew would fill arm A with its own."""
    service = ServiceFacade(open_temporary_store(), ids=Ids("given"), policies=[StuckScores])
    service.create("default")
    many = HttpSettings(deadline=1.0, patience=60.0, threads=20, waiting=20)
    with alive(service, many) as live:
        for _ in range(5):  # so that lists of this size are known to be quick
            live["rank"].post("/v1/rank", json=request())
        GO.set()
        service.start_trial("default", TrialSettings(policy="StuckScores"))
        GO.clear()
        answers = [live["rank"].post("/v1/rank", json=request()).json()["provenance"] for _ in range(6)]
        arms = {(each["arm"], bool(each["fallback"])) for each in answers}
        assert arms == {("A", False), ("B", True)}
        GO.set()


def test_few_threads_can_be_stuck_and_then_nobody_waits() -> None:
    service = ServiceFacade(open_temporary_store(), policies=[Stuck])
    service.create("default", RankerSettings(policy=Stuck()))
    with alive(service, HASTY) as live:
        reasons = [
            live["rank"].post("/v1/rank", json=request()).json()["provenance"]["fallback"].partition(":")[0]
            for _ in range(5)
        ]
        assert reasons == ["deadline", "deadline", "deadline", "busy", "busy"]
        assert threading.active_count() < 30
        assert live["none"].get("/v1/health").status_code == 200  # all else goes on
        GO.set()
        wait_until(lambda: live.context.rank_workers.pending == 0)
        wait_until(
            lambda: live["rank"].post("/v1/rank", json=request()).json()["provenance"]["fallback"] is None
        )


def test_a_fallback_keeps_to_pins_and_to_k_and_refuses_what_is_wrong() -> None:
    service = ServiceFacade(open_temporary_store(), policies=[Stuck])
    service.create("default", RankerSettings(policy=Stuck()))
    with alive(service, HASTY) as live:
        body = request(k=2)
        body["candidates"][3]["pinned_at"] = 1
        answer = live["rank"].post("/v1/rank", json=body).json()
        assert [each["object_id"] for each in answer["ranking"]] == ["d3", "d0"]
        for _ in range(3):
            live["rank"].post("/v1/rank", json=request())
        body["candidates"][0]["object_id"] = "d1"
        assert live["rank"].post("/v1/rank", json=body).status_code == 400
        GO.set()


def test_a_store_that_is_stuck_gives_the_callers_own_order_and_acknowledges_nothing() -> None:
    store = StuckStore()
    service = ServiceFacade(store)
    service.create("default")
    with alive(service, HASTY) as live:
        query = live["rank"].post("/v1/rank", json=request()).json()["query_id"]
        store.stuck = True
        body = request()
        body["candidates"][0]["features"]["new"] = 1  # a feature that must be written down first
        answer = live["rank"].post("/v1/rank", json=body).json()
        assert own_order(answer)
        assert answer["provenance"]["fallback"].startswith("deadline")
        events = {"events": [click(query, "d1", event_id="e1")]}
        late = live["rank"].post("/v1/events", json=events)
        assert late.status_code == 503
        assert "same event ids" in late.json()["error"]
        GO.set()
        store.stuck = False
        wait_until(lambda: list(store.read_events("default")))
        assert live["rank"].post("/v1/events", json=events).json()["receipts"][0]["verdict"] == "duplicate"
        assert len(list(store.read_events("default"))) == 1


def test_a_store_that_is_broken_gives_the_callers_own_order_and_acknowledges_nothing() -> None:
    store = StuckStore()
    service = ServiceFacade(store)
    service.create("default")
    with alive(service) as live:
        live["rank"].post("/v1/rank", json=request())
        store.broken = True
        known = live["rank"].post("/v1/rank", json=request()).json()
        assert known["provenance"]["fallback"] is None  # a list is better than none
        body = request()
        body["candidates"][0]["features"]["new"] = 1
        answer = live["rank"].post("/v1/rank", json=body).json()
        assert own_order(answer)
        assert answer["provenance"]["fallback"].startswith("store")
        assert live.metric("rankloop_fallbacks_total", ranker="default", reason="store") == 1
        assert live.metric("rankloop_ranker_unlogged", ranker="default") == 2  # shown, and not written down
        refused = live["rank"].post("/v1/events", json={"events": [click("q", "d1")]})
        assert refused.status_code == 503
        assert live["none"].get("/v1/health").json()["ok"] is False
        store.broken = False


def test_an_answer_that_cannot_be_made_is_an_error_of_ours_without_a_word_of_the_user(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")

    def fail(query_id: str) -> None:
        raise KeyError("the words of a user")

    monkeypatch.setattr(service, "audit", fail)
    with alive(service) as live:
        answer = live["admin"].get("/v1/audit/x")
        assert answer.status_code == 500
        assert "X-Request-Id" in answer.json()["error"]
    failures = [record for record in caplog.records if record.message == "failure"]
    assert failures
    assert "words" not in str([vars(each) for each in failures])


def test_everything_busy_is_said(live_busy: Live) -> None:
    answer = live_busy["admin"].get("/v1/models")
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "1"


@pytest.fixture
def live_busy() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service) as live:
        live.context.admin_workers._most = 0
        yield live


def test_a_list_that_comes_too_late_has_never_been() -> None:
    service = ServiceFacade(open_temporary_store(), policies=[Stuck])
    service.create("default", RankerSettings(policy=Stuck()))
    with alive(service, HASTY) as live:
        answer = live["rank"].post("/v1/rank", json=request()).json()
        GO.set()
        wait_until(lambda: live.context.rank_workers.pending == 0)
        (logged,) = service.store.read_impressions("default")  # what was given back, and nothing else
        assert logged.query_id == answer["query_id"]
        assert logged.fallback.startswith("deadline")
        assert logged.shown == [each["object_id"] for each in answer["ranking"]]
        live["rank"].post("/v1/events", json={"events": [click(logged.query_id, "d1")]})
        service.flush("default")
        assert service.model("default").lists == 0


def test_a_store_with_too_much_to_write_costs_nobody_a_list() -> None:
    class Full(TemporaryStore):
        full = False

        def submit(self, job: Job[T], *, urgent: bool = True) -> Future[T]:
            if self.full:
                raise StoreBusy("20,000 jobs wait to be written")
            return super().submit(job, urgent=urgent)

    store = Full()
    service = ServiceFacade(store)
    service.create("default")
    with alive(service) as live:
        query = live["rank"].post("/v1/rank", json=request()).json()["query_id"]
        store.full = True
        answer = live["rank"].post("/v1/rank", json=request())
        assert answer.json()["provenance"]["fallback"] is None
        refused = live["rank"].post("/v1/events", json={"events": [click(query, "d1")]})
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert live["none"].get("/v1/health").json()["ok"] is False
        store.full = False
        again = live["rank"].post("/v1/events", json={"events": [click(query, "d1")]}).json()
        assert again["receipts"][0]["verdict"] == "accepted"


@dataclass(kw_only=True, eq=False)
class Foreign(PairRank):
    """A policy of which nobody knows what it does."""

    threads: ClassVar[set[str]] = set()

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        self.threads.add(threading.current_thread().name)
        return super().rank(query, k=k, rng=rng)


def test_only_our_own_policies_rank_where_nobody_could_leave_them_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = ServiceFacade(open_temporary_store(), policies=[Foreign])
    service.create("default")
    service.create("other", RankerSettings(policy=Foreign()))
    jobs = list[str]()
    with alive(service) as live:
        start = live.context.rank_workers.start

        def counted(job: Callable[[], Any]) -> Any:
            jobs.append("job")
            return start(job)

        monkeypatch.setattr(live.context.rank_workers, "start", counted)
        for _ in range(5):
            live["rank"].post("/v1/rank", json=request(ranker="other"))
        assert len(jobs) == 5
        assert Foreign.threads == {"rank"}
        jobs.clear()
        for _ in range(5):
            live["rank"].post("/v1/rank", json=request())
        assert len(jobs) < 5  # the first, until the cost is known
        jobs.clear()
        body = request()
        body["candidates"][0]["features"]["new"] = 1
        live["rank"].post("/v1/rank", json=body)
        assert len(jobs) == 1  # a new feature waits for the disk
        assert all(each.fallback == "" for each in service.store.read_impressions("default"))
