"""Every number on a page is the one that the API gives."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rankloop.candidate import Candidate
from rankloop.policies import ListNet
from rankloop.service import GradeSettings, RankerSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store, open_temporary_store
from tests.support.looking import numbers, signed_in, traffic, watched
from tests.support.serving import Live

RANKER = "default"


def nothing(store: Store) -> None:
    """A service nobody has used yet."""


def one_click(store: Store) -> None:
    with ServiceFacade(store) as service:
        shown = service.rank([Candidate("a", {"x": 1}), Candidate("b", {"x": 2})], user_query="mug")
        service.record([UserEvent(shown.query_id, "b", ordinal=1)])
        service.flush(RANKER)


def much(store: Store) -> None:
    traffic(store, RANKER, lists=4_000, events=20_000, now=time.time())


@pytest.fixture(scope="module", params=[nothing, one_click, much], ids=lambda fill: fill.__name__)
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path: Path = tmp_path_factory.mktemp("pages") / "log.db"
    with SqliteStore(path) as store:
        with ServiceFacade(store) as service:
            service.create(RANKER)
        request.param(store)
        with watched(ServiceFacade(store)) as found:
            yield found


def several(names: str) -> list[Candidate]:
    """Candidates that have nothing in common."""
    return [Candidate(name, {each: float(each == name) for each in names}) for name in names]


def plain(value: Any) -> str:
    return str(value)


@pytest.mark.parametrize("by", ["lists", "time"])
def test_the_overview_says_what_the_api_says(live: Live, by: str) -> None:
    api = live["admin"].get("/v1/overview", params={"by": by, "steps": 40}).json()
    page = signed_in(live).get("/overview", params={"by": by})
    assert page.status_code == 200
    said = numbers(page.text)
    told = {name: value for name, value in api["total"].items() if name != "start"}
    health = live["admin"].get("/v1/rankers").json()[RANKER]
    if api["total"]["lists"] == 0:
        assert "lists" not in said
        assert "No list was shown in this time" in page.text
    else:
        told |= {"learned": health["lists"]}
        assert {name: said[name] for name in told} == {name: plain(value) for name, value in told.items()}
    assert f'<b id="mode">{health["mode"]}</b>' in page.text
    assert f'<b id="version">{health["model"]}</b>' in page.text


def test_the_doctor_says_what_the_api_says(live: Live) -> None:
    api = live["admin"].get("/v1/doctor").json()
    page = signed_in(live).get("/doctor")
    assert page.status_code == 200
    said, tally = numbers(page.text), api["tally"]
    total = sum(tally["verdicts"].values())
    if not total:
        assert said == {}
        assert "No event arrived in this time" in page.text
        return
    assert said["events"] == plain(total)
    assert said["join-rate"] == plain(api["join_rate"])
    for name in ("one_based", "zero_based", "misplaced", "ahead", "behind"):
        assert said[name.replace("_", "-")] == plain(tally[name])
    for verdict in ("accepted", "late", "duplicate", "orphan", "not_shown", "ignored", "invalid"):
        assert said[f"verdict-{verdict}"] == plain(tally["verdicts"].get(verdict, 0))
    assert page.text.count('class="wide mono"') >= len(api["last"])


def test_the_doctor_tells_grades_as_the_api_does() -> None:
    service = ServiceFacade(open_temporary_store())
    stars = RankerSettings(policy=ListNet(), grades=GradeSettings(weights={"star": 1.0}, highest=3.0))
    service.create(RANKER, stars)
    for number in range(7):
        shown = service.rank(several("abc"))
        event = UserEvent(shown.query_id, "b", "star", str(number), value=number % 3)
        service.record([event] if number % 2 else [])
    with watched(service) as live:
        (api,) = live["admin"].get("/v1/doctor").json()["ratings"]
        said = numbers(signed_in(live).get("/doctor").text)
    assert (api["lists"], api["rated"], api["rate"], api["results"]) == (7, 3, 3 / 7, 3)
    assert api["histogram"] == [[0.0, 1], [1.0, 1], [2.0, 1], [3.0, 0]]
    assert (said["rated-1"], said["rating-rate-1"], said["graded-1"]) == ("3", plain(3 / 7), "3")
    assert [said[f"grade-1-{step}"] for step in range(4)] == ["1", "1", "1", "0"]


def test_charts_have_the_steps_of_the_api(live: Live) -> None:
    api = live["admin"].get("/v1/overview", params={"by": "lists", "steps": 40}).json()
    page = signed_in(live).get("/overview").text
    drawn = page.count('class="chart"')
    assert drawn == (4 if len(api["steps"]) > 1 else 0)
    assert sum(step["lists"] for step in api["steps"]) == api["total"]["lists"]
    if api["total"]["lists"] and not drawn:
        assert "Curves come with traffic" in page


def test_the_lists_are_those_of_the_api(live: Live) -> None:
    api = live["admin"].get("/v1/lists", params={"last": 30}).json()
    page = signed_in(live).get("/query").text
    assert page.count('href="/query/') == len(api)
    if not api:
        assert "No list was shown yet" in page


def test_lists_are_found_by_text_clicks_and_mode_and_turned_page_by_page() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create(RANKER)
    for number in range(70):
        shown = service.rank(several("abc"), user_query=f"Red mug {number % 2}", session_id=str(number))
        service.record([UserEvent(shown.query_id, shown.object_ids[1])] if number < 40 else [])
    service.set_mode(RANKER, "passthrough")
    service.rank(several("abc"), user_query="blue & white")
    with watched(service) as live:
        admin, client = live["admin"], signed_in(live)
        wanted, pages, before = {"text": "mug 1", "clicked": "true"}, [], 2**40
        while page := admin.get("/v1/lists", params=wanted | {"last": 8, "before": before}).json():
            pages += page
            before = page[-1]["seq"]
        assert [each["user_query"] for each in pages] == ["Red mug 1"] * 20
        assert {(each["clicked"], each["first_click"]) for each in pages} == {(1, 2)}
        found = client.get("/query", params={"text": "RED"}).text
        assert found.count('href="/query/') == 30
        turned = unescape(re.findall(r'href="(\?[^"]*before[^"]*)"', found)[0])
        older = client.get(f"/query{turned}").text
        newer = re.findall(r'href="/query/([^"]+)"', found)
        assert not set(newer) & set(re.findall(r'href="/query/([^"]+)"', older))
        assert "at position 2" in older
        off = client.get("/query", params={"mode": "passthrough"}).text
        assert "blue &amp; white" in off
        assert '<span class="soft">nothing</span>' in off  # is tried out
        assert "No such list" in client.get("/query", params={"text": "green"}).text


def test_what_it_costs_to_look(live: Live, record_property: Any) -> None:
    """Measured, not asserted: processor time of this process for a page's data."""
    client = signed_in(live)
    for page in ("/overview", "/overview?by=time", "/doctor", "/query"):
        start = time.process_time()
        assert client.get(page).status_code == 200
        record_property(f"seconds {page}", round(time.process_time() - start, 3))


