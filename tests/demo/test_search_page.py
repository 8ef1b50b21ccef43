"""The search page without a browser: what it says after a click, and that nothing sent to it breaks it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from rankloop.demo.corpus import Corpus
from rankloop.demo.demo import THUMBS, Demo
from rankloop.demo.routes import demo_routes
from rankloop.service import RankingService
from rankloop.store import MemoryStore
from tests.service.http.serving import Live, alive


@pytest.fixture
def demo(corpus: Corpus) -> Demo:
    return Demo(RankingService(MemoryStore()), corpus)


@pytest.fixture
def live(demo: Demo) -> Iterator[Live]:
    with alive(demo.service, routes=demo_routes(demo)) as found:
        yield found


def click(demo: Demo, client: httpx.Client, text: str, position: int) -> str:
    """Search, and click the result at a position; its name."""
    assert client.get("/", params={"q": text}).status_code == 200
    (shown,) = demo.service.lists("default", last=1)
    name = shown.shown[position - 1]
    answer = client.post("/click", data={"query_id": shown.query_id, "object_id": name, "q": text})
    assert answer.status_code == 303
    assert dict(httpx.URL(answer.headers["location"]).params) == {"q": text, "opened": name}
    return name


def test_a_click_is_told_wherever_its_result_stands_now(demo: Demo, live: Live) -> None:
    client = live["nobody"]
    name = click(demo, client, "json decoder", 6)
    page = client.get("/", params={"q": "json decoder", "opened": name})
    assert page.status_code == 200
    assert "What your click taught" in page.text
    gone = client.get("/", params={"q": "thread pool", "opened": name})  # it is not in this list
    assert gone.status_code == 200
    assert "now others stand in the first ten" in gone.text


def test_only_the_result_that_was_clicked_is_told_about(demo: Demo, live: Live) -> None:
    client = live["nobody"]
    click(demo, client, "json decoder", 6)
    page = client.get("/", params={"q": "json decoder", "opened": "something.else"})
    assert page.status_code == 200
    assert "You clicked" not in page.text


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/click", {}),
        ("/click", {"query_id": "nobody's", "object_id": "json.loads"}),
        ("/click", {"query_id": "x" * 5000, "object_id": "\x00"}),
        ("/thumb", {}),
        ("/thumb", {"query_id": "nobody's", "object_id": "json.loads", "value": "1"}),
        ("/thumb", {"query_id": "nobody's", "object_id": "json.loads", "value": "up"}),
        ("/learn", {"query_id": "nobody's"}),
        ("/crowd", {}),
        ("/crowd", {"taste": "bitter"}),
    ],
)
def test_nonsense_is_refused(demo: Demo, live: Live, path: str, form: dict[str, str]) -> None:
    answer = live["nobody"].post(path, data=form)
    assert 400 <= answer.status_code < 500
    assert demo.model.lists == demo.service.model(THUMBS).lists == 0
    assert demo.progress.wanted == 0


@pytest.mark.parametrize("text", ["", " ", '"', "'; drop table", "🐍", "\x00", "x" * 200, "%", "a AND NOT"])
def test_any_search_gets_a_page(live: Live, text: str) -> None:
    assert live["nobody"].get("/", params={"q": text, "opened": text}).status_code == 200
