"""Keys: hashed on disk, compared in constant time, different for different things, in no log."""

from __future__ import annotations

import json
import logging
import stat
from pathlib import Path
from typing import Any

import pytest

from rankloop.service import RankingService
from rankloop.service.data_dir import DataDirectory
from rankloop.service.http import Keys
from rankloop.service.http.access_log import JsonLines
from rankloop.store import MemoryStore
from rankloop.types import DataError
from tests.service.http.serving import alive, request

ADMIN = [
    ("GET", "/v1/explain/q?a=x&b=y"),
    ("GET", "/v1/audit/q"),
    ("POST", "/v1/audit/q/replay"),
    ("GET", "/v1/models"),
    ("POST", "/v1/rollback"),
    ("POST", "/v1/forget"),
    ("POST", "/v1/retain"),
    ("GET", "/v1/mode"),
    ("PUT", "/v1/mode"),
    ("GET", "/v1/rankers"),
    ("POST", "/v1/rankers"),
    ("GET", "/v1/rankers/default/settings"),
    ("PUT", "/v1/rankers/default/settings"),
    ("GET", "/v1/rankers/default/trials"),
    ("POST", "/v1/rankers/default/trials"),
    ("GET", "/v1/rankers/default/trials/1"),
    ("POST", "/v1/rankers/default/trials/1/stop"),
    ("GET", "/v1/rankers/default/exposure"),
    ("GET", "/v1/rankers/default/exposure.csv"),
    ("GET", "/v1/doctor"),
    ("GET", "/v1/overview"),
    ("GET", "/v1/stream"),
    ("GET", "/v1/settled/q"),
    ("GET", "/v1/lists"),
    ("GET", "/v1/recommenders"),
]
RANK = [
    ("POST", "/v1/rank"),
    ("POST", "/v1/recommend"),
    ("POST", "/v1/interview"),
    ("GET", "/v1/reasons/q"),
    ("GET", "/metrics"),
]
OPEN = {"/v1/health", "/v1/openapi.json", "/rankloop.js"}


def test_every_route_that_changes_or_reveals_needs_the_admin_key() -> None:
    service = RankingService(MemoryStore())
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
                .replace("/1", "/{trial}"),
            )
            for method, path in named
        }
        others = {(method, path.replace("/q", "/{query_id}")) for method, path in RANK}
        assert listed == patterns | others | {("POST", "/v1/events"), ("GET", "/v1/health")}
        before = len(service.store.records)  # type: ignore[attr-defined]
        for method, path in ADMIN:
            assert live["none"].request(method, path).status_code == 401, path
            assert live["page"].request(method, path).status_code == 403, path
            refused = live["rank"].request(method, path)
            assert refused.status_code == 403, path
            assert refused.json() == {"error": "this needs the admin key, found the rank key"}
        assert len(service.store.records) == before  # type: ignore[attr-defined]


def test_lists_and_their_reasons_need_the_rank_key() -> None:
    with alive(RankingService(MemoryStore())) as live:
        for method, path in RANK:
            assert live["none"].request(method, path).status_code == 401, path
            refused = live["page"].request(method, path)
            assert refused.status_code == 403, path
            assert refused.json() == {"error": "this needs the rank key, found the page key"}


def test_each_key_opens_what_it_should() -> None:
    service = RankingService(MemoryStore())
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
    with alive(RankingService(MemoryStore())) as live:
        for scope, status in {"page": 200, "rank": 401, "admin": 401}.items():
            answer = live["none"].post("/v1/events", params={"key": live.keys[scope]}, json={"events": []})
            assert answer.status_code == status
        assert live["none"].get("/v1/models", params={"key": live.keys["page"]}).status_code == 401


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer  x", "Basic abc", "bearer wrong", "Bearer \xff\xfe", "x" * 5000]
)
def test_strange_headers_open_nothing(header: str) -> None:
    with alive(RankingService(MemoryStore())) as live:
        answer = live["none"].get("/v1/models", headers=[(b"Authorization", header.encode("latin-1"))])
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


def test_a_refused_admin_call_is_logged_and_no_key_ever_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with alive(RankingService(MemoryStore())) as live:
        live["rank"].post("/v1/rollback", json={"to": 1})
        live["none"].post("/v1/events", params={"key": live.keys["page"]}, json={"events": []})
        live["none"].get(f"/v1/{live.keys['admin']}", params={"key": live.keys["admin"]})
        live["admin"].get("/v1/models")
        written = [JsonLines().format(record) for record in caplog.records if record.name == "rankloop.http"]
        said = [json.loads(line) for line in written]
        assert said[0]["level"] == "warning"
        assert (said[0]["route"], said[0]["status"]) == ("POST /v1/rollback", 403)
        assert {"request_id", "route", "status", "ms"} <= said[0].keys()
        assert said[2]["route"] == "unknown"
        for key in live.keys.values():
            assert not any(key in line for line in written)


def test_what_is_kept_is_hashed_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    path = DataDirectory(tmp_path).key_file
    keys, shown = Keys.of(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for key in shown.values():
        assert len(key) > 43
        assert key not in path.read_text()
    again, nothing = Keys.of(path)
    assert again == keys
    assert not nothing
    others, new = Keys.of(path, fresh=True)
    assert others.scope(new["admin"]) == "admin"
    assert others.scope(shown["admin"]) is None


def test_a_damaged_file_of_keys_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"sha256": {"rank": "x"}}')
    with pytest.raises(DataError, match="remove it"):
        Keys.load(tmp_path / "keys.json")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        DataDirectory(tmp_path).open(),
        pytest.raises(DataError, match="in use"),
        DataDirectory(tmp_path).open(),
    ):
        pass
