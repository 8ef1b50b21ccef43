"""Everything over HTTP: what is learned is what the simulator learns, and the past stays as it was."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.service_learning import Site, in_the_simulator, offline, over_http
from rankloop.candidate import Candidate
from rankloop.client import Client
from rankloop.errors import DataError
from rankloop.lab.data import load
from rankloop.lab.users import PresetUser
from rankloop.service import RankerSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, open_temporary_store
from tests.support.life import Clock, same, state
from tests.support.limits import keep_snapshots_every
from tests.support.serving import alive, click

frequent_snapshots = keep_snapshots_every(20)

ROUNDS = 500


def test_learning_over_http_reaches_what_the_simulator_reaches() -> None:
    try:
        raw, prepared = load("mq2008(fold=1)", prepared=False), load("mq2008(fold=1)")
    except DataError:
        pytest.skip(f"no mq2008 in RANKLOOP_DATA={os.environ.get('RANKLOOP_DATA', '')}")
    user = PresetUser("perfect").for_grades(raw.train.grades)
    clock, window = Clock(), 60.0
    service = ServiceFacade(open_temporary_store(), clock=clock)
    service.create("default", RankerSettings(window=window))
    with alive(service) as live:
        client = Client(live.url, live.keys["admin"], timeout=60)

        def tick() -> float:
            clock.now += 30.0  # a visitor every half a minute
            return clock.now

        site = Site(client, user, np.random.default_rng(0), tick, window)
        over_http(site, raw.train, rounds=ROUNDS)
        clock.now += window
        service.tick()
        verdicts = client.doctor(minutes=525_600)["tally"]["verdicts"]
        reached = offline(client, raw.test)
        client.close()
    assert {"accepted", "duplicate", "late", "orphan"} <= {
        each.verdict for each in service.store.read_events(None)
    }
    assert not verdicts.keys() & {"invalid", "not_shown"}
    simulated = in_the_simulator(prepared, user, rounds=ROUNDS, seeds=4)
    assert reached > np.mean(simulated) - 3 * np.std(simulated, ddof=1) - 0.01


def shop(number: int, rng: np.random.Generator) -> list[Candidate]:
    return [
        Candidate(f"{number}-{i}", {"x": x, "y": y}) for i, (x, y) in enumerate(rng.random((8, 2)).tolist())
    ]


def test_lists_are_made_again_byte_for_byte_after_a_restart(tmp_path: Path) -> None:
    """After many versions, a rollback and a forgotten event."""
    rng, clock, sent = np.random.default_rng(3), Clock(), {}
    with SqliteStore(tmp_path / "log.db") as store:
        service = ServiceFacade(store, clock=clock)
        service.create("default", RankerSettings(window=60.0))
        with alive(service) as live:
            client = Client(live.url, live.keys["admin"], timeout=60)
            for number in range(300):
                candidates = [
                    {"object_id": each.object_id, "features": each.features} for each in shop(number, rng)
                ]
                body = {"candidates": candidates, "k": 5}
                answer = live["rank"].post("/v1/rank", json=body)
                shown = answer.json()
                sent[shown["query_id"]] = answer.content
                if number % 5 == 0:
                    clicked = shown["ranking"][-1]["object_id"]
                    client.events([click(shown["query_id"], clicked, event_id=f"e{number}")])
                    clock.now += 61.0
                if number == 150:
                    client.rollback(to=client.models()["snapshots"][0]["version"])
                if number == 240:
                    client.forget(["e100"])
            client.close()
        service.close()
    with SqliteStore(tmp_path / "log.db") as store, alive(ServiceFacade(store, clock=clock)) as live:
        versions = set()
        for query_id, content in sent.items():
            again = live["admin"].post(f"/v1/audit/{query_id}/replay")
            assert again.content == b'{"identical":true,"response":' + content + b"}"
            versions.add(again.json()["response"]["provenance"]["model"])
        assert len(versions) > 10


def test_to_forget_is_never_to_have_known() -> None:
    services = []
    for forgets in (True, False):
        rng, clock = np.random.default_rng(5), Clock()
        ids = map("q{}".format, range(1000))
        service = ServiceFacade(open_temporary_store(), clock=clock, ids=ids.__next__)
        service.create("default", RankerSettings(window=60.0))
        with alive(service) as live:
            client = Client(live.url, live.keys["admin"], timeout=60)
            client.set_mode("shadow")  # so that what is shown does not depend on what is forgotten
            for number in range(60):
                shown = client.rank(shop(number, rng), k=5, session_id=f"s{number}")
                robot = number % 7 == 0
                if forgets or not robot:
                    client.events([click(shown.query_id, shown.object_ids[3], event_id=f"e{number}")])
                clock.now += 61.0
            if forgets:
                client.forget([f"e{number}" for number in range(0, 60, 7)])
            client.close()
        service.flush("default")
        services.append(service)
    assert same(state(services[0], "default"), state(services[1], "default"))
    assert services[0].model("default").lists == services[1].model("default").lists > 40
