"""A newcomer in the shop, in a real browser: asked, recommended to, told why, and followed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from rankloop.demo.camping_shop import RANKER, CampingShop
from rankloop.demo.scene import Scene
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
def shop() -> Iterator[CampingShop]:
    with ServiceFacade(open_temporary_store()) as service:
        yield CampingShop(service)


@pytest.fixture
def live(shop: CampingShop, wares: Scene) -> Iterator[Live]:
    with alive(shop.service, routes=demo_routes(Demo(shop.service, wares), camping=shop)) as found:
        yield found


def titles(seen: Browsing) -> list[str]:
    return seen.page.locator(".results .title").all_inner_texts()


def answer_all(seen: Browsing, much: str) -> int:
    """Answer until nothing is asked any more; how many questions there were."""
    asked = 0
    while seen.page.locator("#question").count():
        text = seen.page.inner_text("#question-text")
        seen.page.get_by_role("button", name="Much" if much in text else "Little", exact=True).click()
        asked += 1
        seen.page.wait_for_function(
            "before => document.querySelector('#question-text')?.innerText !== before", arg=text
        )
        seen.page.wait_for_load_state()
    return asked


@SCREENS
def test_a_newcomers_session(
    live: Live, launched: Browser, shop: CampingShop, screen: dict[str, Any]
) -> None:
    with browser(live.url, launched, **screen) as seen:
        page = seen.go("/")
        page.get_by_role("link", name="recommendations with their reasons").click()
        seen.arrives(".results")
        assert page.inner_text("h2.listed") == "What everybody likes"
        everybody = titles(seen)
        assert answer_all(seen, "weight") >= 2
        assert seen.fits()
        asked = titles(seen)
        assert asked != everybody
        assert "means" in page.inner_text("#taste")
        why = page.locator(".results > li").nth(1).locator("details")
        why.locator("summary").click()
        amounts = [float(each.get_attribute("value") or "nan") for each in why.locator("td data").all()]
        assert sum(amounts[:-1]) == pytest.approx(amounts[-1], abs=1e-12)  # the parts are the whole score
        assert "ecause " in why.inner_text()
        assert seen.fits()
        for number in range(1, 4):
            wanted = titles(seen)[1]
            page.get_by_role("button", name=wanted, exact=True).click()
            seen.arrives(f"#lists[data-lists='{number}']")
            assert page.inner_text("#opened-title") == wanted
            assert wanted not in titles(seen)
            assert seen.fits()
        assert f"you chose {wanted}" in page.locator(".results").inner_text()
        assert shop.service.model(RANKER).lists == 3
        page.get_by_role("link", name="This list, in the dashboard").click()
        seen.arrives("#reasons svg.parts")
        assert page.locator("#reasons > ol > li").count() == 8
        assert seen.fits()
        page.click("nav >> text=For you")
        seen.arrives(".results")
        page.get_by_role("button", name="Start over").click()
        seen.arrives("#question")
        assert titles(seen) == everybody
        assert seen.trouble == []


def test_the_shop_is_usable_by_keyboard(live: Live, launched: Browser, shop: CampingShop) -> None:
    with browser(live.url, launched, **DESKTOP) as seen:
        page = seen.go("/for-you")
        until(seen, "#question button[value=much]")
        page.keyboard.press("Enter")
        seen.arrives("#known li")
        until(seen, ".results .title")
        wanted = page.evaluate("document.activeElement.innerText")
        until(seen, ".results summary")
        page.keyboard.press("Enter")
        page.wait_for_selector(".results details[open]")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        seen.arrives("#opened")
        assert page.inner_text("#opened-title") == wanted
        assert shop.service.model(RANKER).lists == 1
        assert seen.trouble == []


def until(seen: Browsing, selector: str) -> None:
    """Press Tab until such a part has the focus."""
    for _ in range(60):
        seen.page.keyboard.press("Tab")
        if seen.page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"the focus never came to {selector}")


@SCREENS
def test_an_operator_tries_a_recommendation_and_nothing_is_logged(
    live: Live, launched: Browser, shop: CampingShop, screen: dict[str, Any]
) -> None:
    with browser(live.url, launched, **screen) as seen:
        page = seen.go("/recommend")
        assert page.locator("#recommended > ol > li").count() == 10
        page.locator("#question button").first.click()
        page.wait_for_url("**answer=much**")
        seen.arrives("#question li")
        page.fill("#user", "camper 3")
        page.get_by_role("button", name="Recommend", exact=True).click()
        page.wait_for_url("**user=camper*")
        assert "For a user with" in page.inner_text("#recommended")
        page.fill("#items", "submarine")
        page.get_by_role("button", name="Recommend", exact=True).click()
        seen.arrives("#recommended [role=alert]")
        assert "'submarine'" in page.inner_text("#recommended")
        assert seen.fits()
        assert list(shop.service.lists(RANKER)) == []
        assert seen.trouble == []


@SCREENS
@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
def test_the_shop_can_be_read_by_everyone(live: Live, launched: Browser, screen: dict[str, Any]) -> None:
    with browser(live.url, launched, **screen) as seen:
        found: dict[str, list[str]] = {}
        page = seen.go("/for-you")
        found["newcomer"] = seen.complaints()
        page.get_by_role("button", name="Much", exact=True).click()
        seen.arrives("#known li")
        page.locator(".results .title").nth(2).click()
        seen.arrives("#opened")
        page.locator(".results summary").first.click()
        found["after a choice"] = seen.complaints()
        page.get_by_role("link", name="This list, in the dashboard").click()
        seen.arrives("#reasons")
        page.locator("#reasons summary").first.click()
        found["query"] = seen.complaints()
        seen.go("/recommend?user=camper+3")
        page.locator("#recommended summary").first.click()
        found["recommend"] = seen.complaints()
        seen.go("/recommend?items=submarine")
        found["trouble"] = seen.complaints()
        assert {name: wrong for name, wrong in found.items() if wrong} == {}
