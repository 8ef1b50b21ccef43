"""A ranker that hears silence learns every list once, with all of its clicks, whatever happens meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.policies import PDGD
from rankloop.service import RankerSettings, RankResponse, UserEvent
from rankloop.service.core import learned_part
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store
from tests.support.faults import FaultyStore, attempt, settle
from tests.support.internals import findings, folded_anew
from tests.support.life import Clock, make, same, state
from tests.support.limits import keep_snapshots_every
from tests.support.own_policies import Listening

frequent_snapshots = keep_snapshots_every(3)

WINDOW = 60.0
RULES = RankerSettings(policy=Listening(), window=WINDOW)
CANDIDATES = [Candidate("a", {"price": 1.0}), Candidate("b", {"price": 2.0})]


def begun(store: Store, clock: Clock, rules: RankerSettings = RULES) -> ServiceFacade:
    service = make(store, clock, policies=[Listening])
    service.create("shop", rules)
    return service


def shown_by(service: ServiceFacade) -> RankResponse:
    """A list, in the log."""
    shown = service.rank(CANDIDATES, ranker="shop")
    settle(service.store)
    return shown


def click(service: ServiceFacade, shown: RankResponse) -> str:
    return service.record([UserEvent(shown.query_id, "a")])[0].verdict


def heard(service: ServiceFacade) -> tuple[int, int]:
    """How many lists were learned as clicked, and as not clicked; the fold of the whole log agrees."""
    known = state(service)
    assert same(known, folded_anew(service)[2])
    return int(known["clicked"]), int(known["silent"])


def test_a_list_for_which_room_could_not_be_made_at_once_is_learned_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned_part, "MAX_OPEN", 1)
    clock = Clock()
    with FaultyStore(tmp_path / "log.db") as store:
        service = begun(store, clock, RULES)
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
            file.execute(f"UPDATE payloads SET payload = ? WHERE {of_it}", (b"rust", lists[1].query_id))
        click(service, lists[2])
        clock.now += WINDOW + 1
        service.tick()
        assert heard(service) == (1, 1)
        health = service.health().rankers["shop"]
        assert (health.refused, health.trouble) == (1, "")
        assert lists[1].query_id in findings(service.health())


CLICKS = structs.replace(RULES, policy=PDGD())


def test_a_click_on_a_list_of_before_the_policy_heard_silence_is_learned(store: Store) -> None:
    clock = Clock()
    service = begun(store, clock, CLICKS)
    before, unclicked = shown_by(service), shown_by(service)
    service.configure("shop", RULES)
    after = shown_by(service)
    assert [click(service, each) for each in (before, after)] == ["accepted", "accepted"]
    service.close()  # keeps a snapshot
    again = make(store, clock, prefix="r", policies=[Listening])
    assert click(again, unclicked) == "accepted"
    clock.now += WINDOW + 1
    again.tick()
    assert heard(again) == (3, 0)


def test_a_list_that_was_heard_is_learned_once_also_if_it_is_clicked_late(store: Store) -> None:
    clock = Clock()
    service = begun(store, clock, CLICKS)
    service.configure("shop", structs.replace(RULES, learn_late=True))
    shown = shown_by(service)
    clock.now += WINDOW + 1
    service.tick()
    assert click(service, shown) == "late"
    service.flush("shop")
    assert heard(service) == (0, 1)


def test_a_relearned_policy_has_heard_the_lists_of_before(store: Store) -> None:
    clock = Clock()
    service = begun(store, clock, CLICKS)
    shown, _ = shown_by(service), shown_by(service)
    service.configure("shop", RULES, relearn=True)
    assert click(service, shown) == "accepted"
    clock.now += WINDOW + 1
    service.tick()
    assert heard(service) == (1, 1)


@pytest.mark.parametrize("rules", [RULES, CLICKS], ids=["silence", "clicks"])
def test_a_list_that_is_open_when_the_window_is_lengthened_takes_clicks_in_the_longer_one(
    rules: RankerSettings, store: Store
) -> None:
    clock = Clock()
    service = begun(store, clock, rules)
    shown = shown_by(service)
    assert click(service, shown) == "accepted"
    clock.now += WINDOW / 2
    service.configure("shop", structs.replace(rules, window=3 * WINDOW))
    service.close()  # keeps a snapshot
    service = make(store, clock, prefix="r", policies=[Listening])
    clock.now += WINDOW
    service.tick()
    assert service.model("shop").lists == 0, "its window is still open"
    assert service.record([UserEvent(shown.query_id, "b")])[0].verdict == "accepted"
    clock.now += 2 * WINDOW
    service.tick()
    assert service.model("shop").lists == 1
    assert same(state(service), folded_anew(service)[2])


def test_a_list_that_is_silent_until_the_window_is_lengthened_is_learned_with_its_click(store: Store) -> None:
    clock = Clock()
    service = begun(store, clock)
    shown = shown_by(service)
    service.configure("shop", structs.replace(RULES, window=3 * WINDOW))
    clock.now += 2 * WINDOW
    assert click(service, shown) == "accepted"
    clock.now += 2 * WINDOW
    service.tick()
    assert heard(service) == (1, 0)


def test_health_says_how_many_lists_were_closed_early(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_part, "MAX_OPEN", 2)
    clock = Clock()
    service = begun(store, clock, RULES)
    for _ in range(5):
        shown_by(service)
    service.tick()
    assert service.health().rankers["shop"].early == 3
    assert "clicked lists were open at once" in findings(service.health())
    assert service.health().ok, "they were learned"
    service.close()  # keeps a snapshot
    again = make(store, clock, prefix="r", policies=[Listening])
    assert again.health().rankers["shop"].early == 3, "a restart does not forget it"
    clock.now += WINDOW + 1
    again.tick()
    assert again.health().rankers["shop"].early == 3
    assert heard(again) == (0, 5)
