"""A search in the bytes of a file leaves it to its writer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rankloop.service.store import Decision, SqliteStore, write
from rankloop.service.store.purge import RemovedTexts
from tests.support.internals import copied

OTHER = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM head'); c.close()"


def test_what_is_written_after_a_search_outlives_a_kill_also_beside_another_process(tmp_path: Path) -> None:
    """Whoever closes a file drops the locks on it: another process would delete the write-ahead log."""
    path = tmp_path / "log.db"
    with SqliteStore(path) as store:
        write(store, lambda log: log.append(Decision(at=0.0, ranker="shop", kind="flush")))
        store.purge_deleted(RemovedTexts(ids=frozenset({b"somebody-of-long-ago"}), words=frozenset()))
        subprocess.run([sys.executable, "-c", OTHER, str(path)], check=True, timeout=60)
        write(store, lambda log: log.append(Decision(at=1.0, ranker="shop", kind="flush")))
        left = copied(path, tmp_path / "killed.db")
        with SqliteStore(left) as after:
            assert len(after.read_decisions("shop")) == 2
