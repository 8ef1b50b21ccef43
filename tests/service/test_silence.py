"""A ranker that hears silence learns every list once, with all of its clicks, whatever happens meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from rankloop.service import Candidate, RankerSettings, RankingService, RankResponse, UserEvent
from rankloop.store import SqliteStore, Store
from tests.service.faults import FaultyStore, attempt, settle
from tests.service.internals import findings, folded_anew
from tests.service.life import Clock, make, same, state
from tests.service.own_policies import Listening

WINDOW = 60.0
RULES = RankerSettings(policy=Listening(), window=WINDOW, snapshot_every=3)
CANDIDATES = [Candidate("a", {"price": 1.0}), Candidate("b", {"price": 2.0})]


def begun(store: Store, clock: Clock, rules: RankerSettings = RULES) -> RankingService:
    service = make(store, clock, policies=[Listening])
    service.create("shop", rules)
    return service


def shown_by(service: RankingService) -> RankResponse:
    """A list, in the log."""
    shown = service.rank(CANDIDATES, ranker="shop")
    settle(service.store)
    return shown


def click(service: RankingService, shown: RankResponse) -> str:
    return service.record([UserEvent(shown.query_id, "a")])[0].verdict


def heard(service: RankingService) -> tuple[int, int]:
    """How many lists were learned as clicked, and as not clicked; the fold of the whole log agrees."""
    known = state(service)
    assert same(known, folded_anew(service)[2])
    return int(known["clicked"]), int(known["silent"])


def test_a_list_for_which_room_could_not_be_made_at_once_is_learned_once(tmp_path: Path) -> None:
    clock = Clock()
    with FaultyStore(tmp_path / "log.db") as store:
        service = begun(store, clock, replace(RULES, max_open=1))
        shown_by(service)
        shown_by(service)
        store.faults.reads = 2
        for _ in range(3):
            attempt(service.tick)
        assert store.faults.struck == 2
        clock.now += WINDOW + 1
        service.tick()
        assert service.health().rankers["shop"].trouble == ""
        assert heard(service) == (0, 2)


def test_a_damaged_list_is_refused_and_the_others_are_learned(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "log.db") as store:
        service = begun(store, clock)
        lists = [shown_by(service) for _ in range(3)]
        with closing(sqlite3.connect(tmp_path / "log.db")) as file, file:
            of_it = "seq = (SELECT seq FROM impressions WHERE query_id = ?)"
            file.execute(f"UPDATE payloads SET arrays = ? WHERE {of_it}", (b"rust", lists[1].query_id))
        click(service, lists[2])
        clock.now += WINDOW + 1
        service.tick()
        assert heard(service) == (1, 1)
        health = service.health().rankers["shop"]
        assert (health.refused, health.trouble) == (1, "")
        assert lists[1].query_id in findings(service.health())
