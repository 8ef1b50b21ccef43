"""Keys: hashed on disk, compared in constant time, different for different things, in no log."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from rankloop.errors import DataError, RequestError
from rankloop.service.http.access_log import JsonLines
from rankloop.service.operations.api_keys import SCOPES, hash_of
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.operations.key_manager import KeyManager
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SERVICE, SqliteStore, open_temporary_store
from tests.support.serving import Live, alive, request
from tests.support.waiting import wait_until

ADMIN = [
    ("GET", "/v1/explain/q?a=x&b=y"),
    ("GET", "/v1/audit/q"),
    ("POST", "/v1/audit/q/replay"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/portable"),
    ("POST", "/v1/rollback"),
    ("POST", "/v1/forget"),
    ("POST", "/v1/features/retire"),
    ("POST", "/v1/retain"),
    ("POST", "/v1/what-if"),
    ("DELETE", "/v1/events/strays"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/1"),
    ("POST", "/v1/jobs/1/cancel"),
    ("PUT", "/v1/mode"),
    ("GET", "/v1/rankers"),
    ("POST", "/v1/rankers"),
    ("GET", "/v1/rankers/default/settings"),
    ("PATCH", "/v1/rankers/default/settings"),
    ("GET", "/v1/rankers/default/trials"),
    ("POST", "/v1/rankers/default/trials"),
    ("GET", "/v1/rankers/default/trials/1"),
    ("POST", "/v1/rankers/default/trials/1/stop"),
    ("GET", "/v1/rankers/default/exposure"),
    ("GET", "/v1/doctor"),
    ("GET", "/v1/overview"),
    ("GET", "/v1/settled/q"),
    ("GET", "/v1/lists"),
    ("GET", "/v1/learned"),
    ("GET", "/v1/learned/searches"),
    ("GET", "/v1/learned/search"),
    ("GET", "/v1/recommenders"),
    ("GET", "/v1/decisions"),
    ("GET", "/v1/decisions/1/undo"),
    ("POST", "/v1/decisions/1/undo"),
    ("POST", "/v1/people/find"),
    ("POST", "/v1/people/delete"),
    ("GET", "/v1/people/deletions"),
    ("GET", "/v1/keys"),
    ("POST", "/v1/keys"),
    ("POST", "/v1/keys/anna/rotate"),
    ("POST", "/v1/keys/anna/revoke"),
]
RANK = [
    ("POST", "/v1/rank"),
    ("POST", "/v1/recommend"),
    ("POST", "/v1/interview"),
    ("GET", "/v1/reasons/q"),
    ("GET", "/metrics"),
]
OPEN = {"/v1/health", "/v1/ready", "/v1/openapi.json", "/rankloop.js"}


def test_every_route_that_changes_or_reveals_needs_the_admin_key() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service) as live:
        paths: dict[str, Any] = live["none"].get("/v1/openapi.json").json()["paths"]
        listed = {(method.upper(), path) for path, methods in paths.items() for method in methods}
        named = {(method, path.partition("?")[0]) for method, path in ADMIN}
        patterns = {
            (
                method,
                path.replace("/q", "/{query_id}")
                .replace("/default/", "/{ranker}/")
                .replace("/jobs/1", "/jobs/{number}")
                .replace("/decisions/1", "/decisions/{decision}")
                .replace("/1", "/{trial}")
                .replace("/anna/", "/{name}/"),
            )
            for method, path in named
        }
        others = {(method, path.replace("/q", "/{query_id}")) for method, path in RANK}
        assert listed == patterns | others | {
            ("POST", "/v1/events"),
            ("GET", "/v1/health"),
            ("GET", "/v1/ready"),
            ("HEAD", "/v1/health"),
            ("HEAD", "/v1/ready"),
        }
        before = service.store.list_changed_rankers(after=0)
        for method, path in ADMIN:
            assert live["none"].request(method, path).status_code == 401, path
            assert live["page"].request(method, path).status_code == 403, path
            refused = live["rank"].request(method, path)
            assert refused.status_code == 403, path
            assert refused.json() == {"error": "this needs the admin key, found the rank key"}
        assert service.store.list_changed_rankers(after=0) == before


def test_lists_and_their_reasons_need_the_rank_key() -> None:
    with alive(ServiceFacade(open_temporary_store())) as live:
        for method, path in RANK:
            assert live["none"].request(method, path).status_code == 401, path
            refused = live["page"].request(method, path)
            assert refused.status_code == 403, path
            assert refused.json() == {"error": "this needs the rank key, found the page key"}


def test_each_key_opens_what_it_should() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    events: dict[str, Any] = {"events": []}
    with alive(service) as live:
        status = {
            scope: (
                live[scope].post("/v1/events", json=events).status_code,
                live[scope].post("/v1/rank", json=request()).status_code,
                live[scope].get("/metrics").status_code,
            )
            for scope in ("none", "page", "rank", "admin")
        }
        assert status == {
            "none": (401, 401, 401),
            "page": (200, 403, 403),
            "rank": (200, 200, 200),
            "admin": (200, 200, 200),
        }
        for path in OPEN:
            assert live["none"].get(path).status_code == 200


def test_only_the_page_key_may_stand_in_an_address() -> None:
    with alive(ServiceFacade(open_temporary_store())) as live:
        for scope, status in {"page": 200, "rank": 401, "admin": 401}.items():
            answer = live["none"].post("/v1/events", params={"key": live.keys[scope]}, json={"events": []})
            assert answer.status_code == status
        assert live["none"].get("/v1/models", params={"key": live.keys["page"]}).status_code == 401


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer  x", "Basic abc", "bearer wrong", "Bearer \xff\xfe", "x" * 5000]
)
def test_strange_headers_open_nothing(header: str) -> None:
    with alive(ServiceFacade(open_temporary_store())) as live:
        answer = live["none"].get("/v1/models", headers=[(b"Authorization", header.encode("latin-1"))])
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


def test_a_refused_admin_call_is_logged_and_no_key_ever_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with alive(ServiceFacade(open_temporary_store())) as live:
        live["rank"].post("/v1/rollback", json={"to": 1})
        live["none"].post("/v1/events", params={"key": live.keys["page"]}, json={"events": []})
        live["none"].get(f"/v1/{live.keys['admin']}", params={"key": live.keys["admin"]})
        live["admin"].get("/v1/models")
        written = [JsonLines().format(record) for record in caplog.records if record.name == "rankloop.http"]
        said = [json.loads(line) for line in written]
        assert said[0]["level"] == "warning"
        assert (said[0]["route"], said[0]["status"]) == ("POST /v1/rollback", 403)
        assert {"request_id", "route", "status", "ms"} <= said[0].keys()
        assert not any("127.0.0.1" in line for line in written)  # whose address is personal data
        assert said[2]["route"] == "unknown"
        for key in live.keys.values():
            assert not any(key in line for line in written)


def test_what_is_kept_is_hashed_and_shown_once(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    with directory.open() as store:
        keys = KeyManager(store, clock=time.time)
        shown = keys.begin()
        assert {scope: found(keys, key) for scope, key in shown.items()} == {each: each for each in SCOPES}
        assert keys.begin() == {}
        others = keys.begin(fresh=True)
        assert [found(keys, key) for key in (*shown.values(), *others.values())] == [*3 * [None], *SCOPES]
    for path in tmp_path.iterdir():
        assert not any(key.encode() in path.read_bytes() for key in (*shown.values(), *others.values()))


def test_a_key_is_made_rotated_and_revoked_while_the_service_runs_and_the_log_says_by_whom() -> None:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    with alive(service) as live:
        admin = live["admin"]
        body = {"name": "shop", "scope": "rank", "reason": "the web shop"}
        made = admin.post("/v1/keys", json=body).json()["key"]
        assert admin.post("/v1/keys", json=body).status_code == 400  # names are used once
        anna = admin.post("/v1/keys", json={"name": "anna", "scope": "admin"}).json()["key"]
        hers = httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {anna}"}, timeout=60)
        assert ranks(live, made) == 200
        rotated = hers.post("/v1/keys/shop/rotate", json={"grace": 3600}).json()["key"]
        assert (ranks(live, made), ranks(live, rotated)) == (200, 200)
        again = hers.post("/v1/keys/shop/rotate", json={"reason": "leaked"}).json()["key"]
        assert (ranks(live, made), ranks(live, rotated), ranks(live, again)) == (401, 401, 200)
        assert hers.put("/v1/mode", json={"mode": "frozen", "reason": "a quiet night"}).status_code == 200
        assert hers.post("/v1/keys/shop/revoke", json={"reason": "gone"}).status_code == 200
        assert ranks(live, again) == 401
        told = hers.get("/v1/decisions", params={"who": "anna"}).json()
        assert [(each["what"], each["why"]) for each in told] == [
            ("the rank key shop was revoked", "gone"),
            ("mode frozen", "a quiet night"),
            ("the rank key shop got new bits", "leaked"),
            ("the rank key shop got new bits", ""),
        ]
        assert hers.get("/v1/decisions", params={"kind": "nothing"}).status_code == 400
        answers = hers.get("/v1/keys").text + hers.get("/v1/decisions").text
        secrets = (made, rotated, again, anna, *live.keys.values())
        assert not any(key in answers or hash_of(key) in answers for key in secrets)
        assert not any(key in str(each) for key in secrets for each in service.store.read_decisions(SERVICE))
        hers.close()


def test_the_last_admin_key_cannot_be_revoked_and_the_sentence_says_how_to_go_on() -> None:
    with alive(ServiceFacade(open_temporary_store())) as live:
        refused = live["admin"].post("/v1/keys/admin/revoke", json={})
        assert refused.status_code == 400
        assert "the last admin key" in refused.json()["error"]
        assert "Create another one first" in refused.json()["error"]
        anna = live["admin"].post("/v1/keys", json={"name": "anna", "scope": "admin"}).json()["key"]
        assert live["admin"].post("/v1/keys/admin/revoke", json={}).status_code == 200
        assert live["admin"].get("/v1/keys").status_code == 401
        headers = {"Authorization": f"Bearer {anna}"}
        refused = live["none"].post("/v1/keys/anna/revoke", json={}, headers=headers)
        assert refused.status_code == 400


def test_a_key_that_one_process_revokes_opens_nothing_in_another(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as one, SqliteStore(tmp_path / "log.db") as two:
        here = KeyManager(one, clock=time.time)
        with ServiceFacade(two, background=True) as there:
            admin, rank = here.create("anna", "admin"), here.create("shop", "rank")
            wait_until(lambda: found(there.keys, rank) == "shop")
            here.revoke("shop")
            wait_until(lambda: found(there.keys, rank) is None)
            assert found(there.keys, admin) == "anna"
            there.keys.create("otto", "admin")
            here.revoke("anna")
            with pytest.raises(RequestError, match="no key is called 'anna'"):
                there.keys.rotate("anna")  # decided by what is in the log, not by what it knew


def found(keys: KeyManager, secret: str) -> str | None:
    key = keys.find(secret)
    return key.name if key else None


def ranks(live: Live, key: str) -> int:
    headers = {"Authorization": f"Bearer {key}"}
    return live["none"].post("/v1/rank", json=request(), headers=headers).status_code


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        DataDirectory(tmp_path).open(),
        pytest.raises(DataError, match="in use"),
        DataDirectory(tmp_path).open(),
    ):
        pass
