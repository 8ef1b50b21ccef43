"""The fold of a log cannot fail, and cannot differ from the log: whatever a list, a disk or a clock does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import NSGD, PDGD, OlRankNet, Policy
from rankloop.scorers import MLP
from rankloop.service import HistoryError, RankerSettings, RankResponse, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Decision, SqliteStore, Store, open_temporary_store, write
from tests.support.faults import FaultyStore, attempt, settle
from tests.support.internals import DAMAGES, damage_newest_snapshot, findings, folded_anew
from tests.support.life import Clock, live, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every
from tests.support.own_policies import Choosy, Remembering

frequent_snapshots = keep_snapshots_every(3)

WINDOW = 60.0
LINEAR = RankerSettings(policy=PDGD(learning_rate=0.1), window=WINDOW)


def some(n: int, *names: str, seed: int = 0) -> list[Candidate]:
    """Candidates with these features, or with none."""
    return some_candidates(np.random.default_rng(seed), n, names)


def clicked(service: ServiceFacade, candidates: Sequence[Candidate], ranker: str = "shop") -> RankResponse:
    """A list, and a click on its last result."""
    shown = service.rank(candidates, ranker=ranker, k=len(candidates))
    settle(service.store)
    assert shown.provenance.fallback is None, shown.provenance.fallback
    assert service.record([UserEvent(shown.query_id, shown.object_ids[-1])])[0].verdict == "accepted"
    return shown


def close_lists(store: Store, ranker: str = "shop") -> None:
    """Somebody decides that all lists are closed, and is killed before anything is learned from them."""
    write(store, lambda log: log.append(Decision(at=0.0, ranker=ranker, kind="flush")))


def assert_it_is_the_fold_of_its_log(service: ServiceFacade, ranker: str = "shop") -> None:
    model = service.model(ranker)
    version, lists, anew = folded_anew(service, ranker)
    assert (model.version, model.lists) == (version, lists)
    assert same(state(service, ranker), anew), "live weights differ from those of the log"


# a lesson that cannot be learned

Life = Callable[[ServiceFacade], int]  # shows lists and has them clicked; how many


def no_features(service: ServiceFacade) -> int:
    clicked(service, some(4))
    return 1


def no_features_after_some(service: ServiceFacade) -> int:
    clicked(service, some(4, "age", "bm25"))
    service.flush("shop")
    clicked(service, some(4))
    return 2


def a_new_feature(service: ServiceFacade) -> int:
    clicked(service, some(4, "age", "bm25"))
    service.flush("shop")
    clicked(service, some(4, "age", "bm25", "new", seed=1))
    return 2


def features_after_none(service: ServiceFacade) -> int:
    clicked(service, some(4))
    close_lists(service.store)
    clicked(service, some(4, "age", "bm25"))
    return 2


def many_new_features(service: ServiceFacade) -> int:
    """Difficult lists are remembered; then they are looked at with more features than they had."""
    for number in range(12):
        names = ("age", "bm25", "new", "newer")[: 1 + number // 3]
        clicked(service, some(6, *names, seed=number))
        service.flush("shop")
    return 12


NEURAL = OlRankNet(scorer=MLP(4), learning_rate=0.01)
NETWORK = PDGD(scorer=MLP(4), learning_rate=0.1)
HARD: list[tuple[str, Policy, str, Life]] = [
    ("olranknet, no features", NEURAL, "query", no_features),
    ("olranknet, features after none", NEURAL, "query", features_after_none),
    ("olranknet, none after some", NEURAL, "query", no_features_after_some),
    ("olranknet, running, new feature", NEURAL, "running", a_new_feature),
    ("pdgd with a network, features after none", NETWORK, "query", features_after_none),
    ("nsgd, no features", NSGD(candidates=3, proposals=4, step=0.5), "query", no_features),
    ("nsgd, features after none", NSGD(candidates=3, proposals=4, step=0.5), "query", features_after_none),
    ("nsgd, many new features", NSGD(candidates=3, proposals=4, step=0.5), "query", many_new_features),
]


@pytest.mark.parametrize(
    ("policy", "scaling", "happens"), [each[1:] for each in HARD], ids=[each[0] for each in HARD]
)
def test_a_service_starts_again_whatever_lists_were_clicked(
    policy: Policy, scaling: str, happens: Life, tmp_path: Path
) -> None:
    """Killed between the decision and the lesson, it comes back with all rankers."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("other", LINEAR)
        service.create("shop", structs.replace(LINEAR, policy=policy, scaling=scaling))
        lists = happens(service)
        close_lists(store)
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock, prefix="r")
        clicked(service, some(4, "age"), "other")
        service.flush("other")
        assert service.model("other").lists == 1
        clicked(service, some(4, "age", "bm25", seed=7))
        service.flush("shop")
        health = service.health().rankers["shop"]
        assert health.lists + health.refused == lists + 1, "every lesson was learned or counted as refused"
        assert not health.refused or findings(service.health()), "and it is said why"
        assert_it_is_the_fold_of_its_log(service)


