"""Floods are answered with 429, and only those who flood notice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.http import HttpSettings
from rankloop.service.http.rate_limits import BURST, Limits, TokenBuckets
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive, click

SETTINGS = HttpSettings(
    deadline=30.0, patience=60.0, proxies=("127.0.0.1",), address_rate=2.0, request_rate=3.0, page_rate=5.0
)


@pytest.fixture
def live() -> Iterator[Live]:
    """A service whose limits are small, behind a proxy that it believes."""
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service, SETTINGS) as found:
        found.context.limits = Limits(SETTINGS, clock=lambda: 0.0)  # no time passes
        yield found


def send(live: Live, events: int, address: str = "", key: str = "page") -> httpx.Response:
    body = {"events": [click("unknown", f"d{number}") for number in range(events)]}
    headers: dict[str, Any] = {"X-Forwarded-For": address} if address else {}
    return live[key].post("/v1/events", json=body, headers=headers)


def test_a_flood_from_one_address_is_refused_and_others_pass_with_the_same_key(live: Live) -> None:
    assert send(live, 18, "192.0.2.7").status_code == 200
    refused = send(live, 5, "192.0.2.7")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "2"  # 3 more are needed, at 2 per second
    assert refused.json()["error"].startswith("too many events")
    assert send(live, 20, "192.0.2.8").status_code == 200
    assert send(live, 5, "2001:db8::1").status_code == 200
    statistics = live.context.service.store.statistics
    assert statistics.count_events(None, since=0, until=1e12).verdicts == {"orphan": 43}


def test_one_machine_has_all_of_a_network_of_ipv6(live: Live) -> None:
    assert [send(live, 10, f"2001:db8::{number}").status_code for number in range(1, 4)] == [200, 200, 429]


def test_more_than_an_address_may_ever_send_at_once_is_too_large(live: Live) -> None:
    assert send(live, 21, "192.0.2.7").status_code == 413
    assert send(live, 20, "192.0.2.7").status_code == 200  # nothing was taken


def test_a_page_key_is_limited_from_all_addresses_together_and_other_keys_are_not(live: Live) -> None:
    found = [send(live, 20, f"192.0.2.{number}").status_code for number in range(1, 4)]
    assert found == [200, 200, 429]
    assert send(live, 500, "192.0.2.9", key="rank").status_code == 200


def test_requests_without_a_key_are_limited_by_address(live: Live) -> None:
    headers = {"X-Forwarded-For": "192.0.2.7"}
    found = [live["nobody"].get("/v1/health", headers=headers).status_code for _ in range(40)]
    assert found == [200] * 30 + [429] * 10
    assert live.metric("rankloop_refused_total", status="429") == 10
    assert live["nobody"].get("/v1/health").status_code == 200  # the proxy itself


def test_an_address_that_nobody_vouches_for_is_not_believed() -> None:
    service = ServiceFacade(open_temporary_store())
    settings = HttpSettings(deadline=30.0, patience=60.0, address_rate=1.0, page_rate=4.0)
    with alive(service, settings) as live:  # no proxy is named: the sender's own address counts
        live.context.limits = Limits(settings, clock=lambda: 0.0)
        found = [send(live, 10, f"192.0.2.{number}").status_code for number in range(1, 6)]
    assert found == [200] * 4 + [429]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.floats(0, 5)), max_size=60),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_in_any_stretch_of_time_a_bucket_gives_no_more_than_its_burst_and_its_rate(
    asked: list[tuple[str, int, float]], rate: float
) -> None:
    now = 0.0
    buckets = TokenBuckets(rate, clock=lambda: now)
    given_out: dict[str, list[tuple[float, int]]] = {"a": [], "b": []}
    for name, tokens, pause in asked:
        now += pause
        wait = buckets.take(name, tokens)
        assert (wait == float("inf")) == (tokens > rate * BURST)
        if not wait:
            given_out[name].append((now, tokens))
            for start, _ in given_out[name]:
                total = sum(n for at, n in given_out[name] if at >= start)
                assert total <= rate * (BURST + now - start) + 1e-6
        elif wait != float("inf"):
            now += wait + 1e-9  # as long as it says, and no longer
            assert buckets.take(name, tokens) == 0.0
            given_out[name].append((now, tokens))


def test_buckets_take_no_more_memory_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankloop.service.http.rate_limits.MOST", 3)
    limits = Limits(HttpSettings(), clock=lambda: 0.0)
    for number in range(10):
        limits.take(f"192.0.2.{number}", "page", public=True, events=1)
    assert len(limits.addresses._buckets) == 3
