"""Who may look at the pages, who may change something, and what never leaves."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx
import pytest

from rankloop.candidate import Candidate
from rankloop.service import FairSettings, RankerSettings, UserEvent
from rankloop.service.pages import Pages
from rankloop.service.pages.sessions import COOKIE, LASTS, MOST, Sessions
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.looking import signed_in, token, watched
from tests.support.serving import Live

LOOKS = (
    *("/overview", "/query", "/query/some-list", "/doctor"),
    "/exposure",
)


@pytest.fixture
def service() -> ServiceFacade:
    found = ServiceFacade(open_temporary_store())
    found.create("default")
    shown = found.rank([Candidate("a", {"x": 1}), Candidate("b", {"x": 2})], query_id="some-list")
    found.record([UserEvent(shown.query_id, "b")])
    found.flush("default")
    return found


@pytest.fixture
def live(service: ServiceFacade) -> Iterator[Live]:
    with watched(service) as found:
        yield found


@pytest.mark.parametrize("path", LOOKS)
def test_looking_needs_the_key(live: Live, path: str) -> None:
    answer = live["nobody"].get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=")
    assert signed_in(live).get(path).status_code == 200


@pytest.mark.parametrize("path", LOOKS)
def test_public_pages_can_be_looked_at_and_not_changed(service: ServiceFacade, path: str) -> None:
    with watched(service, Pages(public=True)) as live:
        page = live["nobody"].get(path)
        assert page.status_code == 200
        assert "/overview/mode" not in page.text
        change = live["nobody"].post("/overview/mode", data={"mode": "frozen", "ranker": "default"})
        assert change.status_code == 303
    assert service.mode("default") == "explore"


@pytest.mark.parametrize("scope", ["page", "rank"])
def test_only_the_admin_key_signs_in(live: Live, scope: str) -> None:
    for key in (live.keys[scope], "", "guess", live.keys["admin"] + "x"):
        answer = live["nobody"].post("/login", data={"key": key})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_the_cookie_is_for_this_site_and_not_for_scripts(live: Live) -> None:
    cookie = live["nobody"].post("/login", data={"key": live.keys["admin"]}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert live.keys["admin"] not in cookie


def test_signing_out_ends_the_session(live: Live) -> None:
    client = signed_in(live)
    cookie = client.cookies[COOKIE]
    assert client.post("/logout").status_code == 303
    again = httpx.get(f"{live.url}/overview", cookies={COOKIE: cookie}, timeout=60)
    assert again.status_code == 303


def test_new_bits_for_a_key_end_the_sessions_that_the_old_ones_began(
    live: Live, service: ServiceFacade
) -> None:
    client = signed_in(live)
    assert client.get("/overview").status_code == 200
    fresh = service.keys.rotate("admin", grace=3600.0)
    assert client.get("/overview").status_code == 200  # the old ones still open
    service.keys.rotate("admin", reason="it leaked")
    assert client.get("/overview").status_code == 303
    assert client.post("/login", data={"key": fresh}).status_code == 403


@pytest.mark.parametrize(
    "goal", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x"]
)
def test_after_signing_in_one_stays_here(live: Live, goal: str) -> None:
    answer = live["nobody"].post("/login", data={"key": live.keys["admin"], "next": goal})
    assert answer.headers["location"] == "/overview"


def test_the_mode_is_changed_by_a_form_of_ours(live: Live, service: ServiceFacade) -> None:
    client = signed_in(live)
    form = {"mode": "frozen", "ranker": "default", "token": token(client.get("/overview").text)}
    answer = client.post("/overview/mode", data=form)
    assert answer.status_code == 303
    assert service.mode("default") == "frozen"
    assert "The mode is changed" in client.get(answer.headers["location"]).text


@pytest.mark.parametrize(
    ("form", "headers", "status"),
    [
        ({}, {}, 403),
        ({"token": "guess"}, {}, 403),
        ({"token": ""}, {}, 403),
        ("token", {"Origin": "https://evil.example"}, 403),
        ("token", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("token", {"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_no_other_site_can_change_anything(
    live: Live, service: ServiceFacade, form: dict[str, str] | str, headers: dict[str, str], status: int
) -> None:
    client = signed_in(live)
    mine = token(client.get("/overview").text)
    sent = {"token": mine} if isinstance(form, str) else form
    before = service.model("default").version
    levers: tuple[tuple[str, dict[str, str]], ...] = (
        ("/overview/mode", {"mode": "frozen"}),
        ("/overview/rollback", {"to": "1"}),
        *(("/steer/stop", {}), ("/steer/resume", {}), ("/overview/trial", {}), ("/overview/trial/stop", {})),
    )
    for path, more in levers:
        answer = client.post(path, data={**sent, **more, "ranker": "default"}, headers=headers)
        assert answer.status_code == status
    assert service.mode("default") == "explore"
    assert service.model("default").version == before
    assert service.trial("default") is None


def test_the_token_of_another_session_is_none(live: Live, service: ServiceFacade) -> None:
    other = token(signed_in(live).get("/overview").text)
    client = signed_in(live)
    answer = client.post("/overview/mode", data={"mode": "frozen", "ranker": "default", "token": other})
    assert answer.status_code == 403
    assert service.mode("default") == "explore"


def test_going_back(live: Live, service: ServiceFacade) -> None:
    learned, first = service.model("default"), service.store.read_decisions("default")[0].seq
    assert learned.lists == 1
    client = signed_in(live)
    form = {"ranker": "default", "token": token(client.get("/overview").text), "to": str(first)}
    assert client.post("/overview/rollback", data=form).status_code == 303
    assert service.model("default").lists == 0


@pytest.mark.parametrize("to", ["", "x", "-1", "999999", "1e9", "9" * 30, "²"])
def test_a_version_that_is_none_is_refused_with_a_sentence(
    live: Live, service: ServiceFacade, to: str
) -> None:
    client = signed_in(live)
    form = {"ranker": "default", "token": token(client.get("/overview").text), "to": to}
    answer = client.post("/overview/rollback", data=form)
    assert answer.status_code == 400
    assert "version" in answer.text
    assert service.model("default").lists == 1


@pytest.mark.parametrize("mode", ["", "off", "EXPLORE"])
def test_a_mode_that_is_none_is_refused(live: Live, service: ServiceFacade, mode: str) -> None:
    client = signed_in(live)
    form = {"ranker": "default", "token": token(client.get("/overview").text), "mode": mode}
    assert client.post("/overview/mode", data=form).status_code == 400
    assert service.mode("default") == "explore"


def test_what_is_not_there_is_a_page_and_no_secret(live: Live) -> None:
    client = signed_in(live)
    for path in (
        "/query/nobody-saw-this",
        "/overview?ranker=none",
        "/query?ranker=none",
        "/exposure?ranker=none",
    ):
        answer = client.get(path)
        assert answer.status_code in (400, 404)
        assert answer.headers["content-type"].startswith("text/html")
        assert "Traceback" not in answer.text


def test_secrets_are_on_no_page_and_in_no_log(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = signed_in(live)
    pages = [client.get(path) for path in ("/", "/login", *LOOKS)]
    secret = [*live.keys.values(), client.cookies[COOKIE]]
    client.post("/login", data={"key": live.keys["rank"]})
    logged = [str(vars(record)) for record in caplog.records if record.name.startswith("rankloop")]
    assert logged
    said = [page.text for page in pages] + logged
    for each in secret:
        assert not any(each in text for text in said)


def test_every_word_of_a_user_is_escaped(service: ServiceFacade) -> None:
    evil = "<script>alert(1)</script>\"'"
    service.configure("default", RankerSettings(fair=FairSettings(shares={evil: 0.5})))
    shown = service.rank(
        [Candidate(evil, {evil: 1.0}), Candidate("b", {evil: 0.0})], user_query=evil, client_id=evil
    )
    service.record([UserEvent(shown.query_id, evil, client_id=evil), UserEvent("x" + evil, evil)])
    service.flush("default")
    again = service.rank(
        [Candidate(evil, {evil: 1.0}, group=evil), Candidate("b", {evil: 0.0})], user_query=evil
    )
    with watched(service) as live:
        client = signed_in(live)
        more = (f"/query/{again.query_id}", f"/query?ranker={evil}", "/exposure", f"/exposure?ranker={evil}")
        for path in ("/overview", "/query", "/doctor", *more):
            page = client.get(path)
            assert "<script>alert" not in page.text
            assert page.headers["content-security-policy"].startswith("default-src 'none'")
            assert page.headers["x-frame-options"] == "DENY"


def test_scripts_may_compile_only_where_something_is_drawn(live: Live) -> None:
    assert "unsafe-eval" not in signed_in(live).get("/doctor").headers["content-security-policy"]


def test_assets_may_be_kept_and_pages_not(live: Live) -> None:
    assert live["nobody"].get("/assets/style.css").headers["cache-control"] == "max-age=60"
    assert live["nobody"].get("/").headers["cache-control"] == "no-store"


def test_the_first_page_has_the_address_filled_in(live: Live) -> None:
    page = live["nobody"].get("/").text
    assert f"curl {live.url}/v1/rank" in page
    assert f"{live.url}/rankloop.js" in page


def test_a_service_without_a_ranker_says_what_to_do() -> None:
    with watched(ServiceFacade(open_temporary_store())) as live:
        client = signed_in(live)
        for path in ("/overview", "/query", "/doctor", "/exposure"):
            page = client.get(path)
            assert page.status_code == 200
            assert f"curl {live.url}/v1/rank" in page.text
            assert 'class="chart"' not in page.text


def test_sessions_end_by_time_and_are_few() -> None:
    now = [0.0]
    sessions = Sessions(clock=lambda: now[0])
    first = sessions.begin()
    assert sessions.find(first)
    now[0] = LASTS + 1
    assert sessions.find(first) is None
    cookies = [sessions.begin() for _ in range(MOST + 5)]
    assert sum(sessions.find(cookie) is not None for cookie in cookies) == MOST
