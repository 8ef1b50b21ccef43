"""Long jobs: asked for once, interrupted anywhere, gone on with, and to the bit what the log says."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import PDGD, PairRank, Policy, RankNet
from rankloop.scorers import MLP
from rankloop.service import RankerSettings
from rankloop.service.core.checkpoint import checkpoint_name
from rankloop.service.core.ranker_settings import complete_settings
from rankloop.service.operations import jobs
from rankloop.service.operations.jobs import Interrupted, Progress, ask, carry_out
from rankloop.service.operations.rollback import forget_body
from rankloop.service.service_errors import ConflictError, HistoryError
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store, open_temporary_store, write
from rankloop.types import Feedback
from tests.support.internals import copied, folded_anew
from tests.support.life import SHORT, Clock, live, make, same, state
from tests.support.limits import keep_snapshots_every
from tests.support.serving import alive

frequent_snapshots = keep_snapshots_every(7)

MUGS = [{"object_id": name, "features": {"price": price}} for name, price in (("blue", 3.0), ("red", 1.0))]
NETWORK = structs.replace(SHORT, policy=RankNet(scorer=MLP(4)), scaling="running")


def lived(store: Store, clock: Clock) -> ServiceFacade:
    """A service with a past: forgotten events, a rollback, another policy that learned the log again."""
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=25)
    service.forget("shop", [events_of(store)[3]])
    service.rollback("shop", to=service.versions("shop")[2][0])
    live(service, clock, rounds=10, seed=1)
    service.configure("shop", structs.replace(SHORT, policy=PDGD()), relearn=True)
    live(service, clock, rounds=20, seed=2)
    service.flush("shop")
    return service


def events_of(store: Store) -> list[str]:
    return [each.event_id for each in store.read_events("shop")]


def to_forget(service: ServiceFacade) -> tuple[Any, dict[str, Any]]:
    return "forget", forget_body(service.ranker("shop"), service.store, events_of(service.store)[5:9])


def to_relearn(service: ServiceFacade) -> tuple[Any, dict[str, Any]]:
    return "relearn", {"settings": complete_settings(NETWORK).to_log()}


def to_roll_back(service: ServiceFacade) -> tuple[Any, dict[str, Any]]:
    settings = service.ranker("shop").view.configuration.settings_version
    return "rollback", {"to": next(seq for seq, _ in service.versions("shop") if seq > settings)}


def interrupted_after(entries: int, progress: Progress) -> Callable[[], bool]:
    """The process ends when it has folded so many entries."""
    return lambda: progress.folded >= entries


def alone(store: SqliteStore, path: Path, to: Path) -> ServiceFacade:
    """A service on a copy of the log without any snapshot: the plain fold."""
    write(store, lambda transaction: None)
    with SqliteStore(copied(path, to)) as plain:
        for name in ("shop", checkpoint_name("shop")):
            write(plain, lambda transaction, name=name: transaction.delete_snapshots(name, before=2**62))  # type: ignore[misc]
        return make(plain)


@pytest.mark.parametrize("asked", [to_forget, to_relearn, to_roll_back])
def test_a_job_that_is_interrupted_anywhere_ends_as_if_it_had_not_been(
    asked: Callable[[ServiceFacade], tuple[Any, dict[str, Any]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ranker goes on as it is meanwhile, learns, and meets a feature it has not seen before."""
    monkeypatch.setattr(jobs, "EVERY", 7)
    monkeypatch.setattr(jobs, "NEAR", 3)
    clock, path = Clock(), tmp_path / "log.db"
    with SqliteStore(path) as store:
        service = lived(store, clock)
        number = ask(service.ranker("shop"), *asked(service))
        for name in ("shop", checkpoint_name("shop")):  # it is a long way
            write(store, lambda transaction, name=name: transaction.delete_snapshots(name, before=2**62))  # type: ignore[misc]
        rounds, resumed = 0, []
        while service.job(number).state != "done":
            service = make(store, clock, prefix=f"life{rounds}-")  # a new process
            ranker, before = service.ranker("shop"), state(service)
            progress = Progress(ranker, number)
            progress.stopped = interrupted_after(12, progress)
            try:
                carry_out(ranker, store, progress)
            except Interrupted:
                assert same(state(service), before)
                resumed.append(progress.position)
            if rounds < 6:
                live(service, clock, rounds=2, seed=3 + rounds)
            if rounds == 3:
                service.rank([*some(clock, "unseen")], ranker="shop")
            rounds += 1
            assert rounds < 200
        assert len(resumed) > 2
        back = sum(later < earlier for earlier, later in itertools.pairwise(resumed))
        assert back <= (asked is to_relearn)  # a network begins with all features
        live(service, clock, rounds=3, seed=99)
        version, lists, anew = folded_anew(service)
        assert (version, lists) == (service.model("shop").version, service.model("shop").lists)
        assert same(anew, state(service))
        assert same(state(alone(store, path, tmp_path / "copy.db")), state(service))


