"""Past saturation every request is answered at once: in the caller's own order, or with 503."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.http.list_backlog import LISTS, OWN, Backlog
from rankloop.service.http.worker_pool import Refused
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive, click, request


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service) as found:
        yield found


def test_with_enough_lists_ahead_the_callers_own_order_is_the_answer(live: Live) -> None:
    live.context.backlog.lists = live.context.settings.deadline
    body = request(4)
    body["candidates"][3]["pinned_at"] = 1
    answer = live["rank"].post("/v1/rank", json=body).json()
    live.context.backlog.lists = 0.0
    assert answer["provenance"]["fallback"] == "busy: too many lists at once"
    assert [each["object_id"] for each in answer["ranking"]] == ["d3", "d0", "d1", "d2"]
    assert live.metric("rankloop_fallbacks_total", ranker="default", reason="busy") == 1
    clicked = live["page"].post("/v1/events", json={"events": [click(answer["query_id"], "d1")]}).json()
    assert clicked["receipts"][0]["verdict"] == "accepted"  # it is a list like any other


def test_past_that_the_answer_is_503_and_says_so_before_it_reads(live: Live) -> None:
    backlog, deadline = live.context.backlog, live.context.settings.deadline
    backlog.lists, backlog.own = deadline, deadline
    answer = live["rank"].post("/v1/rank", json=request(4))
    backlog.lists = backlog.own = 0.0
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert "show your own order" in answer.json()["error"]
    after = live["rank"].post("/v1/rank", json=request(4)).json()  # nothing is left to work off
    assert after["provenance"]["fallback"] is None
    assert (backlog.lists, backlog.own) == (0.0, 0.0)


def test_what_is_wrong_is_told_also_when_there_is_no_time(live: Live) -> None:
    live.context.backlog.lists = live.context.settings.deadline
    wrong: list[dict[str, Any]] = [{"candidates": []}, {"candidates": [{"object_id": 3}]}]
    wrong.append(request(2, ranker="nobody"))
    answers = [live["rank"].post("/v1/rank", json=body).status_code for body in wrong]
    live.context.backlog.lists = 0.0
    assert answers == [400, 400, 400]


@given(
    st.lists(st.tuples(st.integers(0, 4_000_000), st.booleans()), max_size=200),
    st.lists(st.tuples(st.integers(0, 4_000_000), st.floats(0, 60)), max_size=20),
)
def test_what_is_let_in_is_never_longer_than_half_a_deadline(
    requests: list[tuple[int, bool]], took: list[tuple[int, float]]
) -> None:
    backlog = Backlog(0.1)
    for size, seconds in took:
        backlog.took(size, seconds)
    with backlog.admit(1_000_000, 0.0) as alone:  # however slow others of its size were
        assert not alone.own
        assert not alone.late(alone.due(0.0), 0.0)
    refused, waiting = 0, list[ExitStack]()
    for size, leave in requests:
        if leave and waiting:
            waiting.pop(0).close()
        with ExitStack() as stack:
            try:
                ticket = stack.enter_context(backlog.admit(size, 0.0))
            except Refused:
                refused += 1
                continue
            assert ticket.own or ticket.expected <= LISTS * backlog.deadline
            waiting.append(stack.pop_all())
        assert backlog.lists <= LISTS * backlog.deadline + 1e-9
        assert backlog.own <= OWN * backlog.deadline + 1e-9
    assert refused + len(waiting) <= len(requests)
    for each in waiting:
        each.close()
    assert (backlog.lists, backlog.own) == (0.0, 0.0)


def test_whoever_sends_slowly_has_half_of_the_time_left() -> None:
    backlog = Backlog(0.1)
    with backlog.admit(1000, 5.0) as ticket:
        assert ticket.due(5.01) == 5.1
        assert ticket.due(7.0) == 7.05
        assert not ticket.late(7.05, 7.0)
        assert ticket.late(5.1, 5.1)
