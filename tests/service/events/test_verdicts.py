"""What is made of events: every verdict, in every order of arrival."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.errors import RequestError
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.store import Store
from tests.support.life import Clock, make, same, some_candidates, state


def ubi(query_id: str, object_id: str, **fields: Any) -> dict[str, Any]:
    """A click in the shape of User Behavior Insights."""
    attributes = {"object": {"object_id": object_id}, "position": {"ordinal": fields.pop("ordinal", 1)}}
    return {"action_name": "click", "query_id": query_id, "event_attributes": attributes} | fields


def rating(query_id: str, object_id: str, value: Any) -> dict[str, Any]:
    """Stars in the shape of User Behavior Insights."""
    attributes = {"object": {"object_id": object_id}, "value": value}
    return {"action_name": "star", "query_id": query_id, "event_attributes": attributes}


def test_every_verdict(store: Store) -> None:
    clock = Clock()
    service = make(store, clock)
    service.create("shop", RankerSettings(window=60.0))
    shown = service.rank([Candidate("a"), Candidate("b"), Candidate("c")], ranker="shop", k=2)
    hidden = ({"a", "b", "c"} - set(shown.object_ids)).pop()
    first, second = shown.object_ids
    receipts = service.record(
        [
            UserEvent(shown.query_id, first),
            UserEvent(shown.query_id, first),
            UserEvent("unheard of", first),
            UserEvent(shown.query_id, hidden),
            UserEvent(shown.query_id, second, action="hover"),
            {"action_name": "click"},
        ]
    )
    assert [each.verdict for each in receipts] == [
        *("accepted", "duplicate", "orphan", "not_shown", "ignored", "invalid")
    ]
    clock.now += 60.0
    (late,) = service.record([UserEvent(shown.query_id, second)])
    assert (late.verdict, late.detail) == ("late", "the list was shown 60 seconds ago and is closed")
    assert store.statistics.count_events(None, since=0, until=1e9).verdicts == dict.fromkeys(
        ("accepted", "duplicate", "orphan", "not_shown", "ignored", "invalid", "late"), 1
    )


def test_an_orphan_is_welcome_once_its_list_is_known(store: Store) -> None:
    service = make(store)
    service.create("shop")
    event = UserEvent("mine", "a", event_id="e1")
    assert service.record([event])[0].verdict == "orphan"
    service.rank([Candidate("a"), Candidate("b")], ranker="shop", query_id="mine")
    assert [each.verdict for each in service.record([event, event])] == ["accepted", "duplicate"]


def test_clicks_of_one_list_in_any_order_are_one_feedback(store: Store) -> None:
    found = []
    candidates = some_candidates(np.random.default_rng(0))
    for attempt, order in enumerate(([0, 1], [1, 0])):
        service = make(store, prefix=f"{attempt}-")
        service.create("shop") if not attempt else service.rollback("shop", to=1)
        shown = service.rank(candidates, ranker="shop", session_id="the same seed")
        for place in order:
            service.record([UserEvent(shown.query_id, shown.object_ids[place + 2])])
        service.flush("shop")
        found.append(state(service))
    assert same(*found)


def test_an_event_without_an_id_is_known_by_what_it_says() -> None:
    one = UserEvent("q", "a", occurred_at=1.0)
    assert one.event_id == UserEvent("q", "a", occurred_at=1.0).event_id
    assert one.event_id != UserEvent("q", "a", occurred_at=2.0).event_id
    assert one.event_id != UserEvent("q", "b", occurred_at=1.0).event_id
    assert UserEvent("q", "a", event_id="mine").event_id == "mine"


def test_ubi_is_understood(store: Store) -> None:
    service = make(store)
    service.create("shop")
    shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop")
    sent = ubi(
        shown.query_id,
        "a",
        ordinal=2,
        client_id="c1",
        session_id="s1",
        timestamp="1970-01-01T01:00:00+01:00",
        application="esci",
        message="clicked",
    )
    assert service.record([sent])[0].verdict == "accepted"
    (event,) = store.find_events(query_id=shown.query_id)
    assert (event.ordinal, event.occurred_at, event.client_id, event.session_id) == (2, 0.0, "c1", "s1")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({}, "query_id must be a text"),
        ([], "an event must be an object"),
        (None, "an event must be an object"),
        (ubi("q", ""), "object_id must be a text"),
        (ubi("q", "\ud800"), "halves of characters"),
        (ubi("q", "x" * 201), "object_id must be a text of 1 to 200 characters, found a text of 201"),
        (ubi(7, "a"), "query_id must be a text"),  # type: ignore[arg-type]
        (ubi("q", "a", ordinal="first"), "ordinal must be a whole number"),
        (ubi("q", "a", ordinal=1.5), "ordinal must be a whole number"),
        (ubi("q", "a", ordinal=10**30), "ordinal must be a whole number"),
        (ubi("q", "a", ordinal=True), "ordinal must be a whole number"),
        (ubi("q", "a", timestamp="yesterday"), "timestamp must be"),
        (ubi("q", "a", timestamp=float("nan")), "occurred_at must be a number"),
        (ubi("q", "a") | {"event_attributes": "none"}, "event_attributes must be an object"),
        (ubi("q", "a", client_id=["c"]), "client_id must be a text"),
        *(
            (rating("q", "a", value), f"value must be a number, found {value!r}")
            for value in ("5", True, [5], {"stars": 5}, float("nan"), float("inf"), 1e300)
        ),
    ],
)
def test_what_cannot_be_understood_is_answered_and_harms_nobody(
    store: Store, event: Any, reason: str
) -> None:
    service = make(store)
    service.create("shop")
    shown = service.rank([Candidate("a"), Candidate("b")], ranker="shop")
    receipts = service.record([UserEvent(shown.query_id, "a"), event, UserEvent(shown.query_id, "b")])
    assert [each.verdict for each in receipts] == ["accepted", "invalid", "accepted"]
    assert reason in receipts[1].detail
    (kept,) = (each for each in store.read_events(None) if each.verdict == "invalid")
    assert (kept.query_id, kept.object_id) == ("", "")


def test_too_many_events_at_once_are_refused(store: Store) -> None:
    service = make(store)
    with pytest.raises(RequestError, match="at most 10000 events"):
        service.record({} for _ in range(10_001))
    assert not list(store.read_events(None))


def test_no_events_are_no_trouble(store: Store) -> None:
    assert make(store).record([]) == []


def test_a_flushed_list_is_closed(store: Store) -> None:
    service = make(store)
    service.create("shop")
    shown = service.rank(some_candidates(np.random.default_rng(0)), ranker="shop")
    service.flush("shop")
    assert service.record([UserEvent(shown.query_id, "d1")])[0].verdict == "late"
    assert make(store).record([UserEvent(shown.query_id, "d2")])[0].verdict == "late"
