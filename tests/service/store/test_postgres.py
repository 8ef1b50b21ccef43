"""What the PostgreSQL store promises beyond the contract: durability, a prefix, partitions, one service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg
import pytest

from rankloop.service.extensions.registry import load_registry
from rankloop.service.store import (
    CommitUnknown,
    GradeScale,
    Job,
    SnapshotDamaged,
    Store,
    StoreError,
    Transaction,
    Verdict,
    open_temporary_store,
    write,
)
from rankloop.service.store.impression_codec import EVENT_COLUMNS, LIST_COLUMNS
from rankloop.service.store.postgres import PostgresStore
from rankloop.service.store.postgres import partitions as schema
from rankloop.service.store.postgres.partitions import KNOWN_VALUES
from rankloop.service.store.postgres.postgres_connections import connect
from rankloop.service.store.sql.log_transaction import LogTransaction, look_up
from tests.service.store.commit_faults import at_commit
from tests.support.log_samples import (
    DECISION,
    EVENT,
    EXPOSURE,
    event,
    impression,
    keep,
    put,
    same,
)
from tests.support.postgres import PASSWORD, Cluster


@pytest.fixture
def store(postgres: Cluster) -> Iterator[PostgresStore]:
    with PostgresStore(postgres.url()) as opened:
        opened.register_parts(load_registry().part_types)
        yield opened


def cut_off(store: PostgresStore) -> None:
    """End the store's connections from outside, as a network or an administrator does."""
    with connect(store._url) as other:
        for pid in (each.info.backend_pid for each in (store._writer, *store.source.idle)):
            other.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


def test_what_is_acknowledged_is_synchronous(postgres: Cluster) -> None:
    """Also where the server, or the address, says otherwise."""
    careless = postgres.url().replace("options=", "options=-csynchronous_commit%3Doff%20")
    with PostgresStore(careless) as store:
        assert store._writer.execute("SHOW synchronous_commit").fetchone() == ("on",)
        assert store.source.run("SHOW synchronous_commit") == [("off",)]  # of those who only read


def test_what_waits_is_written_in_one_transaction(store: PostgresStore) -> None:
    started, go = threading.Event(), threading.Event()

    def slow(transaction: Transaction) -> None:
        transaction.append(DECISION)
        started.set()
        assert go.wait(60)

    futures = [store.submit(slow)]
    assert started.wait(60)  # the writer is busy with a group of one
    assert not store.read_decisions("shop")  # whoever reads neither waits nor sees it
    futures += [
        store.submit(lambda transaction, n=n: transaction.append(event(event_id=f"e{n}")))  # type: ignore[misc]
        for n in range(100)
    ]
    go.set()
    for future in futures:
        future.result()
    assert (store.committer.groups, store.committer.jobs) == (2, 101)


def test_of_two_writers_what_is_visible_is_always_a_prefix(postgres: Cluster) -> None:
    url = postgres.url()
    with PostgresStore(url) as one, PostgresStore(url) as other, ThreadPoolExecutor(4) as pool:

        def work(store: PostgresStore, name: str) -> list[int]:
            return put(store, *(event(event_id=f"{name}{number}") for number in range(50)))

        written = [pool.submit(work, each, f"{n}-") for n, each in enumerate((one, other, one, other))]
        while not all(each.done() for each in written):
            seen = [each.seq for each in other.read_events(None)]
            assert seen == list(range(1, len(seen) + 1))
        numbers = sorted(seq for each in written for seq in each.result())
        assert numbers == list(range(1, 201)) == [each.seq for each in one.read_events("shop")]


