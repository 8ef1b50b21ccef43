"""Pages that stay up to date, in a real browser: nothing that someone is doing is lost."""

from __future__ import annotations

import pytest

from rankloop.candidate import Candidate
from rankloop.service import UserEvent
from rankloop.service.pages import Pages
from rankloop.service.pages.ranker_status import mark_of
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.browsing import CHROMIUM, DESKTOP, NO_CHROMIUM, browser
from tests.support.looking import signed_in, watched


def visit(service: ServiceFacade) -> None:
    shown = service.rank([Candidate("a", {"x": 1}), Candidate("b", {"x": 2})])
    service.record([UserEvent(shown.query_id, "b")])
    service.flush("default")


def test_changes_are_told_to_those_who_may_look() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with watched(service) as live:
        assert live["nobody"].get("/changes").status_code == 303
        client, asked = signed_in(live), {"ranker": "default", "version": mark_of(service, "default")}
        same = client.get("/changes", params=asked)
        assert (same.status_code, same.text) == (204, "")
        visit(service)
        head = client.get("/changes", params=asked).text
        assert f'data-mark="{mark_of(service, "default")}"' in head
        assert asked["version"] not in head
        assert "<main" not in head


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_what_changes_is_swapped_in_and_what_someone_does_stays() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    visit(service)
    with watched(service, Pages(public=True)) as live, browser(live.url, **DESKTOP) as seen:
        page = seen.go("/login")
        page.fill("#key", live.keys["admin"])
        page.keyboard.press("Enter")
        page.wait_for_selector("#fresh[data-state=live]")
        page.locator("#stop summary").click()
        page.fill("#mode-reason", "because")
        page.evaluate("window.before = document.activeElement; window.scrollTo(0, 200)")
        visit(service)
        page.wait_for_selector('#lists[value="2"]')
        assert page.evaluate("document.activeElement === window.before")
        assert page.input_value("#mode-reason") == "because"
        assert page.evaluate("document.getElementById('stop').open && window.scrollY === 200")
        page.context.set_offline(True)
        page.wait_for_selector("#fresh[data-state=lost]")
        page.context.set_offline(False)
        visit(service)
        page.wait_for_selector('#lists[value="3"]')
        page.wait_for_selector("#fresh[data-state=live]")
