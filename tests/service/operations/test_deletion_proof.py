"""A deletion is done when no byte of a person is left, and pending until then; who is in the way is named."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psycopg
import pytest

from rankloop.candidate import Candidate
from rankloop.policies import PairRank
from rankloop.service import FairSettings, RankerSettings, UserEvent
from rankloop.service.operations.person_removal import remove_people
from rankloop.service.reports.deletion_rules import PATIENCE, about_deletions
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Person, SqliteStore, Store
from rankloop.service.store.postgres import PostgresStore, partition_rewrite, partitions, table_locks
from tests.support.limits import keep_snapshots_every
from tests.support.postgres import Cluster
from tests.support.raw_bytes import hits_in_database, hits_in_folder
from tests.support.waiting import wait_until

frequent_snapshots = keep_snapshots_every(5)

OTTO = Person(client_id="client-of-otto-4711")
SETTINGS = RankerSettings(policy=PairRank(), window=10.0, fair=FairSettings())
BESIDE = 2.0  # seconds that a reader stands in the way
WORDS = (
    *("query-only-otto-asks", "Title only he was shown", "session-of-otto", "group-of-otto"),
    OTTO.client_id,
)


class Place(NamedTuple):
    """A store, and how its bytes are looked through."""

    name: str
    store: Store
    url: str
    hits: Callable[[Collection[str]], list[tuple[str, str]]]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        folder = tmp_path / "data"
        folder.mkdir()
        with SqliteStore(folder / "log.db") as store:
            yield Place("sqlite", store, str(folder / "log.db"), lambda texts: hits_in_folder(folder, texts))
    else:
        cluster: Cluster = request.getfixturevalue("postgres")
        url = cluster.url()
        with PostgresStore(url) as store:
            yield Place("postgres", store, url, lambda texts: hits_in_database(cluster, url, texts))


def live(service: ServiceFacade, rounds: int, *, start: int = 0) -> list[str]:
    """Otto and others ask and click; what only he said, and the ids of his lists and events."""
    rng, his = np.random.default_rng(start), list[str]()
    for number in range(start, start + rounds):
        otto = number % 3 == 0
        group = WORDS[3] if otto else f"group-{number % 2}"
        title = f"{WORDS[1] if otto else 'title'} {number % 5}"
        shown = service.rank(
            [
                Candidate(f"d{i}", {f"f{j}": float(v) for j, v in enumerate(row)}, title=title, group=group)
                for i, row in enumerate(rng.normal(size=(5, 3)))
            ],
            ranker="shop",
            user_query=WORDS[0] if otto else f"query-{number % 7}",
            client_id=OTTO.client_id if otto else f"other-{number}",
            session_id=f"{WORDS[2] if otto else 'session'}-{number}",
        )
        event = f"{'event-of-otto' if otto else 'event'}-{number}-"
        clicked = shown.object_ids[int(rng.integers(4))]
        service.record([UserEvent(shown.query_id, clicked, event_id=event)])
        his += [shown.query_id, event] if otto else []
    service.tick()
    return [*his, *WORDS]


READS = """import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("BEGIN")
file.execute("SELECT count(*) FROM events").fetchall()
print("reading", flush=True)
sys.stdin.read()"""


@contextmanager
def reader(place: Place) -> Iterator[int]:
    """A process that began to read, and stands still; its number."""
    if place.name == "postgres":
        with psycopg.connect(place.url, application_name="nightly report") as idle:
            idle.execute("SELECT count(*) FROM events")
            time.sleep(table_locks.MOMENT)  # a reader that stays
            yield idle.info.backend_pid
        return
    command = [sys.executable, "-c", READS, place.url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"reading\n"
        try:
            yield process.pid
        finally:
            process.kill()


@pytest.fixture
def service(place: Place) -> ServiceFacade:
    found = ServiceFacade(place.store)
    found.create("shop", SETTINGS)
    return found


def test_no_byte_is_left_when_a_deletion_is_done(place: Place, service: ServiceFacade) -> None:
    said = live(service, 60)
    if place.name == "postgres":
        with psycopg.connect(place.url, autocommit=True) as connection:
            connection.execute("ANALYZE")
    assert {text for _, text in place.hits(said)} == set(said), "the search is blind"
    deleted = service.delete_people([OTTO])
    assert (deleted.done, deleted.blockers, deleted.remains) == (True, [], [])
    assert place.hits(said) == []
    assert deleted.not_covered


def test_an_old_snapshot_of_the_database_keeps_nothing(postgres: Cluster) -> None:
    url = postgres.url()
    with PostgresStore(url) as store, psycopg.connect(url) as old:
        service = ServiceFacade(store)
        service.create("shop", SETTINGS)
        said = live(service, 30)
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT 1")  # sees the database as of now for as long as it likes
        assert service.delete_people([OTTO]).done
        assert hits_in_database(postgres, url, said) == []
        old.rollback()


def test_a_reader_is_named_and_nobody_waits_for_it(place: Place, service: ServiceFacade) -> None:
    said = live(service, 30)
    with reader(place) as pid:
        pending = service.delete_people([OTTO])
        assert not pending.done
        assert [each.pid for each in pending.blockers] == [pid]
        assert pending.blockers[0].application
        moment = place.store.time(time.time()) + PATIENCE + 1
        (finding,) = about_deletions(place.store, until=moment)
        assert f"(process {pid}) still reads old files" in finding.sentence
        live(service, 6, start=900)  # lists and events go on
        assert service.find_person(OTTO).lists == 2  # those of now: he came back
        service.finish_deletions()
        assert not service.deletions()[0].done
    service.finish_deletions()
    assert service.deletions()[0].done
    assert list(about_deletions(place.store, until=moment)) == []
    assert place.hits(said[: -len(WORDS)]) == []  # his ids of then


def test_traffic_goes_on_while_a_reader_is_in_the_way(place: Place) -> None:
    """No event is refused, no list is lost, and the deletion goes on by itself when the reader has left."""
    with ServiceFacade(place.store, background=True) as service:
        service.create("shop", SETTINGS)
        said = live(service, 30)
        traffic = Traffic(service)
        with traffic, reader(place) as pid:
            assert not service.delete_people([OTTO]).done
            wait_until(lambda: [each.pid for each in service.deletions()[0].blockers] == [pid])
            time.sleep(BESIDE)
            assert not service.deletions()[0].done
        wait_until(lambda: service.deletions()[0].done)
        assert place.hits(said) == []
        service.ranker("shop").lists.resume()
    assert (traffic.refused, len(traffic.shown)) == ([], traffic.asked)
    logged = {each.query_id for each in place.store.read_impressions("shop")}
    assert traffic.shown <= logged, "a list is not in the log"
    events = {each.query_id for each in place.store.read_events("shop")}
    assert traffic.shown <= events, "an event is not in the log"


class Traffic:
    """Lists and clicks of others, one after another, for as long as it lasts."""

    def __init__(self, service: ServiceFacade) -> None:
        self.asked, self.shown, self.refused = 0, set[str](), list[str]()
        self.longest = 0.0  # seconds that a click took to be durable
        self._service, self._ended = service, threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._ended.wait(0.02):
            self.asked += 1
            try:
                shown = self._service.rank(
                    [Candidate("a", {"x": 1.0}), Candidate("b", {"x": 2.0})],
                    ranker="shop",
                    client_id=f"visitor-{self.asked}",
                )
                began = time.monotonic()
                (receipt,) = self._service.record([UserEvent(shown.query_id, "a")])
                self.longest = max(self.longest, time.monotonic() - began)
                assert receipt.verdict == "accepted"
                self.shown.add(shown.query_id)
            except Exception as error:
                self.refused.append(repr(error))


def test_a_row_that_is_removed_while_tables_are_copied_does_not_come_back(
    postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.url()
    with PostgresStore(url) as store:
        service, anna = ServiceFacade(store), Person(client_id="other-1")
        service.create("shop", SETTINGS)
        said = live(service, 30)
        usual, turns = partition_rewrite.copy_tables, iter([anna, Person(client_id="other-2")])

        def copy(connection: Any, part: int) -> None:
            usual(connection, part)
            if person := next(turns, None):
                remove_people(store, [person], clock=0.0, said={})

        monkeypatch.setattr(partition_rewrite, "copy_tables", copy)
        assert service.delete_people([OTTO]).done
        assert hits_in_database(postgres, url, said) == []
        assert service.find_person(anna).lists == service.find_person(Person(client_id="other-2")).lists == 0
        service.finish_deletions()
        assert all(each.done for each in service.deletions())


def test_retention_behind_a_reader_changes_nothing_and_names_it(
    postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions are made beside a reader, and dropped when it has left."""
    monkeypatch.setattr(partitions, "FEWEST", 15)
    monkeypatch.setattr(partitions, "MOST", 20)
    url, now = postgres.url(), [0.0]
    with PostgresStore(url) as store:
        service = ServiceFacade(store, clock=lambda: now[0])
        service.create("shop", SETTINGS)
        for start in range(0, 60, 6):
            now[0] += 20.0
            live(service, 6, start=start)
        with psycopg.connect(url, application_name="nightly report") as idle:
            idle.execute("SELECT count(*) FROM events")
            time.sleep(table_locks.MOMENT)  # a reader that stays
            now[0] += 20.0
            live(service, 30, start=60)  # in new partitions
            before = len(list(store.read_impressions("shop")))
            kept = service.retain("shop", since=now[0] - 50)
            assert [each.application for each in kept.blockers] == ["nightly report"]
            assert (kept.entries, len(list(store.read_impressions("shop")))) == (0, before)
            live(service, 3, start=90)
        assert service.retain("shop", since=now[0] - 50).entries > 20
        assert service.model("shop").lists == ServiceFacade(store).model("shop").lists


@pytest.mark.parametrize("client", ["shop-window", "price-of-mugs", "xy", "accepted", "größe-ü", "mode\"'x"])
def test_an_id_that_others_say_too_keeps_no_deletion_pending(client: str, tmp_path: Path) -> None:
    """The name of a ranker, of a feature, of a verdict, part of another's id: what is left is theirs."""
    with SqliteStore(tmp_path / "log.db") as store:
        service = ServiceFacade(store)
        service.create("shop-window", reason="accepted by price-of-mugs")
        for number in range(12):
            mine = number % 3 == 0
            shown = service.rank(
                [Candidate("d1", {"price-of-mugs": 1.0 * number}), Candidate("d2", {"price-of-mugs": 2.0})],
                ranker="shop-window",
                client_id=client if mine else f"{client}-{number}",
            )
            service.record([UserEvent(shown.query_id, "d1", event_id=f"settings-{number}{9 * (not mine)}")])
        deleted = service.delete_people([Person(client_id=client)])
        assert (deleted.done, deleted.lists, deleted.remains) == (True, 4, [])