def some_job(rng: np.random.Generator, step: int, now: float, before: Store) -> Job[int]:
    """Lists of which some ids were used, events, decisions, and now and then a discarding of old entries."""
    ranker = ("shop", "news")[int(rng.random() < 0.1)]
    if step % 8 < 3:
        own = {"ranker": ranker, "user_query": str(step % 5), "parts": {"fair": EXPOSURE} if step % 3 else {}}
        lists = [impression(query_id=f"q{step // 2}-{n}", at=now, **own) for n in range(3)]
        return lambda transaction: transaction.append_all(lists)
    if step > 40 and step % 24 == 23:
        until, kept = int(before.list_changed_rankers(after=0)[0] * rng.random()), [f"q{step // 2 - 20}-1"]
        return lambda transaction: transaction.remove_before(
            "shop", until=until, shown_before=now - 4, keep=kept
        )
    if step % 24 == 7:
        return lambda transaction: transaction.append(replace(DECISION, at=now))
    verdicts: tuple[Verdict, ...] = ("accepted", "late", "ignored")
    done = event(
        event_id=f"e{step}",
        at=now,
        ranker="" if step % 30 == 5 else ranker,
        verdict=verdicts[rng.integers(3)],
        action=("click", "star")[rng.integers(2)],
        list_seq=int(rng.choice([each.seq for each in before.read_impressions(ranker)] or [0])),
        position=int(2 ** rng.integers(3)),
    )
    return lambda transaction: transaction.append(done)


def everything(store: Store) -> dict[str, Any]:
    """All that can be asked of a store."""
    span: Any = {"since": 0.0, "until": 1e6}
    return {
        "events": list(store.read_events(None)),
        "decisions": [replace(each, body=dict(each.body)) for each in store.read_decisions("shop")],
        "entries": list(store.read_entries("shop")),
        "logged": [each.seq for each in store.read_entries("shop", with_lists=True)],
        "exposures": [list(store.read_totals(ranker)) for ranker in ("shop", "news")],
        "traffic": list(store.statistics.sum_traffic("shop", step=40.0, **span)),
        "parts": list(store.statistics.sum_traffic_parts("shop", parts=4, **span)),
        "tally": store.statistics.count_events(None, **span),
        "grades": store.grades(
            "shop", scale=GradeScale(weights={"star": 1.0, "click": 2.0}, highest=4.0), **span
        ),
        "fair": [(head, part) for head, part, _ in store.read_parts("fair", "shop")],
        "snapshots": [tuple(each) for each in store.list_snapshots("shop")],
        "time": (store.time(5.0), store.lag(5.0)),
    }


