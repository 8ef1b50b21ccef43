"""The search pages without a browser: what they say after a click, and that nothing sent breaks them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import httpx
import pytest

from rankloop.demo.products import products
from rankloop.demo.scene import Scene
from rankloop.demo.shop import Demo
from rankloop.demo.shop_pages import demo_routes
from rankloop.service.pages.page_formatting import sure
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import Live, alive


@pytest.fixture
def demo(wares: Scene) -> Demo:
    return Demo(ServiceFacade(open_temporary_store()), wares)


@pytest.fixture
def live(demo: Demo) -> Iterator[Live]:
    with alive(demo.service, routes=demo_routes(demo)) as found:
        yield found


def click(demo: Demo, client: httpx.Client, text: str, position: int) -> str:
    """Search, and click the result at a position; its name."""
    scene = demo.scene
    assert client.get("/", params={"q": text}).status_code == 200
    (shown,) = demo.service.lists(scene.ranker, last=1)
    name = shown.shown[position - 1]
    sent = {"query_id": shown.query_id, "object_id": name, "q": text}
    answer = client.post("/click", data=sent)
    assert answer.status_code == 303
    there = httpx.URL(answer.headers["location"])
    assert (there.path, dict(there.params)) == ("/", {"q": text, "opened": name})
    return name


def test_a_click_is_told_wherever_its_result_stands_now(demo: Demo, live: Live) -> None:
    client = live["nobody"]
    name = click(demo, client, "mug", 6)
    page = client.get("/", params={"q": "mug", "opened": name})
    assert page.status_code == 200
    assert "What your click taught" in page.text
    gone = client.get("/", params={"q": "school", "opened": name})  # it is not in this list
    assert gone.status_code == 200
    assert "now others stand in the first ten" in gone.text
    other = client.get("/", params={"q": "mug", "opened": "something.else"})
    assert other.status_code == 200
    assert "You clicked" not in other.text
    assert demo.model.lists == 1


def test_both_lists_are_there_and_say_where_each_result_went(demo: Demo, live: Live) -> None:
    for _ in range(3):
        click(demo, live["nobody"], "mug", 8)
    page = live["nobody"].get("/", params={"q": "mug"}).text
    plain, learned = (re.findall(f'data-key="{side} ([^"]+)"', page) for side in ("plain", "learned"))
    assert plain == [hit.entry.name for hit in demo.scene.corpus.search("mug")[:10]]
    (shown,) = demo.service.lists(demo.scene.ranker, last=1)
    assert learned == list(shown.shown)
    rows = page.split('data-key="learned ')[1:]
    hits = [hit.entry.name for hit in demo.scene.corpus.search("mug")]
    for position, (name, row) in enumerate(zip(learned, rows, strict=True), start=1):
        went = hits.index(name) + 1 - position
        assert (f">up</span> {went}<" in row) == (went > 0)
        assert (f">down</span> {-went}<" in row) == (went < 0)
    for row, result in zip(rows, demo.service.replay(shown.query_id).response.ranking, strict=True):
        told = f"{sure(result.probability)}: it may" if result.open else f", {sure(result.probability, 0)}<"
        assert f"{result.certainty}{told}" in row or f"Its order is {result.certainty}, {told}" in row


def test_every_product_has_a_picture_and_nothing_else_is_drawn(live: Live) -> None:
    client = live["nobody"]
    page = client.get("/", params={"q": "umbrella"}).text
    addresses = set(re.findall(r'<img src="([^"]+)"', page))
    assert len(addresses) >= 8
    for address in addresses:
        drawn = client.get(address)
        assert drawn.headers["content-type"].startswith("image/svg+xml")
        assert ElementTree.fromstring(drawn.text).tag.endswith("svg")
    for name in ("mug.svg", "mug_blue_solid_huge.svg", "x" * 500, "%3Cscript%3E_blue_solid_large.svg"):
        assert client.get(f"/pictures/{name}").status_code == 404
    assert len({each.name for each in products()}) == len(products()) > 500


@pytest.mark.parametrize(
    ("action", "form"),
    [
        ("click", {}),
        ("click", {"query_id": "nobody's", "object_id": "mug-fern"}),
        ("click", {"query_id": "x" * 5000, "object_id": "\x00"}),
        ("crowd", {}),
        ("crowd", {"taste": "bitter"}),
        ("crowd", {"taste": "blue", "visitors": "1000000"}),
    ],
)
def test_nonsense_is_refused(demo: Demo, live: Live, action: str, form: dict[str, str]) -> None:
    answer = live["nobody"].post(f"/{action}", data=form)
    assert 400 <= answer.status_code < 500
    assert (demo.model.lists, demo.progress.wanted) == (0, 0)


@pytest.mark.parametrize("text", ["", " ", '"', "'; drop table", "🐍", "\x00", "x" * 200, "%", "a AND NOT"])
def test_any_search_gets_a_page(live: Live, text: str) -> None:
    page = live["nobody"].get("/", params={"q": text, "opened": text})
    assert page.status_code == 200
    assert 'role="search"' in page.text
    assert live["nobody"].get("/", params={"q": "x" * 201}).status_code == 400


def test_a_broken_cookie_is_a_new_visitor(live: Live) -> None:
    for value in ("", "nobody", "x" * 3000, "%00;"):
        page = live["nobody"].get("/", params={"q": "mug"}, headers={"Cookie": f"rankloop_demo={value}"})
        assert page.status_code == 200
        assert "rankloop_demo=" in page.headers["set-cookie"]
