"""Modes: how much a ranker may do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.service import UserEvent
from rankloop.service.core.ranker_settings import LEARNS, MODES, Mode
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store
from tests.support.life import SHORT, Clock, best_of, live, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(7)


def trained(store: Store, clock: Clock) -> ServiceFacade:
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=30)
    service.flush("shop")
    return service


@pytest.mark.parametrize("mode", MODES)
def test_who_learns(store: Store, mode: Mode) -> None:
    clock = Clock()
    service = trained(store, clock)
    before = state(service)
    service.set_mode("shop", mode)
    live(service, clock, rounds=10, seed=1)
    service.flush("shop")
    assert same(state(service), before) == (mode not in LEARNS)
    assert service.mode("shop") == mode


def test_who_is_frozen_from_the_start_never_starts(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT, mode="frozen")
    live(service, clock, rounds=10)
    service.flush("shop")
    assert service.model("shop").lists == 0


def test_exploit_and_frozen_show_the_best_first(store: Store) -> None:
    service = trained(store, Clock())
    for mode in ("exploit", "frozen"):
        service.set_mode("shop", mode)
        for seed in range(10):
            shown = service.rank(some_candidates(np.random.default_rng(seed)), ranker="shop")
            scores = [each.score for each in shown.ranking]
            assert scores == sorted(scores, reverse=True)
            assert shown.provenance.explored_pairs == 0


def test_passthrough_and_shadow_show_the_callers_order(store: Store) -> None:
    service = trained(store, Clock())
    for mode in ("passthrough", "shadow"):
        service.set_mode("shop", mode)
        candidates = some_candidates(np.random.default_rng(0))
        assert service.rank(candidates, ranker="shop").object_ids == [each.object_id for each in candidates]


def test_a_ranker_can_learn_in_the_shadow(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", SHORT, mode="shadow")
    live(service, clock, rounds=80)
    service.flush("shop")
    service.set_mode("shop", "exploit")
    rng, hits = np.random.default_rng(9), 0
    for _ in range(20):
        candidates = some_candidates(rng)
        shown = service.rank(candidates, ranker="shop")
        hits += best_of(shown, candidates) in shown.object_ids[:2]
    assert hits > 12  # chance would be 5


def test_freezing_stops_lists_that_are_still_open(store: Store) -> None:
    clock = Clock()
    service = trained(store, clock)
    shown = service.rank(some_candidates(np.random.default_rng(0)), ranker="shop")
    service.record([UserEvent(shown.query_id, shown.object_ids[3])])
    before = state(service)
    service.set_mode("shop", "frozen")
    clock.now += 1000.0
    service.tick()
    assert same(state(service), before)


def test_the_mode_survives_a_restart(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        service = make(store)
        service.create("shop")
        service.set_mode("shop", "frozen", reason="a bad feeling")
    with SqliteStore(tmp_path / "log.db") as store:
        assert make(store).mode("shop") == "frozen"
        assert store.read_decisions("shop", kinds=("mode",))[-1].body["reason"] == "a bad feeling"


def test_unknown_modes_are_refused(store: Store) -> None:
    service = make(store)
    service.create("shop")
    with pytest.raises(SettingError, match="did you mean 'explore'"):
        service.set_mode("shop", "explode")  # type: ignore[arg-type]
