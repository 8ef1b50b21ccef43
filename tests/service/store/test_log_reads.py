"""Reads of the log use an index, take one query for many entries, and never read the rest of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from rankloop.service.store import SqliteStore, Store, write
from rankloop.service.store.log_records import Person
from rankloop.service.store.postgres import PostgresStore
from rankloop.service.store.sql.dialect import NO_VALUES, Row, Values
from tests.support.log_samples import DECISION, event, impression, put


@contextmanager
def statements(store: Any) -> Iterator[list[tuple[str, Values]]]:
    """Collect the statements that are run on connections of readers."""
    told: list[tuple[str, Values]] = []
    dialect = store.source.dialect

    class Telling(type(dialect)):  # type: ignore[misc]
        def run(self, connection: Any, sql: str, values: Values = NO_VALUES) -> list[Row]:
            told.append((sql, values))
            found: list[Row] = super().run(connection, sql, values)
            return found

    store.source.dialect = Telling()
    yield told
    store.source.dialect = dialect


def explain(store: Any, sql: str, values: Values) -> str:
    """Return the plan of a statement, without plans of sequential reads where there is an index."""
    if isinstance(store, SqliteStore):
        return "\n".join(str(row[-1]) for row in store.source.run(f"EXPLAIN QUERY PLAN {sql}", values))
    with store._writer.transaction():
        store._writer.execute("SET LOCAL enable_seqscan = off")
        return "\n".join(row[0] for row in store.source.dialect.run(store._writer, f"EXPLAIN {sql}", values))


READS: dict[str, Callable[[Store], object]] = {
    "impressions": lambda store: list(store.read_impressions("shop")),
    "newest impressions": lambda store: list(store.read_impressions("shop", newest=3)),
    "events": lambda store: list(store.read_events("shop")),
    "entries": lambda store: list(store.read_entries("shop", with_lists=True)),
    "parts": lambda store: list(store.read_parts("trial", "shop")),
}


@pytest.mark.parametrize("name", READS)
def test_pages_are_read_in_the_order_of_an_index(store: Store, name: str) -> None:
    """A page that has to be sorted reads the rest of the log, and all pages its square."""
    put(
        store, *(impression(query_id=f"q{n}") for n in range(5)), *(event(event_id=f"e{n}") for n in range(5))
    )
    with statements(store) as told:
        READS[name](store)
    plans = [explain(store, sql, values) for sql, values in told[:4] if "LIMIT" in sql]
    assert plans
    for plan in plans:
        assert "TEMP B-TREE" not in plan, plan
        assert "Sort" not in plan, plan
        assert "SCAN" not in plan, plan


def test_the_newest_lists_are_one_query(store: Store) -> None:
    put(store, *(impression(query_id=f"q{n}") for n in range(120)))
    with statements(store) as told:
        found = [each.query_id for each in store.read_impressions("shop", newest=40)]
    assert found == [f"q{n}" for n in range(119, 79, -1)]
    assert len(told) == 1
    everything = [each.query_id for each in store.read_impressions("shop", newest=1000)]
    assert everything == [f"q{n}" for n in range(119, -1, -1)]


def test_entries_of_many_people_are_two_queries_of_what_is_new(store: Store) -> None:
    """Under the write lock, a deletion of a thousand people must not read the log for each of them."""
    put(store, *(impression(query_id=f"q{n}", client_id=f"c{n}") for n in range(50)))
    head = store.read_head().seq
    put(store, impression(query_id="late", client_id="c3"), event(event_id="e", list_seq=4, client_id=""))
    people = [Person(client_id=f"c{n}") for n in range(40)]
    with statements(store) as told:
        found = store.find_person_entries(people)
        late = store.find_person_entries(people, after=head, found=found)
    assert len(found.lists) == 41
    assert ([each.name for each in late.lists], [each.name for each in late.events]) == (["late"], ["e"])
    looks = [(sql, values) for sql, values in told if "client_id" in sql]
    assert len(looks) == 4
    if isinstance(store, SqliteStore):
        assert all("PRIMARY KEY (rowid>?)" in explain(store, *each) for each in looks)
    else:
        assert isinstance(store, PostgresStore)
        assert all("Index Cond: (seq > " in explain(store, *each) for each in looks)


def test_decisions_of_all_streams_are_one_query(store: Store) -> None:
    other = replace(DECISION, ranker="news", kind="settings")
    service = replace(DECISION, ranker="", kind="key")
    put(store, DECISION, other, service, replace(other, kind="mode"))
    with statements(store) as told:
        assert [each.seq for each in store.read_decisions()] == [1, 2, 3, 4]
        assert [each.seq for each in store.read_decisions(newest=2)] == [4, 3]
        assert [each.seq for each in store.read_decisions(kinds=("mode", "key"), after=1)] == [3, 4]
        assert [each.seq for each in store.read_decisions("news", until=3)] == [2]
        assert [each.ranker for each in store.read_decisions("", newest=9)] == [""]
    assert len(told) == 5


def test_events_that_named_a_list_are_found_by_indexes(store: Store) -> None:
    put(store, impression(query_id="q"), event(event_id="a", query_id="q", list_seq=1))
    put(store, event(event_id="b", query_id="q", verdict="orphan", ranker="", list_seq=None))
    put(store, event(event_id="c", query_id="q", verdict="not_shown", list_seq=1, position=None))
    put(store, event(event_id="d", query_id="other", verdict="orphan", ranker="", list_seq=None))
    with statements(store) as told:
        assert [each.event_id for each in store.find_events(query_id="q")] == ["a", "b", "c"]
    plan = explain(store, *told[0])
    assert "SCAN events" not in plan, plan
    assert "Seq Scan" not in plan, plan


def test_a_transaction_reads_what_it_has_written(store: Store) -> None:
    def job(transaction: Any) -> list[object]:
        transaction.append(impression(query_id="q"))
        transaction.append(event(event_id="a", query_id="q", list_seq=1, client_id="otto"))
        transaction.append(DECISION)
        found = transaction.find_person_entries([Person(client_id="otto")])
        return [
            [each.event_id for each in transaction.find_events(query_id="q")],
            [each.name for each in found.events],
            [each.seq for each in transaction.read_decisions()],
            [each.seq for each in transaction.read_entries("shop")],
            transaction.find_impression("q").seq,
        ]

    assert write(store, job) == [["a"], ["a"], [3], [2, 3], 1]
