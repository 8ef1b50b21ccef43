"""An open list that an earlier release left in a snapshot is still open."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankloop.service import RankerSettings, UserEvent
from rankloop.service.store import SqliteStore, open_temporary_store, write
from tests.support.faults import settle
from tests.support.life import Clock, make, some_candidates, state
from tests.support.own_policies import Listening


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
    store, clock, rules = open_temporary_store(), Clock(), RankerSettings(policy=Listening(), window=60.0)
    service = make(store, clock, policies=[Listening])
    service.create("shop", rules)
    shown = service.rank(some_candidates(np.random.default_rng(1)), ranker="shop")
    settle(store)
    service.close()
    newer = ("early", "heard_since", "shown_at")
    kept = store.load_latest("shop")
    assert kept is not None
    told = {name: value for name, value in kept.body.items() if name not in newer}
    assert shown.query_id in told["open"]
    older = replace(kept, body=told | {"form": 3})
    write(store, lambda transaction: transaction.delete_snapshots("shop"))
    write(store, lambda transaction: transaction.save_snapshot(older))
    service = make(store, clock, prefix="new", policies=[Listening])
    service.configure("shop", replace(rules, window=180.0))
    clock.now += 120.0
    assert service.record([UserEvent(shown.query_id, shown.object_ids[2])])[0].verdict == "accepted"
    clock.now += 120.0
    service.tick()
    assert int(state(service)["clicked"]) == service.model("shop").lists == 1
    assert service.health().rankers["shop"].early == 0
    assert not caplog.records, "the snapshot was of use"
