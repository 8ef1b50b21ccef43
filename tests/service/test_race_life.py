"""A race in service: crashes and new features leave it as the log has it, also after restarts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankloop.policies import Race
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore
from tests.support.faults import settle
from tests.support.internals import catch_up, copied, folded_anew
from tests.support.life import NAMES, Clock, Ids, best_of, same, some_candidates, state
from tests.support.limits import keep_snapshots_every

frequent_snapshots = keep_snapshots_every(7)

RULES = RankerSettings(policy=Race(odds=1.05, caller_order="decent"), window=60.0)
STRETCH = 25


def test_a_served_race_is_the_fold_of_its_log_across_crashes(tmp_path: Path) -> None:
    clock, ids, rng = Clock(), Ids(), np.random.default_rng(0)
    shown = []
    for stretch, names in enumerate((NAMES[:2], NAMES, NAMES)):
        with SqliteStore(tmp_path / f"log{stretch}") as store:
            service = ServiceFacade(store, clock=clock, ids=ids)
            service.create("shop", RULES)
            for _ in range(STRETCH):
                candidates = some_candidates(rng, 9, names)
                ranked = service.rank(candidates, ranker="shop", k=6)
                service.record([UserEvent(ranked.query_id, best_of(ranked, candidates))])
                shown.append(ranked)
                clock.now += 30.0
                service.tick()
            catch_up(service)
            settle(store)
            copied(tmp_path / f"log{stretch}", tmp_path / f"log{stretch + 1}")  # what a crash leaves
            before = state(service)
            assert same(before, folded_anew(service)[2])
            assert all(service.replay(each.query_id).identical for each in shown[::6])
    assert before["restarts"] >= 1
    assert before["parameters"].shape == (3, 2 + len(NAMES)), "three racers, with the caller's order"
    with SqliteStore(tmp_path / "log3") as store:
        again = ServiceFacade(store, clock=clock, ids=ids)
        again.create("shop", RULES)
        assert same(before, state(again))
        assert all(again.replay(each.query_id).identical for each in shown[::6])
