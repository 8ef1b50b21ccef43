"""A data folder of an earlier release opens, and holds to the bit what it held.

The file beside this test was written by the release whose stores have version 2: two rankers, one of them
with its beginning discarded, settings that were learned again, and a list that is still open.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankloop.service import RankerSettings, RankingService, UserEvent
from rankloop.store import SqliteStore
from tests.service.life import Clock, make, some_candidates, state

DATA = Path(__file__).parent / "data"
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
                assert found == held["digest"], name


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
