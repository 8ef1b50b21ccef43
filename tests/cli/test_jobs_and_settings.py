"""`rankloop jobs` and `rankloop settings` on a service that runs."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from rankloop.cli import app
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.life import SHORT, Clock, live, make
from tests.support.limits import keep_snapshots_every
from tests.support.serving import alive

frequent_snapshots = keep_snapshots_every(7)


def test_an_operator_forgets_looks_changes_and_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    service: ServiceFacade = make(open_temporary_store(), clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=8)
    service.flush("shop")
    event = next(iter(service.store.read_events("shop"))).event_id
    lists = service.model("shop").lists
    with alive(service) as found:
        monkeypatch.setenv("RANKLOOP_URL", found.url)
        monkeypatch.setenv("RANKLOOP_KEY", found.keys["admin"])

        def run(*words: str) -> tuple[int, str]:
            done = CliRunner().invoke(app, list(words))
            return done.exit_code, done.output

        assert "done" in run("jobs", "forget", event, "--ranker", "shop")[1]
        assert service.model("shop").lists == lists - 1
        assert "done" in run("jobs", "forget", "--ranker", "shop", "--until", "1001.5", "--reason", "bots")[1]
        assert service.model("shop").lists == lists - 1  # the very same event, by its time
        assert "no event" in run("jobs", "forget", "--ranker", "shop", "--client", "nobody")[1]
        assert "expected a moment" in run("jobs", "forget", "--until", "1971-01-01x")[1]
        number = str(service.jobs()[0].id)
        assert number in run("jobs", "show")[1]
        assert run("jobs", "wait", number)[0] == 0
        assert run("jobs", "cancel", number)[0] != 0
        code, said = run("settings", "change", '{"window": 7}', "--ranker", "shop")
        assert (code, service.settings("shop").window) == (0, 7)
        assert "window: 60.0 -> 7" in said
        other = ("settings", "change", '{"policy": "PDGD()"}', "--ranker", "shop")
        assert run(*other)[0] != 0
        assert service.model("shop").lists == lists - 1
        assert run(*other, "--yes")[0] == 0
        assert '"policy": "PDGD(' in run("settings", "show", "--ranker", "shop")[1]