def test_a_lesson_that_fails_is_counted_and_its_cause_is_said(caplog: pytest.LogCaptureFixture) -> None:
    store = open_temporary_store()
    service = make(store, policies=[Choosy])
    service.create("other", LINEAR)
    service.create("shop", RankerSettings(policy=Choosy()))
    for n in (2, 3, 4):
        clicked(service, some(n, "age"))
        service.flush("shop")
    health = service.health().rankers["shop"]
    assert (health.lists, health.refused) == (2, 1)
    assert "three is one too many" in findings(service.health())
    assert any("three is one too many" in each.getMessage() for each in caplog.records), "it is logged"
    assert service.health().rankers["other"].refused == 0
    again = make(store, policies=[Choosy])
    assert again.health().rankers["shop"].refused == 1, "a restart does not forget it"
    assert same(state(again), state(service))


# an error of the store that goes away


def test_a_lesson_whose_list_could_not_be_read_is_learned_later(tmp_path: Path) -> None:
    clock = Clock()
    with FaultyStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", LINEAR)
        clicked(service, some(4, "age", "bm25"))
        clicked(service, some(4, "age", "bm25", seed=1))
        clock.now += WINDOW + 1
        store.faults.reads = 1
        attempt(service.tick)
        assert store.faults.struck == 1
        service.tick()
        assert service.model("shop").lists == 2, "retried, never skipped"
        assert_it_is_the_fold_of_its_log(service)
        after = clicked(service, some(4, "age", "bm25", seed=2))
        assert service.replay(after.query_id).identical
        assert same(state(make(store, clock)), state(service))


def test_lessons_are_learned_in_order_however_often_the_store_fails(tmp_path: Path) -> None:
    clock = Clock()
    with FaultyStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", structs.replace(LINEAR, policy=NEURAL))
        for number in range(6):
            clicked(service, some(4, "age", "bm25", seed=number))
            clock.now += 5.0
        store.faults.reads = 4
        attempt(lambda: service.flush("shop"))
        for _ in range(8):
            attempt(service.tick)
        assert store.faults.reads == 0
        service.tick()
        assert service.model("shop").lists == 6
        assert_it_is_the_fold_of_its_log(service)


# a clock that goes wrong


