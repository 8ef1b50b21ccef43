"""A deletion is done when no byte of a person is left, and pending until then; who is in the way is named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psycopg
import pytest

from rankloop.candidate import Candidate
from rankloop.policies import PairRank
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Person, SqliteStore, Store
from rankloop.service.store.postgres import PostgresStore
from tests.support.postgres import Cluster
from tests.support.raw_bytes import hits_in_database, hits_in_folder

OTTO = Person(client_id="client-of-otto-4711")
SETTINGS = RankerSettings(policy=PairRank(), window=10.0, snapshot_every=5)
WORDS = (
    "query-only-otto-asks",
    "Title only he was shown",
    "session-of-otto",
    "client-of-otto",
    "user-otto-7",
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
        title = f"{WORDS[1] if otto else 'title'} {number % 5}"
        shown = service.rank(
            [
                Candidate(f"d{i}", {f"f{j}": float(v) for j, v in enumerate(row)}, title=title)
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
    return [*his, *WORDS[:4]]


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
        live(service, 6, start=900)  # lists and events go on
        assert service.find_person(OTTO).lists == 2  # those of now: he came back
        service.finish_deletions()
        assert not service.deletions()[0].done
    service.finish_deletions()
    assert service.deletions()[0].done
    assert place.hits(said[:-4]) == []  # his ids of then
