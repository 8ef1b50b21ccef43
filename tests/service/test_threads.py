"""Many callers at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np

from rankloop.candidate import Candidate
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore, Store
from tests.support.life import make, same, some_candidates, state
from tests.support.limits import keep_snapshots_every
from tests.support.plain import plain_fold

frequent_snapshots = keep_snapshots_every(5)


def test_many_callers_rank_and_click_while_it_learns(store: Store) -> None:
    service = ServiceFacade(store, background=True)
    service.create("shop", RankerSettings(window=0.05))

    def visit(number: int) -> list[str]:
        rng, verdicts = np.random.default_rng(number), list[str]()
        for _ in range(15):
            shown = service.rank(some_candidates(rng), ranker="shop", session_id=f"s{number}")
            assert shown.provenance.fallback is None
            verdicts += [each.verdict for each in service.record([UserEvent(shown.query_id, "d3")])]
        return verdicts

    with ThreadPoolExecutor(8) as pool:
        verdicts = [verdict for found in pool.map(visit, range(8)) for verdict in found]
    time.sleep(0.06)
    service.tick()
    service.close()
    assert service.health().error == ""
    assert len(verdicts) == 120
    assert set(verdicts) <= {"accepted", "late"}  # a busy machine may take longer than the window
    assert service.model("shop").lists == verdicts.count("accepted")
    again = plain_fold(service)
    assert same(again.learned.policy.state(), state(service))


def test_the_same_event_from_many_callers_is_accepted_once(store: Store) -> None:
    service = make(store)
    service.create("shop")
    shown = service.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 0.0})], ranker="shop")
    start = threading.Barrier(8)

    def send(_: int) -> str:
        start.wait()
        return service.record([UserEvent(shown.query_id, "a", event_id="the one")])[0].verdict

    with ThreadPoolExecutor(8) as pool:
        verdicts = sorted(pool.map(send, range(8)))
    assert verdicts == ["accepted", *["duplicate"] * 7]


def test_new_features_from_many_callers_get_one_column_each(store: Store) -> None:
    service = make(store)
    service.create("shop")

    def send(number: int) -> None:
        names = [f"f{(number + each) % 10}" for each in range(5)]
        service.rank([Candidate("a", dict.fromkeys(names, 1.0)), Candidate("b")], ranker="shop")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(40)))
    assert sorted(service.schema("shop")) == sorted(f"f{n}" for n in range(10))
    assert make(store).schema("shop") == service.schema("shop")
    service.flush("shop")
    for shown in store.read_impressions("shop"):
        assert np.isfinite(shown.features[0]).sum() == 5


VISITOR = """
import sys
from pathlib import Path
from rankloop.candidate import Candidate
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import SqliteStore

service = ServiceFacade(SqliteStore(Path(sys.argv[1])), background=True)
service.create("shop", RankerSettings(window=0.02))
number = 0
while True:
    shown = service.rank([Candidate(name, {"x": float(ord(name))}) for name in "abcde"], ranker="shop")
    number += 1
    event = UserEvent(shown.query_id, "abcde"[number % 5])
    (receipt,) = service.record([event])
    sys.stdout.write(f"{receipt.event_id} {receipt.verdict}\\n")
    sys.stdout.flush()
"""


def test_a_killed_service_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    acknowledged: dict[str, str] = {}
    for moment in np.random.default_rng(0).uniform(0.05, 0.4, 4):
        process = subprocess.Popen(
            [sys.executable, "-c", VISITOR, path], stdout=subprocess.PIPE, encoding="utf-8"
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(float(moment))
        process.kill()
        said = (first + process.stdout.read()).splitlines(keepends=True)
        process.stdout.close()
        process.wait()
        acknowledged |= dict(line.split() for line in said if line.endswith("\n"))
        with SqliteStore(path) as store:
            found = [(event.event_id, event.verdict) for event in store.read_events(None)]
            assert len(set(found)) == len(found)
            assert set(acknowledged.items()) <= set(found)
            service = ServiceFacade(store)
            again = plain_fold(service)
            assert same(again.learned.policy.state(), state(service))
            for shown in islice(store.read_impressions("shop"), 0, None, 50):
                assert service.replay(shown.query_id).identical
    assert "accepted" in acknowledged.values()
