"""The settings form: what would change is shown first, and it is the operation of the API that changes it."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from rankloop.candidate import Candidate
from rankloop.policies import PairRank
from rankloop.service import FairSettings, GradeSettings, RankerSettings, UserEvent
from rankloop.service.core.settings_fields import fields_of
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.browsing import AXE, CHROMIUM, NO_AXE, NO_CHROMIUM, PHONE, browser
from tests.support.looking import signed_in, watched


@pytest.fixture
def service() -> ServiceFacade:
    made = ServiceFacade(open_temporary_store())
    rules = RankerSettings(
        policy=PairRank(), grades=GradeSettings(weights={"star": 1.0}), fair=FairSettings(shares="equal")
    )
    made.create("default", rules)
    for number in range(3):
        shown = made.rank([Candidate("a", {"x": 1}), Candidate("b", {"x": 2})], session_id=str(number))
        made.record([UserEvent(shown.query_id, "b")])
        made.flush("default")
    return made


def fields(page: str) -> dict[str, str]:
    """All fields of the forms on a page, as a browser would send them."""
    page = re.sub(r'<form[^>]*action="/(?!settings).*?</form>', "", page, flags=re.S)
    found = dict(re.findall(r'<input type="(?:hidden|text)"[^>]*? name="([^"]+)" value="([^"]*)"', page))
    found |= dict(re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>(.*?)</textarea>', page, re.S))
    for name, options in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', page, re.S):
        found[name] = re.findall(r"<option selected>([^<]*)", options)[0]
    return {name: unescape(value) for name, value in found.items()}


def test_the_form_as_it_is_changes_nothing_and_has_every_setting(service: ServiceFacade) -> None:
    with watched(service) as live:
        client = signed_in(live)
        form = fields(client.get("/settings").text)
        names = {each.name for each in fields_of(RankerSettings)} - {"client_limit"}  # its parts are
        assert names <= set(form)
        page = client.post("/settings/preview", data=form).text
        assert "Nothing would change" in page


CHANGES: list[tuple[dict[str, str], dict[str, Any], dict[str, Any]]] = [  # form, patch, settings
    ({"window": "60"}, {"window": 60.0}, {"window": 60.0}),
    ({"learn_late": "on"}, {"learn_late": True}, {"learn_late": True}),
    (
        {"guardrails": "on", "guardrails.max_displacement": "3"},
        {"guardrails": {"max_displacement": 3}},
        {"guardrails": {"max_displacement": 3}},
    ),
    (
        {"guardrails.max_displacement": ""},
        {"guardrails": {"max_displacement": None}},
        {"guardrails": {"max_displacement": None}},
    ),
    (
        {"client_limit.lists": "", "client_limit.seconds": "60"},
        {"client_limit": {"lists": None, "seconds": 60.0}},
        {"client_limit": {"lists": None, "repeats": 5, "seconds": 60.0}},
    ),
    (
        {"actions": '{"click": 1, "purchase": 2}'},
        {"actions": {"click": 1, "purchase": 2}},
        {"actions": {"click": 1.0, "purchase": 2.0}},
    ),
    (
        {"actions": '{"purchase": 2}'},
        {"actions": {"click": None, "purchase": 2}},
        {"actions": {"purchase": 2.0}},
    ),
    (
        {"fair.shares": '{"ours": 0.5}'},
        {"fair": {"shares": {"ours": 0.5}}},
        {
            "fair": {
                "shares": {"ours": 0.5},
                "at_least": {},
                "tolerance": 5.0,
                "cap": 50.0,
                "examination": None,
            }
        },
    ),
    ({"grades": "off", "grades.highest": "9"}, {"grades": None}, {"grades": None}),
    ({"scaling": "running"}, {"scaling": "running"}, {"scaling": "running"}),
]


def test_a_change_is_shown_first_and_is_the_one_that_the_api_would_make(service: ServiceFacade) -> None:
    with watched(service) as live:
        client, admin = signed_in(live), live["admin"]
        for filled, patch, after in CHANGES:
            before = service.settings("default").to_json()
            shown = client.post("/settings/preview", data=fields(client.get("/settings").text) | filled).text
            assert service.settings("default").to_json() == before  # nothing is decided by looking
            path, params = "/v1/rankers/default/settings", {"preview": True}
            api = admin.patch(path, params=params, json=patch).json()
            form = fields(shown)
            assert json.loads(form["changes"]) == patch
            assert form["confirm"] == api["confirm"]  # the same change, by the same operation
            assert all(sentence in unescape(shown) for sentence in api["sentences"])
            assert client.post("/settings/change", data=form | {"reason": ""}).status_code == 400
            if api["dangerous"]:
                untold = form | {"confirm": "", "reason": "so"}
                assert client.post("/settings/change", data=untold).status_code == 409
            (name,) = patch
            assert client.post("/settings/change", data=form | {"reason": name}).status_code == 303
            assert service.settings("default").to_json() == before | after
            assert service.decided(kind="settings", last=1)[0].why == name


def test_two_operators_do_not_overwrite_each_other_and_nonsense_is_refused(service: ServiceFacade) -> None:
    with watched(service) as live:
        client = signed_in(live)
        form = fields(client.get("/settings").text)
        seen = fields(client.post("/settings/preview", data=form | {"window": "60"}).text)
        service.configure("default", service.patched("default", {"window": 30}), by="otto")
        refused = client.post("/settings/change", data=seen | {"reason": "mine"})
        assert refused.status_code == 409
        assert service.settings("default").window == 30
        for name, text in (("window", "soon"), ("window", "-1"), ("policy", "[]"), ("actions", "{}")):
            assert client.post("/settings/preview", data=form | {name: text}).status_code == 400, name
        assert client.post("/settings/preview", data=form | {"token": ""}).status_code == 403
        assert live["nobody else"].get("/settings").status_code == 303


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
def test_the_pages_to_steer_by_are_used_by_keyboard_alone(service: ServiceFacade) -> None:
    """Change a setting, look at what was learned, undo the change; nothing leaves the machine."""
    with watched(service) as live, browser(live.url, **PHONE) as seen:
        page = seen.go("/login?next=/settings")
        page.fill("input[name=key]", live.keys["admin"])
        page.keyboard.press("Enter")
        seen.arrives("#set-window")
        for path in ("/learned", "/learned/search?user_query=", "/query", "/doctor", "/settings"):
            seen.go(path)
            assert seen.fits(), path
            assert seen.complaints() == [], path
        page.focus("#set-window")
        page.keyboard.press("Control+A")
        page.keyboard.type("60")
        page.keyboard.press("Enter")
        seen.arrives("#reason")
        assert seen.complaints() == []
        page.focus("#reason")
        page.keyboard.type("people are quick")
        page.keyboard.press("Enter")
        seen.arrives("#set-window")
        assert service.settings("default").window == 60
        seen.go("/decisions")
        page.locator("a:has-text('Undo')").first.focus()
        page.keyboard.press("Enter")
        seen.arrives("#reason")
        assert seen.fits()
        assert seen.complaints() == []
        page.focus("#reason")
        page.keyboard.type("or not")
        page.keyboard.press("Enter")
        page.wait_for_url("**/decisions?undone=*")
        assert service.settings("default").window == 600
        assert seen.trouble == []
