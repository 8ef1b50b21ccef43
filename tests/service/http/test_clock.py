"""Time and ids over HTTP are the service's own, so that a life can be lived again exactly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.looking import numbers, signed_in, watched
from tests.support.serving import Live, alive, click, request

LONG_AGO = 1_000_000.0  # in January 1970: nobody's clock but this service's
HOUR = 3600.0


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = LONG_AGO

    def __call__(self) -> float:
        return self.now


def made(clock: Clock) -> ServiceFacade:
    numbers = count(1)
    service = ServiceFacade(open_temporary_store(), clock=clock, ids=lambda: f"q{next(numbers)}")
    service.create("default")
    return service


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(clock: Clock) -> Iterator[Live]:
    with watched(made(clock)) as found:
        yield found


def test_lists_have_the_services_time_and_ids(live: Live) -> None:
    named = [live["rank"].post("/v1/rank", json=request()).json()["query_id"] for _ in range(2)]
    assert named == ["q1", "q2"]
    assert [each.at for each in live.context.service.store.read_impressions("default")] == [
        LONG_AGO,
        LONG_AGO,
    ]


def test_api_and_pages_look_back_by_the_services_time(live: Live) -> None:
    query = live["rank"].post("/v1/rank", json=request()).json()["query_id"]
    live["rank"].post("/v1/events", json={"events": [click(query, "d1")]})
    assert live["admin"].get("/v1/overview?minutes=1").json()["total"]["lists"] == 1
    assert live["admin"].get("/v1/doctor?minutes=1").json()["tally"]["verdicts"] == {"accepted": 1}
    assert numbers(signed_in(live).get("/overview?minutes=60").text)["lists"] == "1"
    assert numbers(signed_in(live).get("/doctor?minutes=60").text)["events"] == "1"


def test_the_same_requests_make_the_same_life(clock: Clock) -> None:
    lives = []
    for _ in range(2):
        with alive(made(clock)) as live:
            for _ in range(5):
                shown = live["rank"].post("/v1/rank", json=request(8)).json()
                live["rank"].post("/v1/events", json={"events": [click(shown["query_id"], "d3")]})
                live.context.service.flush("default")
            lives.append(live["rank"].post("/v1/rank", json=request(8)).content)
    assert lives[0] == lives[1]


def test_a_clock_that_was_set_back_is_said_to_admins_and_to_nobody_else(clock: Clock, live: Live) -> None:
    live["rank"].post("/v1/rank", json=request())
    assert live["none"].get("/v1/health").json()["ok"] is True
    clock.now += HOUR
    live.context.service.flush("default")
    clock.now -= HOUR
    assert set(live["none"].get("/v1/health").json()) == {"ok", "version"}
    assert live["none"].get("/v1/health").json()["ok"] is False
    finding = live["admin"].get("/v1/doctor").json()["findings"][0]
    assert "the clock is 3600 seconds behind the log" in finding
    assert f"{finding[:1].upper()}{finding[1:]}" in signed_in(live).get("/doctor").text  # as a sentence
