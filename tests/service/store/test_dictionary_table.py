"""A store makes dictionaries for its payloads, and reads every payload with the one that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankloop.service.store import Impression, Person, SqliteStore, StoreError, write
from rankloop.service.store.payload_dictionary import SAMPLE
from rankloop.service.store.postgres import PostgresStore
from tests.service.store.test_log_laws import damage_list
from tests.service.store.test_payload_dictionary import shop
from tests.support.log_samples import impression, same

Database = SqliteStore | PostgresStore


def add(store: Database, lists: Sequence[Impression]) -> None:
    """Show lists."""
    assert write(store, lambda transaction: transaction.append_all(lists)) == 0


def read(store: Database, sql: str) -> list[tuple[Any, ...]]:
    """Ask the database itself."""
    return store.source.read(lambda run: run(sql, {}))


def renamed(lists: Sequence[Impression], name: str) -> list[Impression]:
    """The same lists under other ids, shown to others."""
    return [
        impression(
            **{field: getattr(each, field) for field in each.__dataclass_fields__}
            | {"query_id": f"{name}{number}", "client_id": f"{name}{number % 9}"}
        )
        for number, each in enumerate(lists)
    ]


@pytest.fixture
def lists() -> list[Impression]:
    return shop(SAMPLE)


def test_a_dictionary_is_made_of_the_first_thousand_lists(store: Database, lists: list[Impression]) -> None:
    add(store, lists[:-1])
    store.improve_compression()
    assert read(store, "SELECT number FROM dictionaries") == []
    add(store, lists[-1:])
    store.improve_compression()
    store.improve_compression()
    assert read(store, "SELECT number FROM dictionaries") == [(1,)]
    later = renamed(lists[:100], "later")
    add(store, later)
    sizes = dict(read(store, "SELECT dictionary, avg(length(payload)) FROM payloads GROUP BY dictionary"))
    assert sizes[1] < 0.6 * float(sizes[0])
    for shown in (lists[0], later[0]):
        found = store.find_impression(shown.query_id)
        assert found is not None
        assert same(found, shown)


def test_a_store_that_is_opened_again_goes_on_with_its_dictionary(
    tmp_path: Path, lists: list[Impression]
) -> None:
    path = tmp_path / "log.db"
    with SqliteStore(path) as store:
        add(store, lists)
        store.improve_compression()
    with SqliteStore(path) as store:
        add(store, renamed(lists[:1], "later"))
        assert read(store, "SELECT max(dictionary) FROM payloads") == [(1,)]
        assert store.find_impression("later0") is not None
    with SqliteStore(path, read_only=True) as store:
        assert store.find_impression("later0") is not None


def test_what_another_process_has_made_is_used_instead(
    make_postgres: Callable[[], PostgresStore], lists: list[Impression]
) -> None:
    one, other = make_postgres(), make_postgres()
    add(one, lists)
    add(other, renamed(lists, "other"))
    one.improve_compression()
    other.improve_compression()
    assert read(one, "SELECT number FROM dictionaries") == [(1,)]
    add(other, renamed(lists[:1], "later"))
    assert read(one, "SELECT dictionary FROM payloads ORDER BY seq DESC LIMIT 1") == [(1,)]
    assert one.find_impression("later0") is not None
    one.close()
    other.close()


def test_a_person_is_removed_without_touching_a_dictionary(store: Database, lists: list[Impression]) -> None:
    """Someone's own product and price are in their lists alone, however many there are."""
    features = lists[0].features.copy()
    features[0] = 0.987654321
    mine = [
        impression(
            query_id=f"mine{number}",
            client_id="me",
            session_id=f"s{number}",
            object_ids=["only-for-me", *lists[0].object_ids[1:]],
            groups=lists[0].groups,
            features=features,
            pinned_at=lists[0].pinned_at,
            order=lists[0].order,
            evidence=lists[0].evidence,
        )
        for number in range(50)
    ]
    add(store, [*lists, *mine])
    store.improve_compression()
    ((before,),) = read(store, "SELECT data FROM dictionaries")
    assert b"only-for-me" not in before
    assert np.float64(0.987654321).tobytes() not in before
    found = store.find_person_entries([Person(client_id="me")])
    numbers = [each.seq for each in found.lists]
    assert len(numbers) == 50
    assert write(store, lambda transaction: transaction.remove_entries(lists=numbers, events=[])) == 50
    assert read(store, "SELECT data FROM dictionaries") == [(before,)]
    assert store.find_impression("q1") is not None


def test_a_list_that_is_damaged_is_left_out_of_a_dictionary(store: Database, lists: list[Impression]) -> None:
    add(store, lists)
    write(store, damage_list(5))
    store.improve_compression()
    assert read(store, "SELECT number FROM dictionaries") == [(1,)]


def test_a_dictionary_that_is_gone_is_named(tmp_path: Path, lists: list[Impression]) -> None:
    path = tmp_path / "log.db"
    with SqliteStore(path) as store:
        add(store, lists)
        store.improve_compression()
        add(store, renamed(lists[:1], "later"))
        store._writer.execute("DELETE FROM dictionaries")
    with (
        SqliteStore(path) as store,
        pytest.raises(StoreError, match="name dictionary 1, which the store does"),
    ):
        store.find_impression("later0")


@pytest.fixture
def make_postgres(request: pytest.FixtureRequest) -> Callable[[], PostgresStore]:
    url = request.getfixturevalue("postgres").url()
    return lambda: PostgresStore(url)
