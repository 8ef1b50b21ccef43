"""What was refused stays refused: a write that comes too late is taken back, or said to be under way."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from rankloop.service.http import HttpSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, write
from tests.support.serving import alive, click, request
from tests.support.waiting import wait_until

HASTY = HttpSettings(deadline=30.0, patience=0.3)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process is writing to the file, and takes its time."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_decision_that_was_answered_with_503_is_never_in_force(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        service = ServiceFacade(store)
        service.create("default")
        with alive(service, HASTY) as live:
            query = live["rank"].post("/v1/rank", json=request()).json()["query_id"]
            write(store, lambda transaction: None)
            before = service.settings("default").to_json()
            refused = []
            with locked(tmp_path / "log.db"):
                refused.append(live["admin"].put("/v1/mode", json={"mode": "frozen"}))
                path = "/v1/rankers/default/settings"
                refused.append(live["admin"].patch(path, json={"window": 5.0}))
                refused.append(live["admin"].post("/v1/rankers", json={"name": "news"}))
                events = {"events": [click(query, "d1", event_id="e1")]}
                refused.append(live["rank"].post("/v1/events", json=events))
            assert [each.status_code for each in refused] == [503] * 4
            assert all("nothing has changed" in each.json()["error"] for each in refused)
            write(store, lambda transaction: None)  # whatever was in the queue is written by now
            assert [each.kind for each in store.read_decisions("default")] == ["settings", "mode", "schema"]
            assert service.mode("default") == "explore"
            assert service.settings("default").to_json() == before
            assert service.rankers() == ["default"]
            assert not list(store.read_events(None))
            answers = list[httpx.Response]()

            def answered() -> bool:
                answers.append(live["rank"].post("/v1/events", json=events))
                return answers[-1].status_code == 200

            wait_until(answered)
            verdict = answers[-1].json()["receipts"][0]["verdict"]
            busy = ("duplicate",) if len(answers) > 1 else ()  # it was refused while it was under way
            assert verdict in ("accepted", *busy)


def test_a_request_that_comes_too_late_writes_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even what it has not begun to write when the answer is given."""
    with SqliteStore(tmp_path / "log.db") as store:
        service = ServiceFacade(store)
        service.create("default")
        with alive(service, HASTY) as live:
            shown = service.ranker("default")
            slow = shown.decide
            answered, ended = threading.Event(), threading.Event()

            def decide(kind: str, **body: object) -> int:
                assert answered.wait(60)
                try:
                    return slow(kind, **body)
                finally:
                    ended.set()

            monkeypatch.setattr(shown, "decide", decide)
            answer = live["admin"].put("/v1/mode", json={"mode": "frozen"})
            answered.set()
            assert answer.status_code == 503
            assert "nothing has changed" in answer.json()["error"]
            assert ended.wait(60)
            assert service.mode("default") == "explore"
            assert [each.kind for each in store.read_decisions("default")] == ["settings", "mode"]
