"""The model is a fold of the log, to the bit: whatever is interrupted, and wherever it goes on from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.policies import DBGD, MGD, PDGD, EpsilonGreedy, PairRank, PePairRank, Policy, RankNet, Width
from rankloop.service import RankerSettings, RankResponse, UserEvent
from rankloop.service.core import learned_part
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store, open_temporary_store, write
from rankloop.types import Array
from tests.support.life import SHORT, Clock, best_of, live, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every
from tests.support.plain import PlainPast, plain_fold

frequent_snapshots = keep_snapshots_every(3)

POLICIES: list[Policy] = [
    PairRank(),
    PairRank(certainty=Width(0.1)),
    PairRank(update="exact"),
    PePairRank(),
    PDGD(),
    RankNet(learning_rate=0.1),
    EpsilonGreedy(learning_rate=0.1),
    MGD(),
    DBGD(),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("scaling", ["query", "running"])
def test_a_restart_changes_nothing(policy: Policy, scaling: str, tmp_path: Path) -> None:
    """One service lives through; the other is closed and opened again and again: same lists, same weights."""
    rules = RankerSettings(policy=policy, scaling=scaling, window=60.0)  # type: ignore[arg-type]
    clock = Clock()
    steady = make(open_temporary_store(), clock)
    steady.create("shop", rules)
    expected = live(steady, clock, rounds=40)
    clock = Clock()
    found: list[RankResponse] = []
    for part in range(4):
        with SqliteStore(tmp_path / "log.db") as store:
            service = ServiceFacade(store, clock=clock, ids=lambda: f"q{len(found) + 1}")
            service.create("shop", rules)
            for _ in range(10):
                rng = np.random.default_rng(0)
                for _ in range(len(found)):  # the same stream as the steady one's
                    some_candidates(rng)
                    rng.random()
                candidates = some_candidates(rng)
                ranked = service.rank(candidates, ranker="shop", k=5)
                if rng.random() < 0.8:
                    service.record([UserEvent(ranked.query_id, best_of(ranked, candidates))])
                clock.now += 30.0
                found.append(ranked)
            if part % 2:
                service.close()  # otherwise it just ends, without a last snapshot
    assert [each.object_ids for each in found] == [each.object_ids for each in expected]
    with SqliteStore(tmp_path / "log.db") as store:
        assert same(state(make(store)), state(steady))


def test_a_fold_from_any_snapshot_is_the_fold_from_the_start(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=80)
    history, head = service.ranker("shop").history, service.model("shop")
    assert len(store.list_snapshots("shop")) >= 5
    plain = PlainPast("shop", store, history.registry, history.policy_kinds)
    from_start = plain.fold(head.version)
    assert same(from_start.learned.policy.state(), head.policy.state())
    for seq, _ in store.list_snapshots("shop"):
        assert same(history.model(seq).policy.state(), plain.fold(seq).learned.policy.state())


def test_learning_in_the_background_learns_the_same(store: Store) -> None:
    clock = Clock()
    inline = make(open_temporary_store(), clock)
    inline.create("shop", RankerSettings(window=60.0, policy=PDGD()))
    live(inline, clock, rounds=1)
    clock.now = 1000.0
    with make(store, clock, background=True) as service:
        service.create("shop", RankerSettings(window=60.0, policy=PDGD()))
        live(service, clock, rounds=30)
        service.flush("shop")
    again = plain_fold(ServiceFacade(store, clock=clock))
    assert same(state(service), again.learned.policy.state())
    assert service.health().ok


def test_a_list_is_learned_when_its_window_closes_and_not_before(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    rng = np.random.default_rng(0)
    first = service.rank(some_candidates(rng), ranker="shop")
    service.record([UserEvent(first.query_id, first.object_ids[3])])
    clock.now += 59.0
    service.record([UserEvent(first.query_id, first.object_ids[5])])  # still open: joins the first click
    assert service.model("shop").lists == 0
    clock.now += 1.0
    service.tick()
    assert service.model("shop").lists == 1
    assert service.health().rankers["shop"].open == 0


def test_a_click_elsewhere_lets_time_pass(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    rng = np.random.default_rng(0)
    first, second = (service.rank(some_candidates(rng), ranker="shop") for _ in range(2))
    service.record([UserEvent(first.query_id, "d3")])
    clock.now += 100.0
    service.record([UserEvent("nobody knows it", "d3")])  # an orphan belongs to no ranker
    assert service.model("shop").lists == 0
    service.record([UserEvent(second.query_id, "d1")])  # late itself, but it tells the time
    assert service.model("shop").lists == 1


def test_lists_without_a_click_teach_nothing_and_take_no_memory(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    rng = np.random.default_rng(0)
    for _ in range(20):
        service.rank(some_candidates(rng), ranker="shop")
    service.flush("shop")
    assert service.model("shop").lists == 0
    assert service.health().rankers["shop"].open == 0


def test_open_lists_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_part, "MAX_OPEN", 3)
    service = make(store)
    service.create("shop", RankerSettings(window=1e6))
    rng = np.random.default_rng(0)
    for _ in range(10):
        ranked = service.rank(some_candidates(rng), ranker="shop")
        service.record([UserEvent(ranked.query_id, ranked.object_ids[1])])
    health = service.health().rankers["shop"]
    assert (health.open, health.lists) == (3, 7)


def test_actions_add_up_to_a_click(store: Store) -> None:
    service = make(store)
    rules = RankerSettings(actions={"click": 1, "hover": 0.5, "zoom": 0.5, "scroll": 0})
    service.create("shop", rules)
    rng = np.random.default_rng(0)

    def learned_from(*actions: str) -> int:
        before = service.model("shop").lists
        ranked = service.rank(some_candidates(rng), ranker="shop")
        service.record([UserEvent(ranked.query_id, "d1", action=each) for each in actions])
        service.flush("shop")
        return service.model("shop").lists - before

    assert learned_from("click") == 1
    assert learned_from("hover") == 0
    assert learned_from("hover", "hover") == 0
    assert learned_from("hover", "zoom") == 1
    assert learned_from("scroll", "unheard of") == 0


def test_a_list_that_cannot_be_learned_from_is_counted_and_left(store: Store) -> None:
    """Weights that would become infinite: the model stays as it was, and the next list is learned."""
    service = make(store)
    service.create("shop", RankerSettings(policy=RankNet(learning_rate=1e308, pairing="all")))
    rng = np.random.default_rng(1)
    for _ in range(4):
        ranked = service.rank(some_candidates(rng), ranker="shop")
        service.record([UserEvent(ranked.query_id, ranked.object_ids[-1])])
        service.flush("shop")
    health = service.health().rankers["shop"]
    assert health.refused > 0
    assert np.isfinite(state(service)["parameters"]).all()


def test_late_clicks_teach_if_the_rules_say_so(store: Store) -> None:
    clock = Clock()
    for name, learn_late in (("strict", False), ("patient", True)):
        service = make(store, clock, prefix=name)
        service.create(name, RankerSettings(window=60.0, learn_late=learn_late))
        ranked = service.rank(some_candidates(np.random.default_rng(0)), ranker=name)
        clock.now += 100.0
        assert service.record([UserEvent(ranked.query_id, "d1")])[0].verdict == "late"
        service.flush(name)
        assert service.model(name).lists == int(learn_late)


def settle(store: Store) -> None:
    """Wait until what was submitted is written."""
    write(store, lambda _: None)


def test_a_ranker_that_crashes_often_gets_its_snapshots_all_the_same(tmp_path: Path) -> None:
    clock, kept = Clock(), []
    for life in range(4):  # each learns fewer versions than two snapshots are apart, and is not closed
        with SqliteStore(tmp_path / "log.db") as store:
            service = make(store, clock, prefix=f"life{life}-")
            service.create("shop", SHORT)
            live(service, clock, rounds=4, seed=life)
            assert service.ranker("shop").fold.learned.versions_since_snapshot < 3
            settle(store)
            kept.append(len(service.versions("shop")))
    assert kept[0] == 0
    assert kept[-1] > kept[0]


@dataclass(kw_only=True, eq=False)
class Grown(PDGD):
    """A policy that has learned to remember one thing more than its former release."""

    more: Array = field(default_factory=partial(np.zeros, ()), init=False, repr=False)


Grown.__name__ = "PDGD"  # a class of the same name


def test_a_snapshot_of_another_release_is_passed_over_with_one_line(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    old = make(store, clock)
    old.create("shop", RankerSettings(policy=PDGD(learning_rate=0.1), window=60.0))
    live(old, clock, rounds=30)
    old.close()
    settle(store)
    assert old.versions("shop")
    new = make(store, clock, policies=[Grown])
    assert isinstance(new.model("shop").policy, Grown)
    assert new.model("shop").version == old.model("shop").version
    assert new.model("shop").lists == old.model("shop").lists
    same_part = {name: value for name, value in state(new).items() if name != "more"}
    assert same(same_part, state(old))
    complaints = [each.getMessage() for each in caplog.records if each.name == "rankloop.service"]
    assert len(complaints) == 1
    assert (
        "a snapshot cannot be used: the log is folded instead; where: ranker 'shop', entry " in complaints[0]
    )
    caplog.clear()
    settle(store)
    make(store, clock, policies=[Grown])  # it has kept one of its own
    assert not caplog.records


def test_a_snapshot_with_other_moments_is_passed_over_too(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0, scaling="running"))
    live(service, clock, rounds=20)
    service.close()
    settle(store)
    last = store.load_latest("shop")
    assert last is not None
    write(
        store,
        lambda transaction: transaction.save_snapshot(
            replace(last, arrays={**last.arrays, "scale.more": np.zeros(1)})
        ),
    )
    assert same(state(make(store, clock)), state(service))


def test_lists_that_were_open_stay_open_after_relearning_with_a_longer_window(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", structs.replace(SHORT, window=10.0))
    shown = service.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 2.0})], ranker="shop")
    service.record([UserEvent(shown.query_id, "b")])
    clock.now += 5.0
    service.configure("shop", structs.replace(SHORT, window=60.0), relearn=True)
    clock.now += 30.0  # beyond the old window
    service.tick()
    assert service.model("shop").lists == 0
    assert service.record([UserEvent(shown.query_id, "a")])[0].verdict == "accepted"
    clock.now += 30.0
    service.tick()
    assert service.model("shop").lists == 1
