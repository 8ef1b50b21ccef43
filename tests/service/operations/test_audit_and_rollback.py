"""Any list can be made again, any model can be returned to, any event can be forgotten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.policies import (
    MGD,
    PDGD,
    OlRankNet,
    P2NeurRank,
    PairRank,
    Policy,
    Posterior,
    RankNet,
    ReplayMemory,
)
from rankloop.scorers import MLP
from rankloop.service import GuardrailSettings, HistoryError, RankerSettings, UserEvent
from rankloop.service.core.feedback import Reaction, lesson
from rankloop.service.core.ranker_settings import MODES
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import (
    Decision,
    Event,
    Impression,
    Snapshot,
    SqliteStore,
    Store,
    open_temporary_store,
    write,
)
from rankloop.types import State
from tests.support.life import SHORT, Clock, live, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every
from tests.support.plain import plain_fold

frequent_snapshots = keep_snapshots_every(5)

# replay


def test_a_thousand_lists_are_made_again_byte_for_byte(tmp_path: Path) -> None:
    """After more than ten model versions, a rollback, a forgotten event, other settings, and a restart."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", RankerSettings(window=60.0, guardrails=GuardrailSettings(max_displacement=4)))
        lists = live(service, clock, rounds=400)
        service.rollback("shop", to=lists[200].provenance.model)
        lists += live(service, clock, rounds=200, seed=1)
        service.configure("shop", RankerSettings(window=60.0, policy=PairRank(certainty=Posterior(0.8))))
        lists += live(service, clock, rounds=200, seed=2)
        service.forget("shop", [next(store.read_events("shop")).event_id])
        lists += live(service, clock, rounds=200, seed=3)
        service.close()
    assert len({each.provenance.model for each in lists}) > 100
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        for shown in lists:
            again = service.replay(shown.query_id)
            assert again.identical
            assert again.response.to_bytes() == shown.to_bytes()


@pytest.mark.parametrize(
    "policy", [PDGD(), MGD(), RankNet(learning_rate=0.1)], ids=lambda each: type(each).__name__
)
def test_lists_of_every_policy_are_made_again(policy: Policy, store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(policy=policy, window=60.0, scaling="running"))
    for mode in MODES:
        service.set_mode("shop", mode)
        for shown in live(service, clock, rounds=15):
            again = service.replay(shown.query_id)
            assert again.identical
            assert again.response == shown


