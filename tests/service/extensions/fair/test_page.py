"""The exposure page: it says what the API says, and everyone can read it, however many groups there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from rankloop.candidate import Candidate
from rankloop.service import FairSettings, RankerSettings, UserEvent
from rankloop.service.pages import Pages
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.browsing import AXE, CHROMIUM, DESKTOP, NO_AXE, NO_CHROMIUM, PHONE, browser
from tests.support.looking import numbers, signed_in, watched
from tests.support.serving import Live

LONG = "The-Really-Extraordinarily-Long-Named-Cooperative-of-Independent-Booksellers-of-the-North"
GROUPS: dict[str, Sequence[str]] = {
    "two": ("amber", "birch"),
    "five": ("amber", LONG, "a group with spaces", "d" * 100, "<b>bold</b>"),
    "nine": [f"seller-{number}" for number in range(9)],
    "one": ("amber",),
    "none": (),
}


def fair_service() -> ServiceFacade:
    """A ranker for each number of groups, held to equal shares, and one that shares nothing."""
    service = ServiceFacade(open_temporary_store(), clock=lambda: 5000.0)
    rng = np.random.default_rng(2)
    for ranker, groups in GROUPS.items():
        service.create(ranker, RankerSettings(fair=FairSettings(shares="equal", tolerance=1.0)))
        for number in range(45 if groups else 0):
            some = rng.random((12, 2)).tolist()
            candidates = [
                Candidate(f"d{row}", {"price": price, "age": age}, group=groups[row % len(groups)])
                for row, (price, age) in enumerate(some)
            ]
            shown = service.rank(candidates, ranker=ranker, k=5, user_query=f"q{number % 3}")
            service.record([UserEvent(shown.query_id, shown.object_ids[number % 4])])
    service.create("off")
    return service


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with watched(fair_service(), Pages(public=True)) as found:
        yield found


@pytest.mark.parametrize("ranker", GROUPS)
def test_the_page_says_what_the_api_says(live: Live, ranker: str) -> None:
    api = live["admin"].get(f"/v1/rankers/{ranker}/exposure", params={"steps": 40}).json()
    page = live["nobody"].get("/exposure", params={"ranker": ranker})
    said, total = numbers(page.text), api["total"]
    if not total["lists"]:
        assert said == {}
        assert "No list was counted in this time" in page.text
        return
    told = {"lists", "held", "outside", "turned"}
    assert {name: said[name] for name in told} == {name: str(total[name]) for name in told}
    assert (said["impact-ratio"], said["groups"]) == (str(total["impact_ratio"]), str(len(GROUPS[ranker])))
    order = sorted(api["account"]["groups"], key=lambda each: (-each["due"], each["group"]))
    groups = {each["group"]: each for each in total["groups"]}
    for number, each in enumerate(order, start=1):
        assert said[f"ahead-{number}"] == str(each["ahead"])
        mine = groups[each["group"]]
        for name, field in (
            ("granted", "granted"),
            ("due", "due"),
            ("fulfilled", "fulfilled"),
            ("share", "share_of_exposure"),
            ("clicks-per-look", "clicks_per_look"),
        ):
            assert said[f"{name}-{number}"] == str(mine[field])
    assert page.text.count('class="chart"') == 1
    for finding in api["findings"]:
        assert finding[1:].split("'")[0] in page.text


def test_a_ranker_that_shares_nothing_says_how_to_begin() -> None:
    """And what it says is done as it says it."""
    with watched(fair_service(), Pages(public=True)) as live:
        page = live["nobody"].get("/exposure", params={"ranker": "off"}).text
        address = "/v1/rankers/off/settings"
        assert "This ranker does not share exposure" in page
        assert f"curl -X PATCH {live.url}{address}" in page
        body = '{"fair": {"shares": "candidates"}}'
        assert f"-d '{body}'" in page
        assert live["admin"].patch(address, content=body).status_code == 200
        page = live["nobody"].get("/exposure", params={"ranker": "off"}).text
        assert "This ranker does not share exposure" not in page
        assert "in proportion to the candidates of each" in page or "No list was counted" in page


def test_the_page_begins_with_a_ranker_that_shares(live: Live) -> None:
    assert "This ranker does not share exposure" not in live["nobody"].get("/exposure").text


def test_a_list_shows_which_pairs_were_turned() -> None:
    service = fair_service()
    lists = service.lists("two", last=45)
    shown = max(lists, key=lambda each: service.settled(each.query_id).turned_pairs)
    with watched(service) as live:
        client = signed_in(live)
        api = live["admin"].get(f"/v1/settled/{shown.query_id}").json()
        turned = [
            (api["shown"][i], api["shown"][j])
            for i, row in enumerate(api["turned"])
            for j, each in enumerate(row)
            if each
        ]
        assert turned
        page = client.get(f"/query/{shown.query_id}", params=dict(zip("ab", turned[0], strict=True))).text
        lines = client.get("/query", params={"ranker": "two"}).text
    assert numbers(page)["turned-pairs"] == str(len(turned))
    assert page.count(' turned" href') == len(turned)
    assert "for fair exposure" in page.partition('id="sentence"')[2]
    assert page.count('class="badge group"') == 5
    assert "turned for fair exposure" in lines


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])
def test_it_can_be_seen_and_read_with_any_number_of_groups(live: Live, screen: dict[str, Any]) -> None:
    with browser(live.url, **screen) as seen:
        wrong: dict[str, list[str]] = {}
        for ranker in (*GROUPS, "off"):
            page = seen.go(f"/exposure?ranker={ranker}")
            seen.drawn(1 if GROUPS.get(ranker) else 0)
            assert seen.fits(), ranker
            if page.locator("main summary").count():
                page.locator("main summary").focus()
                page.keyboard.press("Enter")
                assert page.locator("main details[open] table").is_visible()
                assert seen.fits(), ranker
            wrong[ranker] = seen.complaints() if AXE.exists() else []
        assert {name: each for name, each in wrong.items() if each} == {}
        assert seen.trouble == []
    if not AXE.exists():
        pytest.skip(NO_AXE)
