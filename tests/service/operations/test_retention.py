"""Retention lets the log shrink: what only told the time goes, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankloop.service import RankerSettings, UserEvent
from rankloop.service.store import Store, StoreError
from tests.support.faults import FaultyStore, settle
from tests.support.life import Clock, make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(5)

SPARSE = RankerSettings(window=10.0)


def test_ticks_go_with_the_lists_that_they_closed(store: Store) -> None:
    clock, rng = Clock(), np.random.default_rng(0)
    service = make(store, clock)
    service.create("shop", SPARSE)
    for _ in range(20):  # lists that close without another event: each needs a tick
        shown = service.rank(some_candidates(rng, 3), ranker="shop")
        service.record([UserEvent(shown.query_id, shown.object_ids[1])])
        clock.now += 60.0
        service.tick()
    settle(store)
    ticks = [each.seq for each in store.read_decisions("shop", kinds=("tick",))]
    assert len(ticks) == 20
    retained = service.retain("shop", since=clock.now)
    kept = [each.seq for each in store.read_decisions("shop", kinds=("tick",))]
    assert kept == [seq for seq in ticks if seq > retained.base]
    assert len(kept) < 5
    assert {each.kind for each in store.read_decisions("shop")} >= {"settings", "mode", "schema"}
    assert same(state(make(store, clock)), state(service))


def test_a_tick_tells_what_went_wrong_with_every_ranker(tmp_path: Path) -> None:
    clock, rng = Clock(), np.random.default_rng(0)
    with FaultyStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        for name in ("shop", "books"):
            service.create(name, SPARSE)
            shown = service.rank(some_candidates(rng, 3), ranker=name)
            service.record([UserEvent(shown.query_id, shown.object_ids[1])])
        clock.now += 60.0
        store.faults.commits = 2
        with pytest.raises(ExceptionGroup) as failed:
            service.tick()
        assert [type(each) for each in failed.value.exceptions] == [StoreError, StoreError]
        service.tick()
        assert [service.model(name).lists for name in ("shop", "books")] == [1, 1]