def test_a_replay_notices_what_was_changed_behind_its_back(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", SHORT)
        shown = live(service, clock, rounds=1)[0]
        service.close()
        write(store, lambda _: None)  # nothing is being written
        store._writer.execute("UPDATE impressions SET seed = seed / 2")
        assert not service.replay(shown.query_id).identical


def test_an_audit_has_the_list_and_its_events(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    shown = service.rank([Candidate("a", {"x": 1}), Candidate("b")], ranker="shop", session_id="s")
    service.record([UserEvent(shown.query_id, "a"), UserEvent(shown.query_id, "a")])
    found = service.audit(shown.query_id)
    assert found.impression.shown == shown.object_ids
    assert found.impression.model == shown.provenance.model
    assert [event.verdict for event in found.events] == ["accepted", "duplicate"]
    with pytest.raises(HistoryError, match="never was, or was discarded"):
        service.audit("unheard of")


# rollback


def test_every_version_can_be_returned_to(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    states: dict[int, State] = {}
    for seed in range(25):
        live(service, clock, rounds=1, seed=seed)
        model = service.model("shop")
        states[model.version] = model.policy.state()
    assert len(states) > 10
    for version, expected in states.items():
        number = service.rollback("shop", to=version).version
        assert number is not None
        assert service.model("shop").version == number > version
        assert same(state(service), expected)


def test_a_moment_can_be_returned_to(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    moments = []
    for number in range(15):
        live(service, clock, rounds=1, seed=number)
        moments.append((clock.now - 0.5, service.model("shop").policy.state()))
    for moment, expected in moments:
        service.rollback("shop", moment=moment)
        assert same(state(service), expected)
    with pytest.raises(HistoryError, match="no ranker 'shop' yet"):
        service.rollback("shop", moment=0.0)


def test_learning_goes_on_from_where_it_went_back_to(store: Store) -> None:
    """Rolled back, then clicks: the same weights as a ranker that never learned what came between."""
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=10)
    service.flush("shop")
    good = service.model("shop").version
    live(service, clock, rounds=10, seed=99)
    service.flush("shop")
    service.rollback("shop", to=good)
    twin = service.ranker("shop").history.model(good).policy
    shown = service.rank(some_candidates(np.random.default_rng(5)), ranker="shop")
    service.record([UserEvent(shown.query_id, shown.object_ids[2])])
    service.flush("shop")
    impression = store.find_impression(shown.query_id)
    assert impression is not None
    found = lesson(service.ranker("shop").history.model(good), impression, Reaction("clicks", {3: 1.0}))
    assert found is not None
    twin = twin.from_state(twin.state())
    twin.learn(found.feedback)
    assert same(state(service), twin.state())


def test_a_rollback_survives_a_restart_and_can_be_taken_back(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", SHORT)
        live(service, clock, rounds=20)
        best, before = service.model("shop").version, state(service)
        first = service.versions("shop")[0][0]
        service.rollback("shop", to=first)
        after = state(service)
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock, prefix="r")
        assert same(state(service), after)
        service.rollback("shop", to=best)
        assert same(state(service), before)


@pytest.mark.parametrize("to", [0, -1, 10**9])
def test_versions_that_never_were_are_refused(store: Store, to: int) -> None:
    service = make(store)
    service.create("shop")
    before = len(store.read_decisions("shop"))
    with pytest.raises(RequestError, match="no version"):
        service.rollback("shop", to=to)
    with pytest.raises(RequestError, match="one of them"):
        service.rollback("shop")
    assert len(store.read_decisions("shop")) == before


def test_another_policy_cannot_be_rolled_back_to(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=5)
    version = service.model("shop").version
    service.configure("shop", RankerSettings(policy=PDGD()))
    with pytest.raises(RequestError, match=r"was PairRank\(.*\), now it is PDGD\("):
        service.rollback("shop", to=version)


# forget


def without(store: Store, ids: set[str]) -> Store:
    """A store in which these events never were, and nobody ever asked to forget anything."""
    other = open_temporary_store()
    entries: list[Impression | Event | Decision] = []
    entries += [*store.read_impressions("shop"), *store.read_events(None), *store.read_decisions("shop")]
    for entry in sorted(entries, key=lambda each: each.seq):
        forgotten = isinstance(entry, Event) and entry.event_id in ids
        if not forgotten and not (isinstance(entry, Decision) and entry.kind == "forget"):
            write(other, lambda transaction, each=entry: transaction.append(each))  # type: ignore[misc]
    return other


@pytest.mark.parametrize("scaling", ["query", "running"])
def test_to_forget_is_never_to_have_known(store: Store, scaling: str) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0, scaling=scaling))  # type: ignore[arg-type]
    live(service, clock, rounds=30)
    service.rollback("shop", to=service.versions("shop")[2][0])
    live(service, clock, rounds=30, seed=1)
    ids = {event.event_id for event in list(store.read_events("shop"))[::5]}
    before = state(service)
    service.forget("shop", ids)
    assert not same(state(service), before)
    assert same(state(service), state(make(without(store, ids))))
    live(service, clock, rounds=10, seed=2)
    assert same(state(service), state(make(without(store, ids))))


def test_what_was_forgotten_does_not_come_back_with_a_rollback(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=20)
    version = service.model("shop").version
    ids = {event.event_id for event in list(store.read_events("shop"))[:3]}
    service.forget("shop", ids)
    live(service, clock, rounds=10, seed=1)
    service.rollback("shop", to=version)
    expected = service.ranker("shop").history.model(version, without=frozenset(ids))
    assert same(state(service), expected.policy.state())
    assert not same(state(service), service.ranker("shop").history.model(version).policy.state())


def test_forgetting_twice_and_restarting(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", SHORT)
        live(service, clock, rounds=30)
        events = [event.event_id for event in store.read_events("shop")]
        service.forget("shop", events[:2])
        live(service, clock, rounds=5, seed=1)
        service.forget("shop", events[4:6])
        live(service, clock, rounds=5, seed=2)
        found = state(service)
        expected = state(make(without(store, {*events[:2], *events[4:6]})))
    assert same(found, expected)
    with SqliteStore(tmp_path / "log.db") as store:
        assert same(state(make(store)), expected)


def test_only_known_events_can_be_forgotten(store: Store) -> None:
    service = make(store)
    service.create("shop")
    for ids in (["unheard of"], []):
        with pytest.raises(RequestError, match="no such events"):
            service.forget("shop", ids)


def test_events_of_another_ranker_are_not_forgotten(store: Store) -> None:
    """Neither there nor here: each ranker forgets what it has learned from."""
    clock = Clock()
    service = make(store, clock)
    for name in ("shop", "news"):
        service.create(name, SHORT)
        live(service, clock, rounds=5, ranker=name)
    mine, theirs = ([each.event_id for each in store.read_events(name)] for name in ("shop", "news"))
    with pytest.raises(RequestError, match=r"1 of 2 events are not of 'shop': .* is of 'news'; nothing was"):
        service.forget("shop", [mine[0], theirs[0]])
    assert {each.kind for name in ("shop", "news") for each in store.read_decisions(name)}.isdisjoint(
        {"forget"}
    )


# another policy


def test_what_another_policy_would_have_learned(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=40)
    before = state(service)
    model = service.relearn("shop", RankerSettings(policy=RankNet(learning_rate=0.1)))
    assert model.lists == service.model("shop").lists
    weights = dict(zip(service.schema("shop"), model.policy.state()["parameters"].tolist(), strict=True))
    assert weights["bm25"] > 0 > weights["age"]
    assert same(state(service), before)


def test_another_policy_goes_back_where_the_log_does(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=20)
    service.flush("shop")
    version, rules = service.model("shop").version, RankerSettings(policy=PDGD())
    expected = service.relearn("shop", rules).policy.state()
    live(service, clock, rounds=20, seed=1)
    service.flush("shop")
    assert not same(service.relearn("shop", rules).policy.state(), expected)
    service.rollback("shop", to=version)
    assert same(service.relearn("shop", rules).policy.state(), expected)


def test_a_policy_starts_warm_from_the_log(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=40)
    rules = RankerSettings(policy=PDGD(), scaling="running")
    service.tick()  # a job tells the log the time, too
    expected = service.relearn("shop", rules).policy.state()
    service.configure("shop", rules, relearn=True)
    assert same(service.model("shop").policy.state(), expected)
    live(service, clock, rounds=5, seed=1)
    assert same(state(make(store)), state(service))


def test_the_same_policy_relearns_to_the_bit(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=40)
    assert same(service.relearn("shop", SHORT).policy.state(), service.model("shop").policy.state())


def test_other_settings_of_the_same_policy_keep_what_was_learned(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT.with_policy(PairRank()))
    live(service, clock, rounds=20)
    service.flush("shop")  # any entry lets time pass, and a list may close
    before, version = state(service), service.model("shop").version
    service.configure("shop", RankerSettings(policy=PairRank(certainty=Posterior(0.9)), window=60.0))
    assert same(state(service), before)
    assert service.model("shop").version > version
    assert service.model("shop").policy.certainty == Posterior(0.9)  # type: ignore[attr-defined]
    assert same(state(make(store)), before)


SMALL = MLP(8)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (P2NeurRank(scorer=SMALL), P2NeurRank(scorer=SMALL, rankers=3)),
        (P2NeurRank(scorer=SMALL), P2NeurRank(scorer=SMALL, networks=0)),
        (OlRankNet(scorer=SMALL), OlRankNet(scorer=SMALL, covariance="diagonal")),
        (OlRankNet(scorer=SMALL), OlRankNet(scorer=SMALL, covariance="full")),
        (OlRankNet(scorer=SMALL), OlRankNet(scorer=SMALL, covariance="projected", dimensions=64)),
        (OlRankNet(scorer=SMALL), OlRankNet(scorer=MLP(16))),
        (OlRankNet(scorer=SMALL, training=ReplayMemory(memory=2)), OlRankNet(scorer=SMALL)),
        (PDGD(), PDGD(scorer=SMALL)),
        (PairRank(), PairRank(update="exact")),
    ],
    ids=repr,
)
def test_a_policy_that_does_not_understand_what_was_learned_begins_anew(
    store: Store, before: Policy, after: Policy
) -> None:
    clock, rules = Clock(), RankerSettings(policy=before, window=60.0)
    service = make(store, clock)
    service.create("shop", rules)
    service.create("other")
    live(service, clock, rounds=10)
    service.flush("shop")
    version = service.model("shop").version
    assert not after.continues(before)
    service.configure("shop", structs.replace(rules, policy=after))
    assert same(service.model("shop").policy.state(), after.state())
    with pytest.raises(RequestError, match="configure those first"):
        service.rollback("shop", to=version)
    found = service.ranker("shop")
    found.decide("rollback", to=version)  # in logs of old there may be such decisions
    found.catch_up()
    lists = live(service, clock, rounds=10, seed=1)
    service.flush("shop")
    assert not any(each.provenance.fallback for each in lists)
    assert 0 < service.model("shop").lists <= 10
    assert same(state(make(store)), state(service))  # and the log can be read again


