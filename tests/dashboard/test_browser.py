"""A person opens the demo: searches, clicks, sees the list change, looks at the pages, pulls the levers."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from rankloop.demo import visitor
from rankloop.demo.corpus import Corpus
from rankloop.demo.demo import RANKER, THUMBS, Demo
from rankloop.demo.routes import demo_routes
from rankloop.demo.stdlib import standard_library
from rankloop.service import RankingService
from rankloop.store import MemoryStore
from tests.dashboard.browsing import AXE, CHROMIUM, DESKTOP, NO_AXE, NO_CHROMIUM, PHONE, Browsing, browser
from tests.service.http.serving import Live, alive

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
MODULES = ("csv", "email", "http", "json", "logging", "os", "queue", "random", "sqlite3", "threading", "xml")
SCREENS = pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])


@pytest.fixture(scope="module")
def corpus() -> Iterator[Corpus]:
    found = Corpus.of(standard_library(MODULES))
    yield found
    found.close()


@pytest.fixture
def demo(corpus: Corpus) -> Iterator[Demo]:
    with RankingService(MemoryStore(), background=True) as service:
        yield Demo(service, corpus)


@pytest.fixture
def live(demo: Demo) -> Iterator[Live]:
    with alive(demo.service, routes=demo_routes(demo)) as found:
        yield found


def order(seen: Browsing) -> list[str]:
    return seen.page.locator(".results .title").all_inner_texts()


@SCREENS
def test_a_session(live: Live, demo: Demo, screen: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor, "secrets", SimpleNamespace(token_urlsafe=lambda _: "always the same"))
    with browser(live.url, **screen) as seen:
        search_and_click(seen, demo)
        invite_visitors(seen, demo)
        sign_in(seen, live.keys["admin"])
        pull_the_levers(seen, demo)
        share_exposure(seen, demo)
        look_around(seen)
        wrong_key = [text for text in seen.trouble if "403 (Forbidden)" in text]
        assert len(wrong_key) == 1
        assert seen.trouble == wrong_key


def search_and_click(seen: Browsing, demo: Demo) -> None:
    """Five clicks on a result far down bring it up, and its page says why."""
    page = seen.go("/")
    assert page.locator("h1").inner_text() == "A search that learns from your clicks"
    assert seen.fits()
    page.fill("input[type=search]", "json decoder")
    page.click("[role=search] button")
    seen.arrives(".results")
    before = order(seen)
    wanted = before[7]
    assert 0 < page.locator(".results .mark.open").count() < len(before)  # the search engine's order is
    assert page.locator(".results .mark.settled").count() == 0  # nothing is known yet
    for lists in range(1, 6):
        page.get_by_role("button", name=wanted, exact=True).click()
        seen.arrives(f"#learned[data-lists='{lists}']")
        assert seen.fits()
    assert demo.model.lists == 5
    assert order(seen) != before
    assert order(seen).index(wanted) < 4
    page.locator(".results li", has=page.get_by_role("button", name=wanted, exact=True)).locator(
        ".why"
    ).click()
    seen.arrives("#why .bars data")
    assert wanted in page.inner_text("#sentence")
    assert seen.fits()


GRADED = ", ".join(f".results .mark.{grade}" for grade in ("leaning", "likely", "settled"))


def invite_visitors(seen: Browsing, demo: Demo) -> None:
    """The list settles on what 500 visitors like."""
    page = seen.go("/?q=json+decoder")
    page.select_option("#taste", "overview")
    page.click("#crowd button.main")
    seen.arrives("#crowd-progress")
    seen.drawn(1)  # once all were here
    assert demo.progress.done == 500
    assert page.locator(GRADED).count() == 10
    assert seen.fits()
    page.click("nav >> text=Overview")
    seen.drawn(4)
    assert int(page.inner_text("#lists").replace(",", "")) >= 500
    assert seen.fits()


def sign_in(seen: Browsing, key: str) -> None:
    """With the wrong key first."""
    page = seen.page
    page.locator("main").get_by_role("link", name="Sign in").first.click()
    page.fill("#key", "not the key")
    page.keyboard.press("Enter")
    seen.arrives("[role=alert]")
    page.fill("#key", key)
    page.keyboard.press("Enter")
    seen.arrives("text=Change the mode")


def pull_the_levers(seen: Browsing, demo: Demo) -> None:
    """Change the mode, and go back to an earlier version."""
    page = seen.page
    page.check("input[value=frozen]")
    page.click("text=Change the mode")
    seen.arrives("text=The mode is changed")
    assert page.inner_text("#mode") == demo.service.mode(RANKER) == "frozen"
    lists = demo.model.lists
    page.get_by_role("button", name="Go back").last.click()
    seen.arrives("text=It is back at that version")
    assert demo.model.lists < lists
    assert page.inner_text("#version") == str(demo.model.version)
    assert seen.fits()


def share_exposure(seen: Browsing, demo: Demo) -> None:
    """Switch fair exposure on, see whose results there are, and who is ahead."""
    page = seen.go("/?q=json+decoder")
    page.get_by_role("button", name="Share exposure fairly").click()
    seen.arrives("text=fair exposure is on")
    assert demo.fair
    assert page.locator(".results .seller").count() == len(order(seen))
    assert seen.fits()
    page.click("nav >> text=Exposure")
    seen.arrives("text=Who is ahead now")
    assert page.locator("#not-shared").count() == 0
    assert seen.fits()


def look_around(seen: Browsing) -> None:
    """One list with its pairs, the last events, and out."""
    page = seen.page
    page.click("nav >> text=Query")
    page.locator("tbody a").first.click()
    seen.arrives(".pairs")
    page.locator(".pairs a").last.click()
    page.wait_for_url("**a=**")
    assert page.locator(".pairs a[aria-current]").count() == 1
    assert seen.fits()
    page.click("nav >> text=Event doctor")
    seen.arrives("text=The last 20 events")
    assert page.inner_text("#join-rate") == "100.0 %"
    assert page.locator("table.stack tbody tr").count() == 20
    assert seen.fits()
    page.click("text=Sign out")
    seen.arrives("text=A search that learns from your clicks")


def test_a_keyboard_is_enough(live: Live, demo: Demo) -> None:
    with browser(live.url, **DESKTOP) as seen:
        page = seen.go("/")
        page.keyboard.type("json decoder")  # the box has the focus
        page.keyboard.press("Enter")
        seen.arrives(".results")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.results .title')"):
                break
        page.keyboard.press("Tab")  # why here?
        page.keyboard.press("Tab")
        wanted = page.evaluate("document.activeElement.innerText")
        page.keyboard.press("Enter")
        seen.arrives("#learned")
        assert wanted in page.inner_text("#moved")
        assert demo.model.lists == 1
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") is not None
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: url.endswith("#content"))
        assert seen.trouble == []


def test_thumbs_are_given_by_keyboard_and_learned_together(live: Live, demo: Demo) -> None:
    with browser(live.url, **DESKTOP) as seen:
        page = seen.go("/?q=json+decoder&by=thumbs")
        names = order(seen)
        for position, kind in ((8, "up"), (0, "down"), (7, "down"), (7, "up")):
            page.locator(f".thumb.{kind}").nth(position).focus()
            page.keyboard.press("Enter")
            page.wait_for_selector(
                f".results > li:nth-child({position + 1}) .thumb.{kind}[aria-pressed=true]"
            )
        assert page.inner_text("#rated") == "3 results are rated"
        assert order(seen) == names  # nothing moves while one is rating
        page.get_by_role("button", name="Learn from my thumbs").click()
        seen.arrives("#learned")
        assert (demo.service.model(THUMBS).lists, demo.model.lists) == (1, 0)
        assert "2 up and 1 down" in page.inner_text("#moved")
        seen.go("/doctor")
        assert page.locator("[id^=grade-1-]").count() == 5
        assert seen.trouble == []


@SCREENS
@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
def test_pages_can_be_read_by_everyone(live: Live, demo: Demo, screen: dict[str, Any]) -> None:
    with browser(live.url, **screen) as seen:
        found: dict[str, list[str]] = {}

        def look(name: str) -> None:
            found[name] = seen.complaints()

        page = seen.go("/")
        look("first page")
        seen.go("/overview")
        look("overview, empty")
        seen.go("/?q=json+decoder")
        page.locator(".results .title").nth(4).click()
        seen.arrives("#learned")
        look("after a click")
        page.click("#crowd button.main")
        seen.drawn(1)
        look("after the crowd")
        page.locator(".results .why").nth(3).click()
        seen.arrives("#why")
        look("query")
        seen.go("/?q=json+decoder&by=thumbs")
        page.locator(".thumb.up").nth(2).click()
        page.wait_for_selector(".thumb[aria-pressed=true]")
        look("rating")
        page.get_by_role("button", name="Learn from my thumbs").click()
        seen.arrives("#moved")
        look("after thumbs")
        seen.go("/?q=json+decoder")
        page.click("#sellers button")
        seen.arrives("text=fair exposure is on")
        look("fair exposure")
        for path in ("/query", "/doctor", "/login", "/query/nobody-saw-this"):
            seen.go(path)
            look(path)
        seen.go("/login")
        page.fill("#key", live.keys["admin"])
        page.keyboard.press("Enter")
        seen.drawn(4)
        look("overview")
        page.click("text=The same in numbers")
        look("overview, in numbers")
        assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_without_scripts_it_works_as_well(live: Live, demo: Demo) -> None:
    with browser(live.url, **DESKTOP, java_script_enabled=False) as seen:
        page = seen.go("/?q=json+decoder")
        page.locator(".results .title").nth(5).click()
        seen.arrives("#learned")
        page.click("#crowd button.main")
        seen.arrives("text=What the last 500 taught")
        assert demo.progress.done == 500
        seen.go("/?q=json+decoder&by=thumbs")
        page.locator(".thumb.up").nth(2).click()
        page.locator(".thumb.down").nth(4).click()
        assert page.inner_text("#rated") == "2 results are rated"
        page.get_by_role("button", name="Learn from my thumbs").click()
        seen.arrives("text=What your thumbs taught")
        assert demo.service.model(THUMBS).lists == 1
        assert seen.trouble == []