def some(clock: Clock, name: str) -> Iterator[Any]:
    for row in range(3):
        yield Candidate(f"d{row}", {name: float(row), "age": 1.0})


def test_who_asks_for_the_same_gets_the_same_job(store: Store) -> None:
    service = lived(store, Clock())
    ranker, ids = service.ranker("shop"), events_of(store)[5:9]
    waiting = ask(ranker, "rollback", {"to": service.model("shop").version}, key="mine")
    assert ask(ranker, "rollback", {"to": service.model("shop").version}) == waiting  # it waits
    first = service.forget("shop", ids)
    assert first.state == "done"
    assert service.forget("shop", reversed(ids)).id == first.id  # it could not change anything again
    keyed = service.rollback("shop", to=first.version, key="once")
    version = service.model("shop").version
    assert service.rollback("shop", to=first.version, key="once").id == keyed.id
    assert service.model("shop").version == version == keyed.version
    with pytest.raises(ConflictError, match="was used for another request"):
        service.rollback("shop", to=version, key="once")
    assert service.rollback("shop", to=first.version).id != keyed.id  # without a key it is another


def test_a_job_can_be_cancelled_until_it_is_done(store: Store) -> None:
    service = lived(store, Clock())
    ranker, before = service.ranker("shop"), state(service)
    number = ask(ranker, *to_forget(service))
    assert service.job(number).state == "waiting"
    assert service.cancel_job(number, reason="by mistake").reason == "by mistake"
    service.tick()
    assert service.job(number).state == "cancelled"
    assert same(state(service), before)
    for change in (number, service.forget("shop", events_of(store)[:1]).id):
        with pytest.raises(ConflictError, match="cannot be cancelled"):
            service.cancel_job(change)
    with pytest.raises(HistoryError, match="no job 12345"):
        service.cancel_job(12345)
    assert [each.state for each in service.jobs()][:2] == ["done", "cancelled"]


def test_nothing_is_pulled_away_from_under_a_job(store: Store) -> None:
    clock = Clock()
    service = lived(store, clock)
    number = ask(service.ranker("shop"), *to_relearn(service))
    with pytest.raises(ConflictError, match=f"job {number} .* is not done"):
        service.retain("shop", since=clock.now)
    with pytest.raises(ConflictError, match=f"job {number} is about to put other settings into force"):
        service.configure("shop", structs.replace(SHORT, window=5.0))
    service.tick()
    assert service.job(number).version == service.ranker("shop").view.configuration.settings_version
    service.configure("shop", structs.replace(service.settings("shop"), window=5.0))


def test_settings_that_wait_to_be_learned_are_not_overwritten_by_others(store: Store) -> None:
    service = lived(store, Clock())
    number = ask(service.ranker("shop"), *to_relearn(service))
    with pytest.raises(ConflictError, match=f"job {number} is about to put other settings into force"):
        service.adopt("shop", structs.replace(service.settings("shop"), window=5.0))
    assert service.adopt("shop", NETWORK).id == number  # the same is the same job


