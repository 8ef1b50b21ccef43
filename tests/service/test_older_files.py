"""A data folder of an earlier release opens, and holds to the bit what it held.

The file beside this test was written by the release whose stores have version 2: two rankers, one of them
with its beginning discarded, settings that were learned again, and a list that is still open.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankloop.service import RankerSettings, RankingService, UserEvent
from rankloop.service.store import MemoryStore, SqliteStore
from tests.support.faults import settle
from tests.support.life import Clock, make, some_candidates, state
from tests.support.own_policies import Listening

DATA = Path(__file__).parent / "data"
ORDER = ("order_belief", "order_spread")  # empty, as nothing was trusted
LATER = {"pairrank": ("prior_seen",), "olranknet": ORDER}  # state fields that came after it
EXPECTED: dict[str, Any] = json.loads((DATA / "log-version-2.json").read_text())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "log.db")) as connection:
        connection.executescript((DATA / "log-version-2.sql").read_text())
    return tmp_path / "log.db"


def expect_what_it_held(service: RankingService) -> None:
    for name, held in EXPECTED.items():
        np.testing.assert_allclose(state(service, name)["parameters"], held["parameters"], rtol=1e-6)
        assert service.model(name).version == held["version"]
        assert service.model(name).lists == held["lists"]
        assert service.health().rankers[name].open == held["open"]
        assert all(service.replay(shown.query_id).identical for shown in service.lists(name, last=3))


def test_it_holds_to_the_bit_what_it_held(path: Path) -> None:
    for _ in range(2):  # opened for the first time, and again
        with SqliteStore(path) as store:
            service = make(store, Clock())
            expect_what_it_held(service)
            for name, held in EXPECTED.items():
                found = {
                    key: sha256(value.tobytes()).hexdigest() for key, value in state(service, name).items()
                }
                later = {key: found.pop(key) for key in LATER.get(name, ())}
                assert found == held["digest"], name
                assert len(later) == len(LATER.get(name, ()))


def test_its_log_alone_gives_the_same(path: Path) -> None:
    """Without the snapshots, except the one at which a log begins; another machine may round otherwise."""
    SqliteStore(path).close()
    bases = "SELECT json_extract(body, '$.base') FROM decisions WHERE kind = 'retain'"
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(f"DELETE FROM snapshots WHERE seq NOT IN ({bases})").rowcount > 0
    with SqliteStore(path) as store:
        expect_what_it_held(make(store, Clock()))


def test_an_open_list_of_a_release_without_values_is_still_open(tmp_path: Path) -> None:
    """Snapshots of form 2 knew only which actions were done at a position."""
    path = tmp_path / "log.db"
    with SqliteStore(path) as store:
        service = make(store, Clock())
        service.create("shop", RankerSettings(actions={"zoom": 0.5, "save": 0.5}))
        shown = service.rank(some_candidates(np.random.default_rng(1)), ranker="shop")
        for action in ("zoom", "save"):
            service.record([UserEvent(shown.query_id, shown.object_ids[2], action)])
        service.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        seq, body = connection.execute("SELECT seq, json(body) FROM snapshots ORDER BY seq DESC").fetchone()
        told = json.loads(body)
        ((_, did),) = told["open"][shown.query_id][2]
        assert did == {"save": None, "zoom": None}
        told["form"], told["open"][shown.query_id][2] = 2, [[3, ["save", "zoom"]]]
        connection.execute("UPDATE snapshots SET body = ? WHERE seq = ?", (json.dumps(told), seq))
    with SqliteStore(path) as store:
        service = make(store, Clock())
        assert service.health().rankers["shop"].open == 1
        service.flush("shop")
        assert service.model("shop").lists == 1


def test_an_open_list_of_a_release_that_did_not_keep_when_it_was_shown_takes_clicks_in_a_longer_window(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Snapshots of form 3 knew only when a list closes, and nothing of lists that closed early."""
    store, clock, rules = MemoryStore(), Clock(), RankerSettings(policy=Listening(), window=60.0)
    service = make(store, clock, policies=[Listening])
    service.create("shop", rules)
    shown = service.rank(some_candidates(np.random.default_rng(1)), ranker="shop")
    settle(store)
    service.close()
    newer = ("early", "heard_since", "shown_at")
    told = {name: value for name, value in store.kept[-1].body.items() if name not in newer}
    assert shown.query_id in told["open"]
    store.kept = [replace(store.kept[-1], body=told | {"form": 3})]
    service = make(store, clock, prefix="new", policies=[Listening])
    service.configure("shop", replace(rules, window=180.0))
    clock.now += 120.0
    assert service.record([UserEvent(shown.query_id, shown.object_ids[2])])[0].verdict == "accepted"
    clock.now += 120.0
    service.tick()
    assert int(state(service)["clicked"]) == service.model("shop").lists == 1
    assert service.health().rankers["shop"].early == 0
    assert not caplog.records, "the snapshot was of use"


def test_life_goes_on(path: Path) -> None:
    with SqliteStore(path) as store:
        service = make(store, Clock(1e5), prefix="new")
        for name, held in EXPECTED.items():
            shown = service.rank(some_candidates(np.random.default_rng(5)), ranker=name)
            assert shown.provenance.fallback is None
            service.record([UserEvent(shown.query_id, shown.object_ids[2])])
            service.flush(name)
            assert service.model(name).lists == held["lists"] + held["open"] + 1
            assert service.replay(shown.query_id).identical
