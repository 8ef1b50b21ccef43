from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rankloop.errors import DataError
from rankloop.service.extensions.registry import load_registry
from rankloop.service.store import Decision, SqliteStore, Store, TemporaryStore, open_temporary_store
from rankloop.service.store.log_archive import export_log, import_log
from rankloop.service.store.postgres import PostgresStore
from tests.support.log_samples import (
    DECISION,
    EVENT,
    IMPRESSION,
    event,
    impression,
    keep,
    put,
    same,
)


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, DECISION, IMPRESSION, EVENT, impression(query_id="q2", evidence={}, groups=["x", "", "y"]))
    put(store, event(event_id="e2", verdict="orphan", ranker="", position=None, list_seq=None, ordinal=None))
    keep(store, seq=3)
    return store


def open_registered() -> TemporaryStore:
    """A store that knows the parts of all extensions."""
    store = open_temporary_store()
    store.register_parts(load_registry().part_types)
    return store


def check(copy: Store, original: Store) -> None:
    for query_id in ("q1", "q2"):
        one, other = copy.find_impression(query_id), original.find_impression(query_id)
        assert one is not None
        assert other is not None
        assert same(one, other)
        assert one.seq == other.seq
    assert list(copy.read_events(None)) == list(original.read_events(None))
    assert list(copy.read_decisions("shop")) == list(original.read_decisions("shop"))
    assert list(copy.read_totals("shop")) == list(original.read_totals("shop"))
    one_kept, other_kept = copy.load_latest("shop"), original.load_latest("shop")
    assert one_kept is not None
    assert other_kept is not None
    assert one_kept.body == other_kept.body
    assert one_kept.arrays["parameters"].tobytes() == other_kept.arrays["parameters"].tobytes()


def test_json_lines_come_back_to_the_bit(filled: Store, tmp_path: Path) -> None:
    copy = open_registered()
    assert export_log(filled, tmp_path / "log.jsonl") == 6
    assert import_log(tmp_path / "log.jsonl", copy) == 6
    check(copy, filled)


def test_a_log_is_the_same_file_after_a_journey_through_the_other_database(
    store: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    put(store, DECISION, IMPRESSION, EVENT, impression(query_id="q2", evidence={}, groups=["x", "", "y"]))
    put(store, event(event_id="e2", seq=5000, verdict="orphan", ranker="", position=None, list_seq=None))
    keep(store, seq=3)
    other: Store = (
        PostgresStore(request.getfixturevalue("postgres").url())
        if isinstance(store, SqliteStore)
        else open_temporary_store()
    )
    export_log(store, tmp_path / "one.jsonl")
    import_log(tmp_path / "one.jsonl", other)
    export_log(other, tmp_path / "two.jsonl")
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    other.close()


def test_an_exposure_account_comes_back_with_what_retention_carried(filled: Store, tmp_path: Path) -> None:
    rows = [[1, "x", 3, 30, 7_000_000, 6_500_000, -5], [9, "y", 1, 1, 0, 2, 0]]
    body = {"base": 2, "totals": {"fair": rows}}
    put(
        filled,
        Decision(at=20.0, ranker="shop", kind="retain", body=body),
        impression(query_id="q3", parts={}),
    )
    copy = open_registered()
    export_log(filled, tmp_path / "log.jsonl")
    import_log(tmp_path / "log.jsonl", copy)
    check(copy, filled)
    totals = {(each.account, each.name): each.amounts for each in copy.read_totals("shop")}
    assert (totals[1, "x"], totals[9, "y"]) == (tuple(rows[0][2:]), tuple(rows[1][2:]))


def test_the_lines_can_be_read_by_others(filled: Store, tmp_path: Path) -> None:
    export_log(filled, tmp_path / "log.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
    assert [row["entry"] for row in rows] == [
        "decision",
        "impression",
        "event",
        "snapshot",
        "impression",
        "event",
    ]
    assert rows[1]["arrays"]["features"]["values"][:2] == [1.0, None]
    assert [row["verdict"] for row in rows if row["entry"] == "event"] == ["accepted", "orphan"]


def test_where_a_log_begins_comes_back(store: Store, tmp_path: Path) -> None:
    """Also if later snapshots were many: the decision that names the base comes after them in the log."""
    keep(store, seq=100, at=1.0)
    put(store, replace(DECISION, seq=9000, kind="retain", body={"base": 100}))
    for seq in range(1000, 9000, 100):
        keep(store, seq=seq, at=2.0, arrays={})
    kept = [seq for seq, _ in store.list_snapshots("shop")]
    copy = open_registered()
    export_log(store, tmp_path / "log.jsonl")
    import_log(tmp_path / "log.jsonl", copy)
    assert kept[0] == 100
    assert [seq for seq, _ in copy.list_snapshots("shop")] == kept


def test_a_damaged_snapshot_is_left_out(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "log.db") as store:
        put(store, DECISION)
        keep(store, seq=1)
        keep(store, seq=2)
        store._writer.execute("UPDATE snapshots SET body = '' WHERE seq = 1")
        assert export_log(store, tmp_path / "log.jsonl") == 2


def test_entries_of_another_release_are_refused(filled: Store, tmp_path: Path) -> None:
    export_log(filled, tmp_path / "log.jsonl")
    text = (tmp_path / "log.jsonl").read_text("utf-8").replace('"position"', '"place"')
    (tmp_path / "log.jsonl").write_text(text, "utf-8")
    with pytest.raises(DataError, match="entry 3 is not of this release, or damaged"):
        import_log(tmp_path / "log.jsonl", open_registered())


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"entry": "event"}\n')
    with pytest.raises(DataError, match="line 1 is no entry"):
        import_log(tmp_path / "log.jsonl", open_registered())