def test_partitions_come_and_go_and_nobody_can_tell(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A random life on partitions of a few entries is that of a store in a file, whatever is discarded."""
    monkeypatch.setattr(schema, "FEWEST", 15)
    monkeypatch.setattr(schema, "MOST", 40)
    plain, rng, now = open_temporary_store(), np.random.default_rng(0), 10.0
    plain.register_parts(load_registry().part_types)
    for step in range(240):
        now += float(rng.integers(3))
        job = some_job(rng, step, now, plain)
        assert write(store, job) == write(plain, job)
    assert everything(store) == everything(plain)
    for ranker in ("shop", "news"):
        pairs = zip(store.read_impressions(ranker), plain.read_impressions(ranker), strict=True)
        assert all(one.seq == other.seq and same(one, other) for one, other in pairs)
    ranges = store.source.run("SELECT first, past FROM partitions ORDER BY first")
    assert ranges[0][0] > 1, "no partition was dropped"
    assert len(ranges) > 3
    tables = store.source.run(
        "SELECT count(*) FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE relkind = 'r'"
        " AND relnamespace = current_schema()::regnamespace"
    )
    assert tables == [(3 * len(ranges),)]
    assert store._freed > 0
    assert store.reclaim_space() > 0 == store._freed


def test_a_partition_whose_job_failed_is_made_again(store: PostgresStore) -> None:
    def fails(transaction: Transaction) -> None:
        transaction.append(EVENT)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(store, fails)
    assert store.source.run("SELECT count(*) FROM partitions") == [(0,)]
    assert put(store, EVENT, event(seq=10**9, event_id="e2"), event(event_id="e3")) == [1, 10**9, 10**9 + 1]
    assert store.source.run("SELECT count(*) FROM partitions") == [(2,)]


def test_a_lost_connection_is_told_and_made_again(store: PostgresStore) -> None:
    put(store, EVENT)
    assert len(list(store.read_events("shop"))) == 1
    cut_off(store)
    assert len(list(store.read_events("shop"))) == 1  # asked again, on a new connection
    assert put(store, DECISION) == [2]  # begun again, on another

    def cut_in_the_middle(transaction: Transaction) -> None:
        transaction.append(DECISION)
        cut_off(store)

    with pytest.raises(StoreError, match="nothing could be written") as told:
        write(store, cut_in_the_middle)
    assert not isinstance(told.value, CommitUnknown)
    assert put(store, DECISION) == [3]


def test_a_commit_that_was_cut_off_is_called_neither_written_nor_lost(store: PostgresStore) -> None:
    with at_commit(store, lambda: cut_off(store)), pytest.raises(CommitUnknown, match="not known"):
        put(store, DECISION)
    assert put(store, DECISION) == [1]


def test_events_that_cannot_be_written_harm_no_other(store: PostgresStore) -> None:
    """They are written together with others', and found out before."""
    started, go = threading.Event(), threading.Event()

    def slow(transaction: Transaction) -> None:
        started.set()
        assert go.wait(60)

    def twice(transaction: Transaction) -> object:
        transaction.append(event(event_id="twice"))
        known = transaction.knows("twice")
        transaction.append(DECISION)  # what came before is written, what is of this job can be undone
        transaction.append(event(event_id="never"))
        raise ZeroDivisionError(known)

    busy = store.submit(slow)
    assert started.wait(60)
    records = [event(event_id="one"), event(position=2**63), event(detail="\0"), event(object_id="\ud800")]
    done = [store.submit(lambda transaction, each=each: transaction.append(each)) for each in records]  # type: ignore[misc]
    failed = store.submit(twice)
    last = store.submit(
        lambda transaction: (transaction.knows("twice"), transaction.append(event(event_id="two")))
    )
    go.set()
    assert busy.result() is None
    assert (done[0].result(), last.result()) == (1, (False, 2))
    for each in done[1:]:
        assert isinstance(each.exception(), StoreError | UnicodeError)
    assert failed.exception().args == (True,)  # type: ignore[union-attr]
    assert [each.event_id for each in store.read_events(None)] == ["one", "two"]
    assert not store.read_decisions("shop")


def test_an_error_that_a_job_hides_undoes_that_job_alone(store: PostgresStore) -> None:
    def hides(transaction: Transaction) -> int:
        assert isinstance(transaction, LogTransaction)
        seq = transaction.append(DECISION)
        with suppress(psycopg.DataError):
            transaction.connection.execute("SELECT 1 / 0")
        return seq

    before, hidden, after = (
        store.submit(lambda transaction: transaction.append(DECISION)),
        store.submit(hides),
        store.submit(lambda transaction: transaction.append(DECISION)),
    )
    with pytest.raises(StoreError, match="hid an error"):
        hidden.result()
    assert (before.result(), after.result()) == (1, 2)
    assert [each.seq for each in store.read_decisions("shop")] == [1, 2]


def test_an_exclusive_store_is_had_by_one_at_a_time(postgres: Cluster) -> None:
    url = postgres.url()
    with PostgresStore(url, exclusive=True) as first:
        put(first, DECISION)
        with pytest.raises(StoreError, match="in use by another rankloop process"):
            PostgresStore(url, exclusive=True)
        with PostgresStore(postgres.url(), exclusive=True):  # another schema is another store
            pass
        cut_off(first)
        with PostgresStore(url, exclusive=True) as second:  # it was quicker to come back
            for _ in range(2):
                with pytest.raises(StoreError, match=r"cannot be|closed|in use|terminat"):
                    put(first, DECISION)
            assert put(second, DECISION) == [2]
        assert put(first, DECISION) == [3]


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://anna:{PASSWORD}@127.0.0.1:1/shop",  # nobody listens
        f"postgresql://anna:{PASSWORD}@127.0.0.1:port/shop",
        f"postgresql://anna:/{PASSWORD}@127.0.0.1/shop",  # not encoded
        f"postgresql://anna:@{PASSWORD}@127.0.0.1/shop",
        f"postgresql://anna:{PASSWORD}@127.0.0.1/shop?nonsense={PASSWORD}",
        f"postgresql:/anna:{PASSWORD}@127.0.0.1/shop",
    ],
)
def test_an_address_that_is_wrong_is_told_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match=r"cannot be reached|cannot be read") as told:
        PostgresStore(url)
    error: BaseException | None = told.value
    while error is not None:
        assert PASSWORD not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_the_password_of_a_store_is_not_shown(store: PostgresStore) -> None:
    assert PASSWORD in store._url
    assert PASSWORD not in repr(store)
    assert not any(PASSWORD in thread.name for thread in threading.enumerate())