def test_lists_of_places_cannot_teach_another_policy_of_places(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=10)
    assert service.relearn("shop", RankerSettings(policy=MGD())).lists == 0


# retention


def test_old_entries_can_go_and_the_model_stays(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", SHORT)
        lists = live(service, clock, rounds=60)
        service.flush("shop")
        expected = state(service)
        middle = clock.now - 30 * 30.0
        assert service.retain("shop", since=middle).entries > 30
        assert same(state(service), expected)
        service.replay(lists[-1].query_id)
        with pytest.raises(HistoryError, match="discarded"):
            service.replay(lists[0].query_id)
        with pytest.raises(HistoryError, match="does not reach back"):
            service.rollback("shop", to=1)
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock, prefix="r")
        assert same(state(service), expected)
        last = [event.event_id for event in store.read_events("shop")][-1]
        service.forget("shop", [last])
        live(service, clock, rounds=5, seed=7)
        assert same(state(ServiceFacade(store)), state(service))


def test_retention_keeps_what_a_rollback_needs(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=40)
    target = service.versions("shop")[1][0]
    live(service, clock, rounds=40, seed=1)
    service.rollback("shop", to=target)
    live(service, clock, rounds=3, seed=2)
    service.retain("shop", since=clock.now - 60.0 - 300.0)
    again = plain_fold(service)
    assert same(again.learned.policy.state(), state(service))


def test_nothing_goes_before_there_is_a_snapshot(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0))
    clock.now += 1.0
    live(service, clock, rounds=5)
    assert service.retain("shop", since=999.0).entries == 0


def test_a_snapshot_of_another_release_is_passed_over(tmp_path: Path) -> None:
    """A snapshot is a short cut: if it cannot be read any more, the log is folded from the start."""
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", SHORT)
        live(service, clock, rounds=20)
        service.close()
        expected = state(service)
        write(store, lambda transaction: transaction.save_snapshot(damaged(store)))
        assert same(state(make(store)), expected)


def damaged(store: Store) -> Snapshot:
    found = store.load_latest("shop")
    assert found is not None
    return replace(found, arrays={"learned/policy.something_else": np.zeros(3)})