def test_a_list_page_says_what_the_api_says() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create(RANKER)
    for _ in range(30):
        shown = service.rank(several("abcd"))
        service.record([UserEvent(shown.query_id, "c", ordinal=shown.object_ids.index("c") + 1)])
        service.flush(RANKER)
    shown = service.rank(several("abcd"))
    with watched(service) as live:
        api = live["admin"].get(f"/v1/settled/{shown.query_id}").json()
        why = live["admin"].get(f"/v1/explain/{shown.query_id}", params={"a": "c", "b": "a"}).json()
        page = signed_in(live).get(f"/query/{shown.query_id}", params={"a": "c", "b": "a"}).text
    open_pairs = sum(tried for row in api["open"] for tried in row) // 2
    grades = [api["grades"][i][j] for i in range(4) for j in range(i + 1, 4)]
    assert 0 < open_pairs < 6
    assert numbers(page)["open-pairs"] == str(open_pairs)
    assert sum(page.count(f'class="{grade} open"') for grade in ("leaning", "likely")) == open_pairs
    assert numbers(page)["settled-pairs"] == str(grades.count("settled"))
    for grade in ("settled", "likely", "leaning"):
        assert page.count(f'class="{grade}"') + page.count(f'class="{grade} open"') == grades.count(grade)
    assert page.count(f">block {len(api['blocks'])}<") == len(api["blocks"][-1])
    for value in why["explanation"]["contributions"].values():
        assert f'value="{value}"' in page
    assert why["sentence"].replace("'", "&#39;") in page
    assert all(f'<td data-label="{name}" class="right">' in page for name in "ca")  # values of both results
    assert "Every candidate with its features" in page
    service.set_mode(RANKER, "passthrough")
    with watched(service) as live:
        off = signed_in(live).get(f"/query/{service.rank(several('abcd')).query_id}").text
    assert "in mode passthrough nothing was tried out" in off
    assert "tried either way" not in off


def test_a_price_of_five_digits_is_explained_with_all_of_them() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create(RANKER)
    for _ in range(3):
        shown = service.rank([Candidate("a", {"price": 12_345}), Candidate("b", {"price": 9})])
        service.record([UserEvent(shown.query_id, "b")])
        service.flush(RANKER)
    shown = service.rank([Candidate("a", {"price": 12_345}), Candidate("b", {"price": 9})])
    with watched(service) as live:
        page = signed_in(live).get(f"/query/{shown.query_id}", params={"a": "a", "b": "b"}).text
    assert ">12,345</td>" in page
    assert ">9</td>" in page


def test_blocks_are_what_certain_orders_leave() -> None:
    ids = (f"list-{number}" for number in range(100))  # and so the same luck each time
    service = ServiceFacade(open_temporary_store(), ids=ids.__next__)
    service.create(RANKER)
    for _ in range(40):
        shown = service.rank(several("abc"))
        service.record([UserEvent(shown.query_id, "b")])
        service.flush(RANKER)
    shown = service.rank(several("abc"))
    picture = service.settled(shown.query_id)
    assert picture.blocks[0] == ("b",)
    assert set(picture.blocks[1]) == {"a", "c"}
    assert (picture.pairs, picture.open_pairs) == (3, 1)
    alone = {result.object_id for result in shown.ranking if not result.open}
    assert alone == {"b"}
