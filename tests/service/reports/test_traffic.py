"""Numbers for the pages."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from rankloop.candidate import Candidate
from rankloop.policies import PDGD, RankNet
from rankloop.service import GradeSettings, RankerSettings, UserEvent
from rankloop.service.reports.service_facts import Diagnosis, doctor
from rankloop.service.reports.traffic import over_time, overview
from rankloop.service.store import Store
from tests.support.life import Clock, live, make, some_candidates
from tests.support.own_policies import Noting


def test_an_overview_of_nothing(store: Store) -> None:
    make(store).create("shop")
    found = overview(store, "shop", since=0.0, until=1e6)
    assert (found.lists, found.ctr, found.mrr, found.settled) == (0, None, None, None)


def test_clicks_are_shares_and_ranks(store: Store) -> None:
    service = make(store)
    service.create("shop")
    for place in (0, 1, 3, None):
        shown = service.rank(some_candidates(np.random.default_rng(0)), ranker="shop")
        if place is not None:
            service.record([UserEvent(shown.query_id, shown.object_ids[each]) for each in (place, 7)])
    service.flush("shop")  # what was shown is written down
    found = overview(store, "shop", since=0.0, until=1e6)
    assert found.ctr == 3 / 4
    assert found.mrr == pytest.approx((1 + 1 / 2 + 1 / 4) / 3)


def test_learning_shows(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0))
    start = clock.now
    live(service, clock, rounds=120)
    service.flush("shop")
    points = over_time(store, "shop", since=start, until=clock.now, steps=4)
    assert [each.lists for each in points] == [30, 30, 30, 30]
    settled = [each.settled for each in points]
    assert settled[0] is not None
    assert settled[-1] is not None
    assert settled[0] < settled[-1]
    first, last = points[0], points[-1]
    assert first.mrr is not None
    assert last.mrr is not None
    assert first.mrr < last.mrr
    assert first.explored is not None
    assert last.explored is not None
    assert first.explored > last.explored


def test_exploration_costs_only_where_something_is_known(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0, policy=PDGD()))
    live(service, clock, rounds=1)
    service.flush("shop")
    assert overview(store, "shop", since=0, until=1e6).cost == 0.0
    live(service, clock, rounds=50)
    found = overview(store, "shop", since=0, until=1e6)
    assert found.cost is not None
    assert found.explored is not None
    assert 0 < found.cost < found.explored


def test_policies_that_cannot_tell_have_no_share_of_settled_pairs(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(policy=RankNet()))
    live(service, clock, rounds=5)
    service.flush("shop")
    assert overview(store, "shop", since=0, until=1e6).settled is None


def test_healthy_events_have_no_findings(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop")
    live(service, clock, rounds=60)
    found = doctor(store, since=0.0, until=1e6)
    assert found.findings == ()
    assert found.join_rate == 1.0
    assert len(found.last) == 20
    assert found.last[0].seq > found.last[-1].seq


def test_no_events_are_noticed(store: Store) -> None:
    service = make(store)
    service.create("shop")
    for number in range(30):
        service.rank(some_candidates(np.random.default_rng(number)), ranker="shop")
    service.flush("shop")
    assert "30 lists were shown and no event arrived" in doctor(store, since=0, until=1e6).findings[0]


def test_grades_are_told_in_words_and_numbers(store: Store) -> None:
    service = make(store, policies=[Noting])
    grades = GradeSettings(weights={"star": 1.0, "tip": 2.0}, highest=5.0)
    rules = RankerSettings(policy=Noting(), grades=grades)
    service.create("shop", rules)

    def rated(number: int, value: float) -> UserEvent:
        shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop", session_id=str(number))
        return UserEvent(shown.query_id, "b", "star", str(number), value=value)

    def look() -> Diagnosis:
        return doctor(
            store, since=0, until=1e6, configurations={"shop": service.ranker("shop").view.configuration}
        )

    service.record([rated(number, 2.0) for number in range(30)])
    assert look().findings == (
        "all 30 graded results of ranker 'shop' have about the grade 2: do the events have their value?",
    )
    service.record([rated(number, 9.0) for number in range(30, 70)])
    for _ in range(30):
        service.rank([Candidate("a"), Candidate("b")], ranker="shop")
    service.record([UserEvent("q1", "b", "star", "again", value=0.4), UserEvent("q1", "a", "tip")])
    (found,) = look().ratings
    assert (found.lists, found.rated, found.rate, found.results, found.capped) == (100, 70, 0.7, 71, 40)
    assert found.histogram == ((0.0, 1), (1.0, 0), (2.0, 30), (3.0, 0), (4.0, 0), (5.0, 40))
    assert look().findings == ("40 of 71 grades of ranker 'shop' were cut to the highest one: weigh less",)
    service.configure("shop", structs.replace(rules, policy=PDGD()))
    assert look().findings[0] == (
        "71 results of ranker 'shop' were graded, and its policy learns from clicks alone"
    )
    service.configure("shop", structs.replace(rules, grades=GradeSettings(weights={"smile": 1.0})))
    assert look().findings == (
        "100 lists of ranker 'shop' were shown and nothing in them was graded: are its actions sent?",
    )


def test_what_is_wrong_is_found(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0))
    lists = [service.rank([Candidate("a"), Candidate("b")], ranker="shop") for _ in range(60)]

    def send(number: int, **said: object) -> None:
        shown = lists[number]
        place = shown.object_ids.index("a")
        event = {"ordinal": place, "client_id": "robot", "occurred_at": clock.now} | said
        service.record([UserEvent(shown.query_id, event.pop("object_id", "a"), **event)])  # type: ignore[arg-type]

    for number in range(40):
        send(number)
    for number in range(40, 50):
        send(number, object_id="z", occurred_at=clock.now + 1000)
    for number in range(10):
        service.record([UserEvent("unheard of", "a", event_id=str(number))])
    service.record([{}])
    clock.now += 5000.0
    for number in range(50, 60):
        send(number, occurred_at=1000.0)
    found = doctor(store, since=0, until=1e6)
    said = " | ".join(found.findings)
    assert found.join_rate == 60 / 70
    for words in (
        "10 events name an unknown query_id",
        "10 events name objects that were not in their list",
        "1 events could not be understood",
        "10 events came after the window",
        "positions are counted from 0",
        "10 events were sent from the future",
        "10 events were over an hour old",
        "client 'robot' sent 60 of the last 71 events",
    ):
        assert words in said


def test_another_list_than_ours_is_noticed(store: Store) -> None:
    service = make(store)
    service.create("shop")
    for number in range(30):
        shown = service.rank(some_candidates(np.random.default_rng(number)), ranker="shop")
        service.record(
            [
                UserEvent(shown.query_id, shown.object_ids[0], ordinal=5, event_id=f"{number}")
                for _ in range(2)
            ]
        )
    said = " | ".join(doctor(store, since=0, until=1e6).findings)
    assert "30 events name another position" in said
    assert "30 events came more than once" in said
