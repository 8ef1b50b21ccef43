"""Steering from every page: mode, state and Stop; trials; and errors that are pages for browsers."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from rankloop.candidate import Candidate
from rankloop.service import UserEvent
from rankloop.service.pages.page_charts import LINES, Mark, line_chart, placed
from rankloop.service.pages.ranker_status import steering
from rankloop.service.reports.traffic import Overview
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import StoreError, open_temporary_store
from tests.support.looking import signed_in, token, watched
from tests.support.serving import Live

PAGES = ("/", "/overview", "/query", "/query/some-list", "/doctor", "/exposure", "/decisions", "/nowhere")
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture
def service() -> ServiceFacade:
    found = ServiceFacade(open_temporary_store())
    found.create("default")
    found.create("shop")
    shown = found.rank([Candidate("a", {"x": 1}), Candidate("b", {"x": 2})], query_id="some-list")
    found.record([UserEvent(shown.query_id, "b")])
    found.flush("default")
    return found


@pytest.fixture
def live(service: ServiceFacade) -> Iterator[Live]:
    with watched(service) as found:
        yield found


def lever(client: httpx.Client, path: str, **form: str) -> str:
    """Send a form of the overview; the page that it leads to, as people read it."""
    mine = token(client.get("/overview").text)
    answer = client.post(path, data={"ranker": "default", "token": mine, **form})
    assert answer.status_code == 303
    return html.unescape(client.get(answer.headers["location"]).text)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_mode_state_and_stop(live: Live, path: str) -> None:
    page = signed_in(live).get(path, headers=BROWSER).text
    assert re.search(r'id="status-mode".*?</span>explore</a>', page)
    assert re.search(r'id="status-state".*?</span>learning</span>', page)
    assert 'action="/steer/stop"' in page
    assert page.count('href="/overview?ranker=shop"') + page.count("?ranker=shop") >= 1


def test_nobody_who_is_not_signed_in_sees_how_a_ranker_is(live: Live) -> None:
    for path in ("/", "/login", "/nowhere"):
        assert 'id="status"' not in live["nobody"].get(path, headers=BROWSER).text


def test_stop_shows_the_own_order_and_resume_goes_back_to_the_mode_before(
    live: Live, service: ServiceFacade
) -> None:
    client = signed_in(live)
    service.set_mode("default", "exploit")
    page = lever(client, "/steer/stop", reason="a complaint <b>", back="/doctor?minutes=60")
    assert service.mode("default") == "passthrough"
    assert "It is stopped" in page
    assert 'href="/doctor?ranker=default" aria-current="page"' in page
    assert re.search(r'id="status-state".*?</span>stopped</span>', page)
    (last, *_) = service.decided(ranker="default", last=1)
    assert (last.who, last.why) == ("admin", "a complaint <b>")
    page = lever(client, "/steer/resume", back="https://evil.example/")
    assert service.mode("default") == "exploit"
    assert "<h1>Overview" in page


def test_the_gravest_state_is_told(service: ServiceFacade) -> None:
    found = steering(service, "shop")
    assert found is not None
    assert (found.ranker, found.state, found.stopped) == ("shop", "learning", False)
    before = found.mark
    service.set_mode("shop", "frozen")
    changed = steering(service, "shop")
    assert changed is not None
    assert (changed.state, changed.mark == before) == ("frozen", False)
    service.ranker("shop").problem = "the disk is full"
    ill = steering(service, "shop")
    assert ill is not None
    assert (ill.state, ill.look) == ("in trouble", "bad")
    assert "the disk is full" in ill.sentence
    unknown = steering(service, "nobody")
    assert unknown is not None
    assert unknown.ranker == "default"
    assert steering(ServiceFacade(open_temporary_store())) is None


def test_a_trial_is_begun_and_ended_on_the_page(live: Live, service: ServiceFacade) -> None:
    client = signed_in(live)
    page = lever(client, "/overview/trial", share="20", action="purchase", max_value="200")
    trial = service.trial("default")
    assert trial is not None
    settings = trial.settings
    assert (settings["share"], settings["action"], settings["max_value"]) == (0.2, "purchase", 200.0)
    assert "The trial has begun" in page
    assert "trial runs" in page
    page = lever(client, "/overview/trial/stop", trial=str(trial.trial))
    assert "The trial is stopped" in page
    mine = token(client.get("/overview").text)
    form = {"ranker": "default", "token": mine, "action": "purchase", "max_value": "much"}
    assert client.post("/overview/trial", data=form).status_code == 400


def test_going_back_says_which_version_is_known_again_and_which_is_in_use(
    live: Live, service: ServiceFacade
) -> None:
    first = service.store.read_decisions("default")[0].seq
    page = lever(signed_in(live), "/overview/rollback", to=str(first))
    now = service.model("default").version
    assert now != first
    assert f"It knows again what it knew at version {first}." in page
    assert f'version <b id="version">{now}</b>, which is what it knew at version {first:,}.' in page
    assert f'aria-label="Go back to version {now}"' not in page  # it is in use


def test_the_call_on_the_first_page_names_the_ranker(live: Live) -> None:
    assert '"ranker": "default"' in html.unescape(live["nobody"].get("/").text)
    assert '"ranker": "shop"' in html.unescape(signed_in(live).get("/?ranker=shop").text)


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("PUT", "/login", 405)])
def test_a_browser_gets_a_page_and_a_program_json(live: Live, method: str, path: str, status: int) -> None:
    seen = live["nobody"].request(method, path, headers=BROWSER)
    told = live["nobody"].request(method, path)
    assert (seen.status_code, told.status_code) == (status, status)
    assert seen.headers["content-type"].startswith("text/html")
    assert seen.headers["content-security-policy"].startswith("default-src 'none'")
    assert path in seen.text
    assert set(told.json()) == {"error"}
    assert "error" in live["admin"].request(method, path, headers=BROWSER).json()  # it brings a key


def test_an_error_of_ours_is_a_page_too(
    live: Live, service: ServiceFacade, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(live)
    for problem, status in ((ValueError("secret"), 500), (StoreError("secret"), 503)):

        def broken(*_: object, problem: Exception = problem, **__: object) -> None:
            raise problem

        monkeypatch.setattr(service, "versions", broken)
        seen = client.get("/overview", headers=BROWSER)
        assert (seen.status_code, "<h1>" in seen.text, "secret" in seen.text) == (status, True, False)


def test_marks_stand_where_the_lists_of_their_time_do() -> None:
    def step(start: float, lists: int) -> Overview:
        return Overview(start, lists, 0.5, 0.5, 0.5, 0.0, 0.0, 0)

    steps = [step(0, 20), step(100, 40)]
    marks = [Mark(at, "mode frozen", number=1) for at in (0, 50, 100, 150, 200)]
    assert [each["x"] for each in placed(marks, steps, "lists", until=200)] == [10, 20, 40, 60]
    assert [each["x"] for each in placed(marks[1:2], steps, "time")] == ["1970-01-01T00:00:50+00:00"]
    assert placed(marks, [], "lists") == []


def test_decisions_that_would_hide_each_other_share_a_mark() -> None:
    steps = [Overview(0, 100, 0.5, 0.5, 0.5, 0.0, 0.0, 0)]
    marks = [Mark(at, f"decision {number}", number=number) for number, at in enumerate((50, 51, 52, 90), 1)]
    marks += [Mark(at, "version 7 was kept") for at in (50, 51)]
    for by in ("lists", "time"):
        shown = placed(marks, steps, by, until=100)
        assert [each["number"] for each in shown] == ["1–3", "4", "", ""]
        assert shown[0]["what"] == "decision 1; decision 2; decision 3"


def test_a_mean_reciprocal_rank_is_a_number_everywhere() -> None:
    (line,) = [each for each in LINES if each.name == "mrr"]
    spec = str(line_chart([{"x": 1, "y": 0.9, "lists": 1}, {"x": 2, "y": 0.8, "lists": 1}], line, "lists"))
    assert "%" not in spec.replace(line.meaning, "")
    assert "'domain': [0, 1.0]" in spec
