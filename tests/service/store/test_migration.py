"""A file of an earlier release opens, and what it says is what it said."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from rankloop.service.store import SqliteStore, pack
from rankloop.service.store.sqlite.schema import STEPS
from tests.support.log_samples import IMPRESSION, put

FIRST = """
    INSERT INTO decisions VALUES (1, 5.0, 'shop', 'settings', '{"settings": {"training": {"part": "replay", "lists": 7}}, "learn_again": true}');
    INSERT INTO decisions VALUES (2, 5.0, 'shop', 'mode', '{"mode": "frozen"}');
    INSERT INTO impressions (seq, at, ranker, query_id, user_query, client_id, session_id, model, settings, mode,
        policy, seed, k, shown, teaches, fallback, digest)
        VALUES (3, 6.0, 'shop', 'q0', '', '', '', 0, 1, 'explore', 'random', 7, 1, '["a"]', 1, '', x'00ff');
    INSERT INTO events VALUES (4, 7.0, 'shop', 'e0', 'q0', 'a', 'click', 'accepted', '', 0, 3, 15.0, 1, NULL, '', '');
    INSERT INTO events VALUES (5, 8.0, '', 'e1', 'q1', 'a', 'click', 'orphan', '', NULL, NULL, NULL, 1, NULL, '', '');
"""  # noqa: E501


def file_of_version(path: Path, version: int) -> Path:
    """A file as a release of that version left it."""
    old = sqlite3.connect(path)
    for statement in (each for step in STEPS[:version] for each in step):
        old.execute(statement)
    old.executescript(FIRST)
    lists = pack({name: getattr(IMPRESSION, name) for name in ("features", "pinned_at", "order")})
    old.execute('INSERT INTO payloads VALUES (3, \'["b", "ü", "a"]\', \'[]\', ?)', (lists,))
    state = pack({"parameters": np.arange(3.0)})
    old.execute("INSERT INTO snapshots VALUES ('shop', 4, 7.0, '{\"version\": 4}', ?)", (state,))
    old.execute(f"PRAGMA user_version = {version}")
    old.commit()
    old.close()
    return path


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_file_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    with SqliteStore(file_of_version(tmp_path / "log.db", version)) as store:
        settings, mode = store.read_decisions("shop")
        assert settings.body == {
            "settings": {"training": {"part": "replay-memory", "lists": 7}},
            "relearn": True,
        }
        assert mode.body == {"mode": "frozen"}
        click, orphan = store.read_events(None)
        assert (click.position, orphan.position) == (1, None)
        (traffic,) = store.sum_traffic("shop", since=0.0, until=10.0, step=10.0)
        assert (traffic.lists, traffic.clicked, traffic.reciprocal, traffic.pairs) == (1, 1, 1.0, 0)
        shown, snapshot = store.find_impression("q0"), store.load_latest("shop")
        assert shown is not None
        assert (shown.shown, shown.digest) == (["a", "ü"], b"")
        assert shown.features.tobytes() == IMPRESSION.features.tobytes()
        assert snapshot is not None
        assert (snapshot.body, snapshot.arrays["parameters"].tolist()) == ({"version": 4}, [0.0, 1.0, 2.0])
        assert put(store, IMPRESSION) == [6]
        assert store._rows("PRAGMA user_version") == [(len(STEPS),)]


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_file_migrates_to_what_a_new_one_is(tmp_path: Path, version: int) -> None:
    def columns(path: Path) -> set[tuple[str, ...]]:
        query = "SELECT m.type, m.name, p.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) p"
        with SqliteStore(path) as store:
            return {tuple(row) for row in store._rows(query)}

    assert columns(file_of_version(tmp_path / "old.db", version)) == columns(tmp_path / "new.db")
