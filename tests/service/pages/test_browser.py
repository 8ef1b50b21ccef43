"""A person opens the demo: searches, clicks, sees results glide, looks at the pages, pulls the levers."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser

from rankloop.demo import visitor
from rankloop.demo.product_scene import shop
from rankloop.demo.shop import Demo
from rankloop.demo.shop_pages import demo_routes
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.browsing import (
    AXE,
    CHROMIUM,
    DESKTOP,
    NO_AXE,
    NO_CHROMIUM,
    PHONE,
    Browsing,
    browser,
    chromium,
)
from tests.support.serving import Live, alive

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
SCREENS = pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])


@pytest.fixture(scope="module")
def launched() -> Iterator[Browser]:
    """One browser for all: each test has a profile of its own in it."""
    with chromium() as found:
        yield found


@pytest.fixture
def demo() -> Iterator[Demo]:
    with ServiceFacade(open_temporary_store(), background=True) as service:
        yield Demo(service, shop())


@pytest.fixture
def live(demo: Demo) -> Iterator[Live]:
    with alive(demo.service, routes=demo_routes(demo)) as found:
        yield found


def order(seen: Browsing) -> list[str]:
    return seen.page.locator(".learned-results .title").all_inner_texts()


@SCREENS
def test_a_session(
    live: Live, launched: Browser, demo: Demo, screen: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitor, "secrets", SimpleNamespace(token_urlsafe=lambda _: "always the same"))
    with browser(live.url, launched, **screen) as seen:
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
    """Clicks on a result far down bring it up, its page says why, and plain search stays as it is."""
    page = seen.go("/")
    assert page.locator("h1").inner_text() == "A shop that learns what people like"
    assert seen.fits()
    page.fill("input[type=search]", "umbrella")
    page.click("[role=search] button")
    seen.arrives(".results")
    plain = page.locator(".plain-results .name").all_inner_texts()
    before = order(seen)
    assert len({*before} & {*plain}) >= 8  # it starts there, but for luck
    wanted = before[7]
    assert 0 < page.locator(".results .mark.open").count() < len(before)
    assert page.locator(".results .mark.settled").count() == 0  # nothing is known yet
    for lists in range(1, 4):
        page.get_by_role("button", name=wanted, exact=True).click()
        seen.arrives(f"#learned[data-lists='{lists}']")
        assert seen.fits()
    assert demo.model.lists == 3
    assert order(seen).index(wanted) < 3
    assert page.locator(".plain-results .name").all_inner_texts() == plain
    mine = page.locator(".learned-results li", has=page.get_by_role("button", name=wanted, exact=True))
    assert "up" in mine.locator(".went").inner_text()
    mine.locator(".why").click()
    seen.arrives("#why .contributions data")
    assert "umbrella-" in page.inner_text("#sentence")
    assert seen.fits()


GRADED = ", ".join(f".results .mark.{grade}" for grade in ("leaning", "likely", "settled", "open"))


def invite_visitors(seen: Browsing, demo: Demo) -> None:
    """The list settles on what 500 visitors like; the sentence and both lines of the chart say so."""
    page = seen.go("/?q=umbrella")
    page.get_by_role("button", name="cheap").click()
    seen.arrives("#crowd-progress")
    seen.arrives("#verdict")  # once all were here
    assert demo.progress.done == 500
    assert page.get_attribute("#verdict", "data-word") == "better"
    assert page.locator(GRADED).count() == 10
    assert page.locator(".fit polyline").count() == 2
    hearts = [page.locator(f".{side}-results .heart").count() for side in ("plain", "learned")]
    assert hearts[0] < hearts[1]
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
    assert page.inner_text("#mode") == demo.service.mode(demo.scene.ranker) == "frozen"
    lists = demo.model.lists
    page.get_by_role("button", name="Go back").last.click()
    seen.arrives("text=It knows again what it knew at version")
    assert demo.model.lists < lists
    assert page.inner_text("#version") == f"{demo.model.version:,}"
    assert seen.fits()


def share_exposure(seen: Browsing, demo: Demo) -> None:
    """Switch fair exposure on, see whose results there are, and who is ahead."""
    page = seen.go("/?q=umbrella")
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
    page.click("nav >> text=Lists")
    page.locator("tbody a").first.click()
    seen.arrives(".pairs")
    page.locator(".pairs a").last.click()
    page.wait_for_url("**a=**")
    assert page.locator(".pairs a[aria-current]").count() == 1
    assert seen.fits()
    page.click("nav >> text=Doctor")
    seen.arrives("text=The last 20 events")
    assert page.inner_text("#join-rate") == "100.0 %"
    assert page.locator("table.stack tbody tr").count() == 20
    assert seen.fits()
    page.click("text=Sign out")
    seen.arrives("text=A shop that learns what people like")


def test_a_keyboard_is_enough(live: Live, launched: Browser, demo: Demo) -> None:
    with browser(live.url, launched, **DESKTOP) as seen:
        page = seen.go("/")
        page.keyboard.type("umbrella")  # the box has the focus
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
        assert wanted in page.inner_text("#said")  # and is told to whoever does not see it
        assert demo.model.lists == 1
        assert page.evaluate("document.activeElement.innerText") == wanted  # the focus stays where it was
        page.focus(".numbers input[value='100']")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        seen.arrives("#verdict")
        assert demo.progress.wanted == 100
        assert seen.trouble == []


def test_results_glide_to_their_new_positions(live: Live, launched: Browser, demo: Demo) -> None:
    """Where a result begins to move is where it stood; whoever wants no motion gets none."""
    for motion in ("no-preference", "reduce"):
        with browser(live.url, launched, **DESKTOP, reduced_motion=motion) as seen:
            page = seen.go("/?q=umbrella")
            page.evaluate(SLOWLY)
            before = page.evaluate(TOPS)
            page.evaluate("document.querySelectorAll('.learned-results .title')[8].click()")
            seen.arrives("#learned")
            moving = dict(page.evaluate(MOVING))
            if motion == "reduce":
                assert moving == {}
                continue
            assert len(moving) >= 2
            assert all(key.startswith("learned ") for key in moving)
            page.evaluate("document.getAnimations().forEach(each => each.finish())")
            after = page.evaluate(TOPS)
            shift = before[""] - after[""]  # of the list as a whole
            for key, by in moving.items():
                if key in before:
                    assert by == pytest.approx(before[key] - after[key] - shift, abs=1)
            assert seen.trouble == []


SLOWLY = """() => {
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames) { return animate.call(this, frames, {duration: 1e7}); };
}"""
MOVING = """() => document.getAnimations().filter(each => each.effect.target.dataset.key).map(
    each => [each.effect.target.dataset.key, new DOMMatrix(each.effect.getKeyframes()[0].transform).m42])"""
TOPS = """() => Object.fromEntries(Array.from(document.querySelectorAll('[data-key], .learned-results')).map(
    each => [each.dataset.key || "", each.getBoundingClientRect().top]))"""


@SCREENS
@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
def test_pages_can_be_read_by_everyone(
    live: Live, launched: Browser, demo: Demo, screen: dict[str, Any]
) -> None:
    with browser(
        live.url, launched, **screen, reduced_motion="reduce"
    ) as seen:  # what glides is read when it stands
        found: dict[str, list[str]] = {}

        def look(name: str) -> None:
            found[name] = seen.complaints()

        page = seen.go("/")
        look("first page")
        seen.go("/overview")
        look("overview, empty")
        seen.go("/?q=nonsensical")
        look("nothing found")
        seen.go("/?q=umbrella")
        page.locator(".results .title").nth(4).click()
        seen.arrives("#learned")
        look("after a click")
        page.locator(".tastes button").first.click()
        seen.arrives("#verdict")
        look("after the crowd")
        page.locator(".results .why").nth(3).click()
        seen.arrives("#why")
        look("query")
        seen.go("/?q=umbrella")
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


def test_without_scripts_it_works_as_well(live: Live, launched: Browser, demo: Demo) -> None:
    with browser(live.url, launched, **DESKTOP, java_script_enabled=False) as seen:
        page = seen.go("/?q=umbrella")
        page.locator(".results .title").nth(5).click()
        seen.arrives("#learned")
        page.get_by_role("button", name="blue").click()
        seen.arrives("text=What the last 500 taught")
        assert demo.progress.done == 500
        assert seen.trouble == []