def test_a_job_of_a_ranker_that_cannot_be_read_waits_until_it_can(tmp_path: Path) -> None:
    """A process without the ranker's policy finds the job first."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock, policies=[Held])
        service.create("shop", structs.replace(SHORT, policy=Held()))
        live(service, clock, rounds=5)
        number = ask(service.ranker("shop"), "forget", {"events": events_of(store)[:1]})
        lacking = make(store, clock)
        lacking.tick()
        assert not lacking.job(number).ended
        service.tick()
        assert service.job(number).state == "done"


class Following:
    """An election that another process has won."""

    shared = True

    def leads(self, ranker: str) -> bool:
        return False


def test_a_job_is_done_when_lists_are_made_by_what_came_of_it() -> None:
    clock, store = Clock(), open_temporary_store()
    service = lived(store, clock)
    other = make(store, clock)  # another process on the same log
    done = service.forget("shop", events_of(store)[5:9])
    assert done.state == "done"
    other.ranker("shop").refresh()  # it has heard of it, and not learned it yet
    assert other.job(done.id).state == "running"
    assert other.job(done.id).version is None
    other.ranker("shop").catch_up()
    assert other.job(done.id) == replace(done, folded=0)
    assert other.model("shop").version == done.version


def test_a_key_is_the_same_job_also_when_the_client_has_come_again_or_was_deleted_since() -> None:
    service = make(open_temporary_store())
    service.create("default")
    with alive(service) as http:

        def clicked(client: str) -> None:
            shown = http["rank"].post("/v1/rank", json={"candidates": MUGS, "client_id": client}).json()
            click = {"action_name": "click", "query_id": shown["query_id"], "client_id": client}
            click["event_attributes"] = {"object": {"object_id": "red"}}
            assert http["rank"].post("/v1/events", json={"events": [click]}).status_code == 200

        def forgotten(key: str, **chosen: Any) -> tuple[int, Any]:
            found = http["admin"].post("/v1/forget", json=chosen, headers={"Idempotency-Key": key})
            return found.status_code, found.json().get("id")

        clicked("anna")
        clicked("bert")
        first = forgotten("one", client_id="anna")
        assert first[0] == 200
        clicked("anna")
        assert forgotten("one", client_id="anna") == first
        assert forgotten("one", client_id="bert")[0] == 409
        both = forgotten("two", since=0)
        assert both[1] > first[1]
        gone = http["admin"].post("/v1/people/delete", json={"people": [{"client_id": "anna"}]})
        assert gone.json()["events"] == 2
        assert forgotten("one", client_id="anna") == first
        assert forgotten("two", since=0) == both
        assert forgotten("three", client_id="anna")[0] == 400


def test_who_waits_for_a_job_hears_that_another_process_has_done_it(tmp_path: Path) -> None:
    clock, path, versions = Clock(), tmp_path / "log.db", list[int]()
    with SqliteStore(path) as ours, SqliteStore(path) as theirs:
        leader = make(ours, clock)
        leader.create("shop", SHORT)
        live(leader, clock, rounds=5)
        with make(theirs, clock, "theirs", election=Following(), background=True) as follower:
            asking = threading.Thread(
                target=lambda: versions.append(follower.configure("shop", NETWORK, relearn=True)), daemon=True
            )
            asking.start()
            while asking.is_alive() and not leader.jobs():
                leader.tick()
            asking.join(60)
            assert versions == [leader.ranker("shop").view.configuration.settings_version]


def test_a_job_that_is_wrong_fails_and_changes_nothing(store: Store) -> None:
    """What can only be found out on the way: another policy had learned what it would return to."""
    service = lived(store, Clock())
    first = service.versions("shop")[0][0]
    before = state(service)
    with pytest.raises(RequestError, match="configure those first"):
        service.rollback("shop", to=first)
    assert service.jobs()[0].state == "failed"
    assert "configure those first" in service.jobs()[0].reason
    assert same(state(service), before)


GO = threading.Event()  # what is held up goes on when it is set


@dataclass(kw_only=True, eq=False)
class Held(PairRank):
    """A policy whose lessons can be held up, in one thread only."""

    def learn(self, feedback: Feedback) -> None:
        if threading.current_thread().name == "jobs":
            GO.wait(60)
        super().learn(feedback)


def test_a_long_job_is_answered_with_its_number_and_serving_goes_on() -> None:
    GO.clear()
    policies: list[type[Policy]] = [Held]
    with ServiceFacade(open_temporary_store(), background=True, policies=policies) as service:
        service.create("default", RankerSettings(policy=Held()))
        clock = Clock()
        live(service, clock, rounds=10, ranker="default")
        service.flush("default")
        before = service.model("default")
        ids = [each.event_id for each in service.store.read_events("default")]
        with alive(service) as http:
            admin, headers = http["admin"], {"Idempotency-Key": "one"}
            asked = admin.post("/v1/forget", json={"event_ids": ids[:3]}, headers=headers)
            assert asked.status_code == 202
            number = asked.json()["id"]
            again = admin.post("/v1/forget", json={"event_ids": ids[:3]}, headers=headers)
            assert (again.status_code, again.json()["id"]) == (202, number)
            assert admin.get(f"/v1/jobs/{number}").json()["state"] == "running"
            live(service, clock, rounds=3, ranker="default", seed=1)
            service.flush("default")
            assert service.model("default").lists > before.lists  # it learns meanwhile
            later = admin.post("/v1/rollback", json={"to": before.version}).json()
            path = f"/v1/jobs/{later['id']}/cancel"
            assert admin.post(path, json={}).json()["state"] == "cancelled"
            assert admin.post(path, json={}).status_code == 409
            assert admin.get("/v1/jobs/77").status_code == 404
            learned = service.model("default").lists
            GO.set()
            while admin.get(f"/v1/jobs/{number}").json()["state"] == "running":
                pass
            done = admin.get("/v1/jobs").json()[1]
            assert (done["id"], done["state"], done["progress"]) == (number, "done", 1.0)
            assert service.model("default").version == done["version"]
            assert service.model("default").lists == learned - 3
            assert same(folded_anew(service, "default")[2], state(service, "default"))
