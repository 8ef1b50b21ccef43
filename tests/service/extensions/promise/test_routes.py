"""A promise of clicks over HTTP: set, kept, and how much of it is spent, wherever somebody may look."""

from __future__ import annotations

import html
from collections.abc import Iterator

import pytest

from rankloop.cli.promise import promise
from rankloop.errors import DataError
from rankloop.service.pages import Pages
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.looking import watched
from tests.support.serving import Live

CANDIDATES = [{"object_id": name, "features": {"price": price}} for price, name in enumerate("abcd")]


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("plain")
    with watched(service, Pages(public=True)) as found:
        settings = {"promise": {"share": 0.9, "allowed_loss": 2}}
        begun = found["admin"].post("/v1/rankers", json={"name": "shop", "settings": settings})
        assert begun.json()["settings"]["promise"] == {
            "share": 0.9,
            "confidence": 0.95,
            "comparison_share": 0.3,
            "allowed_loss": 2.0,
        }
        yield found


def test_the_budget_is_told_everywhere(live: Live, capsys: pytest.CaptureFixture[str]) -> None:
    arms = [
        live["rank"].post("/v1/rank", json={"ranker": "shop", "candidates": CANDIDATES}).json()["provenance"]
        for _ in range(6)
    ]
    assert sum(each["promise"] != "held" for each in arms) == 3  # 2 clicks in advance, 0.6 at risk for each
    told = live["admin"].get("/v1/rankers").json()
    assert told["plain"]["promise"] is None
    report = told["shop"]["promise"]
    assert (report["pending"], report["free"]) == (6, False)
    assert report["spent"] == pytest.approx(0.9)
    assert 'rankloop_promise_free{ranker="shop"} 0.0' in live["rank"].get("/metrics").text
    page = live["admin"].get("/overview?ranker=shop").text
    assert report["sentence"] in html.unescape(page)
    promise("shop", url=live.url, key=live.keys["admin"])
    assert capsys.readouterr().out.strip() == report["sentence"]
    with pytest.raises(DataError, match="promises no clicks"):
        promise("plain", url=live.url, key=live.keys["admin"])


def test_a_promise_that_cannot_be_kept_is_refused(live: Live) -> None:
    refused = live["admin"].patch("/v1/rankers/plain/settings", json={"promise": {"share": 2}})
    assert refused.status_code == 400
    assert "promise.share: Expected a number above 0 and below 1, found 2" in refused.json()["error"]
