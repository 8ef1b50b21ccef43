"""Pages that stay up to date, in a real browser: nothing that someone is doing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from rankloop.candidate import Candidate
from rankloop.service import ServiceFacade, UserEvent
from rankloop.service.pages import Pages
from rankloop.service.pages.page_changes import marks
from rankloop.service.pages.ranker_status import mark_of
from rankloop.service.store import MemoryStore
from tests.support.browsing import CHROMIUM, DESKTOP, NO_CHROMIUM, browser
from tests.support.looking import signed_in, watched


def visit(service: ServiceFacade) -> None:
    shown = service.rank([Candidate("a", {"x": 1}), Candidate("b", {"x": 2})])
    service.record([UserEvent(shown.query_id, "b")])
    service.flush("default")


async def collected(stream: AsyncIterator[bytes], service: ServiceFacade) -> list[str]:
    """What a stream says; after its first word somebody comes."""
    said: list[str] = []
    async for each in stream:
        if not said:
            visit(service)
        said.append(each.decode())
    return said


def test_the_stream_is_for_those_who_may_look_and_its_mark_follows_the_ranker() -> None:
    service = ServiceFacade(MemoryStore())
    service.create("default")
    with watched(service) as live:
        assert live["nobody"].get("/live").status_code == 303
        assert live["nobody"].get("/live/status").status_code == 303
        live.context.streams = live.context.settings.streams
        assert "event: full" in signed_in(live).get("/live").text
        live.context.streams = 0
        allowed = [True, True, True, False]  # then the session ends
        said = asyncio.run(collected(marks(live.context, "default", lambda: allowed.pop(0)), service))
        assert said[0] != said[1] == f"event: state\ndata: {mark_of(service, 'default')}\n\n"
        assert (len(said), live.context.streams) == (2, 0)


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_what_changes_is_swapped_in_and_what_someone_does_stays() -> None:
    service = ServiceFacade(MemoryStore())
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
        page.evaluate("window.dispatchEvent(new Event('pagehide'))")  # the stream ends, as a broken one does
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_selector("#fresh[data-state=lost]")
        page.context.set_offline(False)
        visit(service)
        page.wait_for_selector('#lists[value="3"]')
        page.wait_for_selector("#fresh[data-state=live]")
