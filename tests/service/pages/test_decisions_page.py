"""The decisions page: who, when and why, for those who are signed in, light and dark, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rankloop.service.pages import Pages
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.browsing import AXE, CHROMIUM, DESKTOP, NO_AXE, NO_CHROMIUM, PHONE, browser
from tests.support.looking import signed_in, watched
from tests.support.serving import Live

WHY = "the sale starts tonight, and nobody wants surprises while it lasts; see the plan <b>of Monday</b>"


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    service = ServiceFacade(open_temporary_store())
    service.create("default", by="anna", reason="a first try")
    service.set_mode("default", "exploit", by="anna", reason=WHY)
    service.keys.create("shop-frontend-with-a-rather-long-name-of-its-own", "rank", by="anna")
    for name in ("anna", "otto"):
        service.keys.create(name, "admin", by="anna")
    service.keys.revoke("otto", by="anna", reason="he left")
    with watched(service, Pages(public=True)) as found:
        yield found


def test_the_page_says_who_when_and_why_and_only_to_those_signed_in(live: Live) -> None:
    assert live["stranger"].get("/decisions").status_code == 303
    page = signed_in(live).get("/decisions").text
    told = live["admin"].get("/v1/decisions").json()
    assert [f">{each['what']}</th>" for each in told if f">{each['what']}</th>" not in unescape(page)] == []
    assert "&lt;b&gt;of Monday" in page
    assert "mode exploit" not in signed_in(live).get("/decisions", params={"who": "nobody"}).text
    assert not any(key in page for key in live.keys.values())


def test_a_session_ends_with_the_key_that_began_it(live: Live) -> None:
    key = live.context.service.keys.create("emil", "admin")
    client = live["emil"]
    assert client.post("/login", data={"key": key}).status_code == 303
    assert client.get("/decisions").status_code == 200
    live.context.service.keys.revoke("emil")
    assert client.get("/decisions").status_code == 303


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
@pytest.mark.parametrize("how", [DESKTOP, PHONE], ids=["light", "dark on a phone"])
def test_everyone_can_read_it(live: Live, how: dict[str, Any], tmp_path: Path) -> None:
    with browser(live.url, **how) as seen:
        seen.go("/login?next=/decisions")
        seen.page.fill("input[name=key]", live.keys["admin"])
        seen.page.press("input[name=key]", "Enter")
        seen.arrives("table")
        seen.page.screenshot(path=tmp_path / "decisions.png", full_page=True)
        assert seen.fits()
        assert seen.complaints() == []
        assert seen.trouble == []