@pytest.mark.parametrize("restart", [False, True], ids=["running on", "started again"])
def test_after_a_clock_was_an_hour_ahead_clicks_are_learned_as_before(restart: bool, tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", LINEAR)
        clicked(service, some(4, "age", "bm25"))
        clock.now += 3600.0
        clicked(service, some(4, "age", "bm25", seed=1))
        service.tick()
        clock.now -= 3600.0
        if restart:
            service = make(store, clock, prefix="r")
        for number in range(3):
            known = service.model("shop").lists
            clicked(service, some(4, "age", "bm25", seed=number))  # asserts that it is accepted
            for _ in range(4):
                clock.now += WINDOW / 2
                service.tick()
            assert service.model("shop").lists > known, "a click was not learned within two windows"
        assert_it_is_the_fold_of_its_log(service)


def test_a_list_shown_after_a_long_silence_is_open_for_its_window_although_the_clock_was_set_back(
    store: Store,
) -> None:
    clock = Clock(10_000.0)
    service = make(store, clock)
    service.create("shop", LINEAR)
    clock.now -= 3600.0
    clicked(service, some(4, "age", "bm25"))  # the log knows by now that its clock is behind
    clock.now += 20 * WINDOW
    shown = service.rank(some(4, "age", "bm25", seed=1), ranker="shop")
    clock.now += 0.5 * WINDOW
    assert service.record([UserEvent(shown.query_id, "d1")])[0].verdict == "accepted"


@pytest.mark.parametrize("restart", [False, True], ids=["running on", "started again"])
def test_health_says_that_the_log_is_ahead_of_the_clock(restart: bool) -> None:
    clock, store = Clock(), open_temporary_store()
    service = make(store, clock)
    service.create("shop", LINEAR)
    clicked(service, some(4, "age"))
    assert "clock" not in findings(service.health())
    clock.now += 3600.0
    clicked(service, some(4, "age"))
    clock.now -= 3600.0
    if restart:
        service = make(store, clock, prefix="r")
    service.tick()
    assert "clock" in findings(service.health())


# how much of the past is kept


def test_a_list_that_the_base_holds_open_is_kept_when_the_window_was_shortened(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", structs.replace(LINEAR, window=600.0))
        held = clicked(service, some(4, "age", "bm25"))
        clock.now += 100.0
        service.configure(
            "shop", structs.replace(LINEAR, window=10.0)
        )  # keeps a snapshot, with the list open in it
        settle(store)
        clock.now += 50.0
        assert service.retain("shop", since=clock.now).entries > 0
        assert store.find_impression(held.query_id) is not None, "it was still open there"
        clock.now += 600.0
        service.tick()
        assert service.model("shop").lists == 1
        assert_it_is_the_fold_of_its_log(service)


def test_what_was_learned_before_retaining_is_the_fold_of_what_is_kept(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", structs.replace(LINEAR, window=600.0))
        clicked(service, some(4, "age", "bm25"))
        clock.now += 100.0
        service.configure("shop", structs.replace(LINEAR, window=10.0))
        settle(store)
        since = clock.now + 1.0
        clock.now += 600.0
        service.tick()  # the list is learned, long after the snapshot that has it open
        assert service.model("shop").lists == 1
        service.retain("shop", since=since)
        assert_it_is_the_fold_of_its_log(service)
        assert same(state(make(store, clock)), state(service))


def test_a_list_that_is_open_because_an_event_was_forgotten_is_kept(tmp_path: Path) -> None:
    """The forgotten event had told the time by which the list was closed."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", LINEAR)
        clicked(service, some(4, "age", "bm25"))
        clock.now += WINDOW + 40.0
        other = clicked(service, some(4, "age", "bm25", seed=1))
        assert service.model("shop").lists == 1
        clock.now += 10 * WINDOW
        service.forget("shop", [store.find_events(query_id=other.query_id)[0].event_id])
        settle(store)
        since = clock.now + 1.0
        clock.now += 10.0
        service.tick()
        assert service.model("shop").lists == 1
        clock.now += 10.0
        service.retain("shop", since=since)
        assert_it_is_the_fold_of_its_log(service)
        assert same(state(make(store, clock)), state(service))


def kept_and_waited(service: ServiceFacade, clock: Clock) -> float:
    """Has a snapshot kept; a moment after it, of which much time has passed when this returns."""
    service.close()
    settle(service.store)
    since = clock.now + 1.0
    clock.now += 100 * WINDOW
    return since


def test_a_list_that_was_clicked_long_after_its_window_is_kept_with_its_click(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", structs.replace(LINEAR, learn_late=True))
        shown = service.rank(some(4, "age", "bm25"), ranker="shop")
        clicked(service, some(4, "age", "bm25", seed=1))
        clock.now += 10 * WINDOW
        service.tick()
        since = kept_and_waited(service, clock)
        assert service.record([UserEvent(shown.query_id, "d1")])[0].verdict == "late"
        service.flush("shop")
        assert service.model("shop").lists == 2
        service.retain("shop", since=since)
        assert_it_is_the_fold_of_its_log(service)


def test_what_was_learned_again_before_retaining_is_the_fold_of_what_is_kept(tmp_path: Path) -> None:
    """What is learned again under other rules is learned from the beginning, which is then discarded."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", LINEAR)
        clicked(service, some(4, "age", "bm25"))
        service.flush("shop")
        since = kept_and_waited(service, clock)
        service.configure("shop", structs.replace(LINEAR, policy=NEURAL), relearn=True)
        assert service.model("shop").lists == 1
        service.retain("shop", since=since)
        assert_it_is_the_fold_of_its_log(service)


def test_what_was_forgotten_before_retaining_stays_forgotten(tmp_path: Path) -> None:
    """The base may have learned from it: then it must not be the base."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", LINEAR)
        for number in range(2):
            shown = clicked(service, some(4, "age", "bm25", seed=number))
            service.flush("shop")
        since = kept_and_waited(service, clock)
        service.forget("shop", [store.find_events(query_id=shown.query_id)[0].event_id])
        assert service.model("shop").lists == 1
        service.retain("shop", since=since)
        assert_it_is_the_fold_of_its_log(service)


def test_what_was_forgotten_does_not_come_back_by_rolling_back(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store)
        service.create("shop", LINEAR)
        for number in range(2):
            shown = clicked(service, some(4, "age", "bm25", seed=number))
            service.flush("shop")
        version = service.model("shop").version
        service.forget("shop", [store.find_events(query_id=shown.query_id)[0].event_id])
        service.rollback("shop", to=version)
        assert service.model("shop").lists == 1
        assert_it_is_the_fold_of_its_log(service)


def test_nobody_rolls_back_to_what_was_discarded_also_if_it_is_still_remembered(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", LINEAR)
        first = clicked(service, some(4, "age", "bm25"))
        service.flush("shop")
        early = service.model("shop").version
        clicked(service, some(4, "age", "bm25", seed=1))
        service.flush("shop")
        clicked(service, some(4, "age", "bm25", seed=2))
        service.flush("shop")
        since = kept_and_waited(service, clock)
        assert service.replay(first.query_id).identical
        service.rollback("shop", to=early)  # which is remembered from now on
        service.rollback("shop", to=service.versions("shop")[-1][0])
        settle(store)
        service.retain("shop", since=clock.now + 1.0)
        assert service.store.list_snapshots("shop")[0][1] > since, "the log begins after all of that"
        with pytest.raises((RequestError, HistoryError)):
            service.rollback("shop", to=early)
        assert_it_is_the_fold_of_its_log(service)
        assert same(state(make(store, clock)), state(service))


def test_a_list_shown_after_retaining_can_be_made_again(tmp_path: Path) -> None:
    """Its model is the one that the base holds, although the base is of a later entry than its version."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", LINEAR)
        clicked(service, some(4, "age", "bm25"))
        service.flush("shop")
        service.set_mode("shop", "exploit")  # an entry that changes no model
        service.close()
        settle(store)
        clock.now += 10.0
        assert service.retain("shop", since=clock.now).entries > 0
        shown = clicked(service, some(4, "age", "bm25", seed=1))
        assert service.replay(shown.query_id).identical


# snapshots only save time


@pytest.mark.parametrize("damage", DAMAGES, ids=DAMAGES.keys())
def test_a_damaged_snapshot_costs_nothing_but_time(damage: str, tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", structs.replace(LINEAR, scaling="running"))
        live(service, clock, rounds=20)
        service.close()
        expected, version = state(service), service.model("shop").version
    damage_newest_snapshot(tmp_path / "log.db", *DAMAGES[damage])
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock, prefix="r")
        assert service.model("shop").version == version
        assert same(state(service), expected)
        assert_it_is_the_fold_of_its_log(service)
        shown = clicked(service, some_candidates(np.random.default_rng(5)))
        assert service.replay(shown.query_id).identical
        assert all(service.replay(each.query_id).identical for each in service.lists("shop", last=30))


# a ranker that cannot be opened


def test_a_ranker_whose_policy_is_unknown_takes_no_other_down_and_loses_nothing(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "log.db"
    with SqliteStore(path) as store:
        service = make(store, clock, policies=[Remembering])
        service.create("shop", LINEAR)
        service.create("own", structs.replace(LINEAR, policy=Remembering()))
        clicked(service, some(4, "age", "bm25"), "own")
        service.flush("own")
        waiting = service.rank(some(4, "age", "bm25", seed=1), ranker="own")
        service.close()
        before = state(service, "own")
    with SqliteStore(path) as store:  # the class is not there
        service = make(store, clock, prefix="without")
        assert service.rankers() == ["own", "shop"]
        clicked(service, some(4, "age", "bm25"))
        service.flush("shop")
        assert service.model("shop").lists == 1
        assert_it_is_the_fold_of_its_log(service)
        candidates = some(4, "age", "bm25", "new", seed=2)
        shown = service.rank(candidates, ranker="own", k=3)
        assert shown.object_ids == [each.object_id for each in candidates[:3]], "the caller's own order"
        assert shown.provenance.fallback
        assert "remembering" in findings(service.health())
        assert not service.health().ok
        click = UserEvent(waiting.query_id, waiting.object_ids[-1])
        assert service.record([click])[0].verdict == "accepted"
        assert service.record([UserEvent(shown.query_id, "d1")])[0].verdict == "accepted"
        clock.now += 2 * WINDOW
        service.tick()
        service.close()
    with SqliteStore(path) as store:
        service = make(store, clock, prefix="again", policies=[Remembering])
        service.tick()
        assert service.model("own").lists == 2, "what was learned, and what was clicked meanwhile"
        assert not same(state(service, "own"), before)
        assert_it_is_the_fold_of_its_log(service, "own")
        assert "remembering" not in findings(service.health())
        assert service.rank(candidates, ranker="own").provenance.fallback is None
