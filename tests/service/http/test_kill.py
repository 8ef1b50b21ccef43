"""Killed at any moment: nothing acknowledged is lost or counts twice, the weights are the same to the bit."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rankloop.candidate import Candidate, RankedList
from rankloop.client import Client, ClientError
from rankloop.service import RankerSettings
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import COUNTED, SqliteStore
from tests.support.killing import Mortal
from tests.support.life import same, state
from tests.support.serving import click
from tests.support.waiting import wait_until

KILLS = 20
USERS = 4
RULES = RankerSettings(window=0.3)


class Users(threading.Thread):
    """Someone who searches and clicks, sends again what was not acknowledged, and notes what was."""

    def __init__(self, server: Mortal, seed: int, stop: threading.Event) -> None:
        super().__init__()
        self.server, self.stop = server, stop
        self.rng = np.random.default_rng(seed)
        self.acknowledged: list[str] = []
        self.unsure: list[dict[str, object]] = []  # sent, and nothing heard
        self.sent = 0
        self.troubles: list[int] = []

    def run(self) -> None:
        while not self.stop.is_set():
            client = Client(self.server.url, self.server.keys["rank"], retries=0, timeout=60)
            try:
                while not self.stop.is_set():
                    self._search(client)
            except ClientError as error:
                self.troubles.append(error.status)
                time.sleep(0.02)
            finally:
                client.close()

    def _search(self, client: Client) -> None:
        shown = client.rank(
            [Candidate(f"d{i}", {"x": x, "y": i}) for i, x in enumerate(self.rng.random(6).tolist())]
        )
        if not shown.query_id:
            raise ClientError("nobody is there")
        self.unsure += self._clicks(shown)
        for receipt in client.events(self.unsure):
            if receipt["verdict"] in ("accepted", "late", "duplicate"):
                self.acknowledged.append(receipt["event_id"])
        self.unsure = []

    def _clicks(self, shown: RankedList) -> list[dict[str, object]]:
        self.sent += 2
        number = f"{self.name}-{self.sent}"
        first, second = self.rng.choice(list(shown.object_ids), 2, replace=False).tolist()
        return [
            click(shown.query_id, first, event_id=f"{number}-a"),
            click(shown.query_id, second, event_id=f"{number}-b"),
        ]


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of a service that was killed many times, and what it had acknowledged."""
    folder = tmp_path_factory.mktemp("mortal")
    server, stop, rng = Mortal(folder, RULES, snapshot_every=2), threading.Event(), np.random.default_rng(7)
    server.start()
    users = [Users(server, seed, stop) for seed in range(USERS)]
    for user in users:
        user.start()
    for _ in range(KILLS):
        time.sleep(float(rng.uniform(0.05, 0.5)))
        server.kill()
        server.start()
    wait_until(lambda: sum(len(user.acknowledged) for user in users) > 10 * KILLS)
    stop.set()
    for user in users:
        user.join()
    server.kill()
    assert not any(status for user in users for status in user.troubles)  # no answer is all there may be
    return folder, [event for user in users for event in user.acknowledged]


def test_every_acknowledged_event_is_in_the_log_exactly_once(aftermath: tuple[Path, list[str]]) -> None:
    folder, acknowledged = aftermath
    assert len(acknowledged) > 10 * KILLS
    with SqliteStore(folder / "log.db") as store:
        counted = Counter(each.event_id for each in store.read_events("default") if each.verdict in COUNTED)
    assert set(acknowledged) <= counted.keys()
    assert set(counted.values()) == {1}


def test_the_weights_are_those_of_an_uninterrupted_fold_of_the_log(
    aftermath: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, _ = aftermath
    with SqliteStore(folder / "log.db") as store:
        resumed = ServiceFacade(store)
        resumed.tick()
        shutil.copy(folder / "log.db", tmp_path / "log.db")  # its write-ahead log is beside it
        shutil.copy(folder / "log.db-wal", tmp_path / "log.db-wal")
        with sqlite3.connect(tmp_path / "log.db") as copy:
            assert copy.execute("DELETE FROM snapshots").rowcount > 0
        copy.close()
        with SqliteStore(tmp_path / "log.db") as plain:
            folded = ServiceFacade(plain)
            assert folded.model("default").version == resumed.model("default").version
            assert folded.model("default").lists == resumed.model("default").lists > KILLS
            assert same(state(folded, "default"), state(resumed, "default"))


def test_a_service_that_is_asked_to_end_finishes_folds_and_keeps(tmp_path: Path) -> None:
    server = Mortal(tmp_path, RULES, snapshot_every=2)
    server.start()
    with Client(server.url, server.keys["admin"], timeout=60) as client:
        verdicts = [
            client.click(client.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 2.0})]), "b")
            for _ in range(5)
        ]
        assert set(verdicts) <= {"accepted", "late"}  # a busy machine may take longer than the window
        wait_until(lambda: client.models()["lists"] == verdicts.count("accepted"))
    assert server.stop() == 0
    with SqliteStore(tmp_path / "log.db") as store:
        kept = store.load_latest("default")
        assert kept is not None
        assert kept.seq == ServiceFacade(store).ranker("default").fold.position