def test_a_database_from_the_future_is_left_alone(store: PostgresStore) -> None:
    store._writer.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(StoreError, match=r"version 99.*newer rankloop"):
        PostgresStore(store._url)


def test_a_database_that_holds_something_else_is_refused_and_left_as_it_was(postgres: Cluster) -> None:
    url = postgres.url()
    with connect(url) as connection:
        connection.execute("CREATE TABLE events (mine text)")
        with pytest.raises(
            StoreError, match=r'cannot be opened as a store: relation "events" already exists'
        ):
            PostgresStore(url)
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        )
        assert rows.fetchall() == [("events",)]


def test_snapshots_share_blocks_and_damage_is_seen(store: PostgresStore) -> None:
    memory = np.zeros((64, 40, 50))
    for seq in range(1, 12):
        memory[seq] = seq
        arrays = {"weights": np.full(8, float(seq)), "memory": memory.copy()}
        keep(store, seq=seq, at=float(seq), arrays=arrays)
    kept = [seq for seq, _ in store.list_snapshots("shop")]
    used = "SELECT count(*), count(DISTINCT block), (SELECT count(*) FROM blocks) FROM snapshot_blocks"
    ((_, distinct, stored),) = store.source.run(used)
    assert distinct == stored == len(kept) + 2  # four slots each: one changes, one was full, one is empty
    of_the_last = "SELECT block FROM snapshot_blocks GROUP BY block HAVING min(seq) = 11"
    store._writer.execute(f"UPDATE blocks SET data = '\\x00' WHERE digest IN ({of_the_last})")
    with pytest.raises(SnapshotDamaged, match="entry 11 is damaged: a block of 'memory' is not as written"):
        store.load_latest("shop")
    found = store.load_latest("shop", until=10)
    assert found is not None
    assert found.arrays["memory"][10].tolist() == np.full((40, 50), 10.0).tolist()
    assert found.arrays["memory"].flags.writeable
    store._writer.execute("ALTER TABLE blocks RENAME TO away")
    with pytest.raises(StoreError, match="cannot be read") as told:
        store.load_latest("shop")
    assert not isinstance(told.value, SnapshotDamaged)


def test_ids_are_looked_up_in_an_index_also_without_statistics(store: PostgresStore) -> None:
    """So that no commit reads a whole partition, whatever ANALYZE was told not to keep."""
    put(store, impression(query_id="q"), event(event_id="e"))
    many = (("impressions", LIST_COLUMNS, "query_id"), ("events", EVENT_COLUMNS, "event_id"))
    for table, columns, name in many:
        changes = {"seq": "seq + 2 * n", name: f"{name} || n"}
        rows = f"SELECT {', '.join(changes.get(each, each) for each in columns)} FROM {table}"
        store._writer.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) {rows}, generate_series(1, 20000) n"
        )
    store._writer.execute("ANALYZE")
    for count in (1, 50, 99):
        names = {f"{kind}_ids": [f"{kind[0]}{n}" for n in range(count)] for kind in ("event", "query")}
        plan = store.dialect.run(store._writer, f"EXPLAIN {look_up(store.dialect)}", names)
        text = " ".join(line for (line,) in plan)
        assert "Seq Scan" not in text, text
        assert "impressions_1_query_id_idx" in text
        assert "events_1_event_id_idx" in text


def test_analyze_keeps_no_values_about_people(store: PostgresStore) -> None:
    """What `pg_statistic` holds would stay when the rows are gone."""
    people = {"client_id": "anna", "session_id": "monday", "user": "u7"}
    put(store, *(impression(query_id=f"q{n}", user_query="mug", **people) for n in range(50)))
    put(store, *(event(event_id=f"e{n}", client_id="anna", source="hash") for n in range(50)))
    keep(store, seq=1, at=1.0)
    store._writer.execute("ANALYZE")
    kept = store.source.run(
        "SELECT DISTINCT attname FROM pg_stats WHERE schemaname = current_schema()"
        " AND tablename ~ '^(impressions|payloads|events|decisions|snapshots|blocks|snapshot_blocks)'"
    )
    assert ("ranker",) in kept
    assert {name for (name,) in kept} <= KNOWN_VALUES
