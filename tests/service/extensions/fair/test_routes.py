"""Exposure over HTTP: the report, the audit of a list, and the gauges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rankloop.client import Client
from rankloop.service import FairSettings, RankerSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive, click

LISTS = 25


@pytest.fixture
def live() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default", RankerSettings(fair=FairSettings(shares="equal", tolerance=1)))
    with alive(service) as found:
        for number in range(LISTS):
            shown = found["rank"].post("/v1/rank", json=body(number)).json()
            clicked = click(shown["query_id"], shown["ranking"][0]["object_id"])
            found["rank"].post("/v1/events", json={"events": [clicked]})
        yield found


def body(number: int) -> dict[str, Any]:
    candidates = [
        {"object_id": f"d{row}", "features": {"price": (row * number) % 7}, "group": "a" if row % 4 else "b"}
        for row in range(12)
    ]
    return {"candidates": candidates, "k": 4, "user_query": f"q{number % 2}"}


def test_the_report_is_for_admins_and_tells_all(live: Live) -> None:
    assert live["rank"].get("/v1/rankers/default/exposure").status_code == 403
    found = live["admin"].get("/v1/rankers/default/exposure?steps=10").json()
    assert [group["group"] for group in found["account"]["groups"]] == ["a", "b"]
    assert found["account"]["settings"]["shares"] == "equal"
    assert sum(group["ahead"] for group in found["account"]["groups"]) == pytest.approx(0)
    total = found["total"]
    assert total["lists"] == total["held"] == LISTS
    assert sum(group["clicks"] for group in total["groups"]) == LISTS
    assert all(group["share_of_exposure"] == pytest.approx(0.5, abs=0.05) for group in total["groups"])
    assert live["admin"].get("/v1/rankers/nobody/exposure").status_code == 400
    assert live["admin"].get("/v1/rankers/default/exposure?steps=0").status_code == 400
    with Client(live.url, live.keys["admin"], timeout=60) as client:
        assert client.exposure()["total"]["lists"] == LISTS


def test_audit_and_replay_show_the_account(live: Live) -> None:
    shown = live["rank"].post("/v1/rank", json=body(3))
    provenance = shown.json()["provenance"]
    told = live["admin"].get(f"/v1/audit/{shown.json()['query_id']}").json()["exposure"]
    assert told["groups"] == ["b", "a"]
    assert told["within"] is provenance["within"] is True
    assert told["turned"] == provenance["fairness_cost"]
    assert sum(told["granted"]) == sum(told["due"])
    again = live["admin"].post(f"/v1/audit/{shown.json()['query_id']}/replay")
    assert again.json()["identical"]
    assert again.json()["exposure"] == told
    assert shown.content in again.content
    line = live["admin"].get("/v1/lists?last=1").json()[0]
    assert (line["turned"], line["within"]) == (told["turned"], told["within"])


def test_prometheus_sees_how_far_accounts_are_off_and_no_name(live: Live) -> None:
    found = live["admin"].get("/v1/rankers/default/exposure").json()["account"]["groups"]
    furthest = max(abs(each["ahead"]) for each in found)
    assert live.metric("rankloop_ranker_exposure_off", ranker="default") == pytest.approx(furthest)
    assert live.metric("rankloop_ranker_exposure_groups", ranker="default") == len(found) == 2
    assert "group=" not in live["rank"].get("/metrics").text
