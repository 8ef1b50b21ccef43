"""What is in force follows from the log alone: not from what a process meant to write, or has not read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import PDGD
from rankloop.policies.policy_names import POLICIES
from rankloop.service import RankerSettings, RankResponse, UserEvent
from rankloop.service.core.configuration import configuration_at
from rankloop.service.extensions.registry import load_registry
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Decision, SqliteStore, StoreError, open_temporary_store, write
from tests.support.faults import FaultyStore, settle
from tests.support.follower import decided_of
from tests.support.life import Clock, make
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(3)

RULES = RankerSettings(policy=PDGD(learning_rate=0.1), window=60.0)


def shown_by(service: ServiceFacade, *names: str) -> RankResponse:
    """A list of three, in the log."""
    features = [{name: float(number) for name in names or ("price",)} for number in range(3)]
    candidates = [Candidate(f"d{number}", each) for number, each in enumerate(features)]
    shown = service.rank(candidates, ranker="shop")
    assert shown.provenance.fallback is None
    settle(service.store)
    return shown


def verdict(service: ServiceFacade, shown: RankResponse, number: int = 1) -> str:
    return service.record([UserEvent(shown.query_id, shown.object_ids[number])])[0].verdict


# what could not be written down is not in force


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[tuple[ServiceFacade, FaultyStore]]:
    with FaultyStore(tmp_path / "log.db") as store:
        service = make(store)
        service.create("shop", RULES)
        yield service, store


def test_a_flush_that_could_not_be_written_down_closes_no_list(
    faulty: tuple[ServiceFacade, FaultyStore],
) -> None:
    service, store = faulty
    shown = shown_by(service)
    store.faults.commits = 1
    with pytest.raises(StoreError):
        service.flush("shop")
    assert store.faults.struck == 1
    assert not store.read_decisions("shop", kinds=("flush",))
    assert verdict(service, shown) == "accepted"


@pytest.mark.parametrize(
    "decide",
    [
        lambda service: service.set_mode("shop", "frozen"),
        lambda service: service.configure("shop", structs.replace(RULES, window=1.0)),
        lambda service: shown_by(service, "price", "new"),
        lambda service: service.create("second"),
    ],
    ids=["mode", "settings", "schema", "create"],
)
def test_a_decision_that_could_not_be_written_down_is_not_in_force(
    faulty: tuple[ServiceFacade, FaultyStore], decide: Callable[[ServiceFacade], object]
) -> None:
    service, store = faulty
    shown_by(service)
    before = decided_of(service, ["shop"])
    store.faults.commits = 1
    with pytest.raises(StoreError):
        decide(service)
    assert decided_of(service, ["shop"]) == before
    decide(service)  # and it can be decided again
    assert decided_of(service, ["shop"]) != before


# what this release cannot read, or has no room for


def test_settings_of_fair_exposure_that_cannot_be_read_break_only_their_ranker(tmp_path: Path) -> None:
    settings = {**RULES.to_json(), "fair": {"shares": "equal", "of_a_later_release": 1}}
    with SqliteStore(tmp_path / "log.db") as store:
        make(store).create("other", RULES)
        later = Decision(at=0.0, ranker="shop", kind="settings", body={"settings": settings})
        write(store, lambda log: log.append(later))
        service = make(store, prefix="r")
        health = service.health().rankers
        assert (health["shop"].broken, health["other"].broken) == (True, False)
        assert "of_a_later_release" in health["shop"].trouble
        shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop")
        assert shown.object_ids == ["a", "b"], "the caller's order"
        settle(store)
        assert verdict(service, shown) == "accepted"


@pytest.mark.parametrize(("features", "context"), [(1, 3), (3, 1)], ids=["of who asks", "of candidates"])
def test_a_request_that_is_refused_for_its_features_adds_none(features: int, context: int) -> None:
    service = make(open_temporary_store())
    service.create("shop", structs.replace(RULES, max_features=2))
    candidates = [Candidate("a", {f"price {number}": 1.0 for number in range(features)})]
    asks = {f"age {number}": 1.0 for number in range(context)}
    with pytest.raises(RequestError, match="max_features"):
        service.rank(candidates, ranker="shop", context=asks)
    assert not service.store.read_decisions("shop", kinds=("schema",))
    assert not service.store.read_decisions("shop", kinds=("context",))


# two services on one file


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[ServiceFacade, ServiceFacade, Clock]]:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as one, SqliteStore(tmp_path / "log.db") as other:
        first = make(one, clock, prefix="a")
        first.create("shop", RULES)
        shown_by(first)
        yield first, make(other, clock, prefix="b"), clock


def agree(first: ServiceFacade, second: ServiceFacade, *names: str) -> None:
    """Both have caught up, and take the same for what is in force."""
    first.tick()
    second.tick()
    assert decided_of(second, ["shop", *names]) == decided_of(first, ["shop", *names])


def test_two_services_agree_on_the_mode(pair: tuple[ServiceFacade, ServiceFacade, Clock]) -> None:
    first, second, _ = pair
    first.set_mode("shop", "frozen")
    agree(first, second)
    second.set_mode("shop", "exploit")
    agree(first, second)
    assert shown_by(first).provenance.mode == "exploit"


def test_two_services_agree_on_the_rules(pair: tuple[ServiceFacade, ServiceFacade, Clock]) -> None:
    first, second, clock = pair
    first.configure("shop", structs.replace(RULES, window=10.0))
    agree(first, second)
    shown = shown_by(second)
    clock.now += 20.0
    assert [verdict(first, shown, 0), verdict(second, shown, 1)] == ["late", "late"]


def test_two_services_agree_on_the_schema(pair: tuple[ServiceFacade, ServiceFacade, Clock]) -> None:
    first, second, _ = pair
    shown_by(first, "price", "new")
    agree(first, second)
    assert second.schema("shop") == ["price", "new"]


def test_features_that_two_services_meet_at_the_same_time_get_the_same_columns(
    pair: tuple[ServiceFacade, ServiceFacade, Clock],
) -> None:
    first, second, _ = pair
    mine, theirs = shown_by(first, "price", "mine"), shown_by(second, "theirs", "price")
    agree(first, second)
    assert first.schema("shop") == ["price", "mine", "theirs"]
    logged = first.store.find_impression(theirs.query_id)
    assert logged is not None
    assert logged.features[2, : logged.width].tolist()[::2] == [2.0, 2.0], "price and theirs, not mine"
    verdict(first, theirs)
    verdict(second, mine)
    first.flush("shop")
    agree(first, second)
    assert first.replay(theirs.query_id).identical
    assert second.replay(mine.query_id).identical


def test_two_services_agree_on_the_rankers(pair: tuple[ServiceFacade, ServiceFacade, Clock]) -> None:
    first, second, _ = pair
    first.create("second", RULES)
    agree(first, second, "second")
    second.create("second", RULES)  # it is there already: nothing happens
    agree(first, second, "second")
    assert second.rank([Candidate("a"), Candidate("b")], ranker="second").provenance.ranker == "second"


def test_two_services_agree_on_which_lists_are_closed(
    pair: tuple[ServiceFacade, ServiceFacade, Clock],
) -> None:
    first, second, _ = pair
    shown = shown_by(second)
    first.flush("shop")
    assert verdict(second, shown, 0) == "late", "a verdict is given by the log, not by who gives it"
    assert verdict(first, shown, 1) == "late"
    agree(first, second)


def test_two_services_learn_the_same_from_the_clicks_of_both(
    pair: tuple[ServiceFacade, ServiceFacade, Clock],
) -> None:
    first, second, clock = pair
    for number in range(8):
        here, there = (first, second) if number % 2 else (second, first)
        assert verdict(there, shown_by(here), number % 3) == "accepted"
        clock.now += 30.0
    clock.now += 100.0
    agree(first, second)
    assert first.model("shop").lists == 8


# two processes


@contextmanager
def another_process(path: Path, clock: Clock) -> Iterator[Callable[..., Any]]:
    """Ask a service in a process of its own; it has our time."""
    command = [sys.executable, "-W", "error", "-m", "tests.support.follower", str(path)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sending, answers = process.stdin, process.stdout

        def ask(what: str, **options: Any) -> Any:
            sending.write(json.dumps([what, clock.now, options]) + "\n")
            sending.flush()
            line = answers.readline()
            assert line, f"the other process has ended at {what!r}"
            return json.loads(line)

        yield ask
        sending.close()
        process.wait(60)


def test_two_processes_agree_on_everything_after_catching_up(tmp_path: Path) -> None:
    clock, names = Clock(), ["shop", "second"]
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock, prefix="ours")
        service.create("shop", RULES)
        ours = shown_by(service)
        with another_process(tmp_path / "log.db", clock) as ask:
            service.create("second", RULES)
            service.set_mode("shop", "exploit")
            theirs = ask("rank", ranker="shop", features=[{"price": 1.0, "new": 2.0}, {"price": 3.0}])
            assert theirs["fallback"] is None
            assert ask("click", query_id=ours.query_id, object_id="d1") == "accepted"
            ask("set_mode", ranker="second", mode="frozen")
            ask("create", ranker="third")
            service.tick()
            assert ask("view", names=names) == decided_of(service, names)
            ask("set_window", ranker="shop", seconds=10.0)
            late = ask("rank", ranker="shop", features=[{"price": 1.0}, {"new": 3.0}])
            clock.now += 20.0
            service.tick()
            click = UserEvent(late["query_id"], late["shown"][0])
            assert service.record([click])[0].verdict == "late"
            fresh = shown_by(service, "price", "new", "last")
            ask("flush", ranker="shop")
            assert verdict(service, fresh) == "late"
            assert ask("click", query_id=fresh.query_id, object_id=fresh.object_ids[0]) == "late"
            clock.now += 100.0
            service.tick()
            ask("view", names=names)  # perhaps it had something to write, too
            service.tick()
            assert ask("view", names=[*names, "third"]) == decided_of(service, [*names, "third"])
            assert service.schema("shop") == ["price", "new", "last"]
            assert service.model("shop").lists == 1


def test_a_configuration_is_read_with_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_temporary_store() as store:
        service = make(store)
        service.create("shop", RULES)
        shown_by(service, "price", "age")
        service.set_mode("shop", "frozen")
        read, queries = store.read_decisions, list[str]()

        def counted(ranker: str, **given: Any) -> Sequence[Decision]:
            queries.append(ranker)
            return read(ranker, **given)

        monkeypatch.setattr(store, "read_decisions", counted)
        found = configuration_at(store, "shop", load_registry(), POLICIES)
        assert (found.mode, found.schema.names, queries) == ("frozen", ("price", "age"), ["shop"])


def test_the_schema_of_every_entry_can_be_read_back() -> None:
    with open_temporary_store() as store:
        service = make(store)
        service.create("shop", RULES)
        shown_by(service, "price")
        shown_by(service, "price", "age")
        added = store.read_decisions("shop", kinds=("schema",))
        names = [
            configuration_at(store, "shop", load_registry(), POLICIES, seq=each.seq - 1).schema.names
            for each in added
        ]
        assert names == [(), ("price",)]
