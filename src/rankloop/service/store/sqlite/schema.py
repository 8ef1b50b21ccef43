"""Schema of the SQLite store, and the migrations that bring an older file up to date.

Each step is applied once, in order, in a transaction; `PRAGMA user_version` says how many were. A step that
was released is never changed: a new one follows it.
"""

from __future__ import annotations

import sqlite3

from rankloop.service.store.sqlite.sums import TABLES
from rankloop.service.store.store import StoreError

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE impressions (
            seq INTEGER PRIMARY KEY, at REAL NOT NULL, ranker TEXT NOT NULL, query_id TEXT NOT NULL UNIQUE,
            user_query TEXT NOT NULL, client_id TEXT NOT NULL, session_id TEXT NOT NULL,
            model INTEGER NOT NULL, settings INTEGER NOT NULL, mode TEXT NOT NULL, policy TEXT NOT NULL,
            seed INTEGER NOT NULL, k INTEGER NOT NULL, shown TEXT NOT NULL, teaches INTEGER NOT NULL,
            fallback TEXT NOT NULL, digest BLOB NOT NULL
        ) STRICT""",
        "CREATE INDEX impressions_by_time ON impressions (ranker, at)",
        # apart from the above, so that counting lists does not read their features
        """CREATE TABLE payloads (
            seq INTEGER PRIMARY KEY, object_ids TEXT NOT NULL, groups TEXT NOT NULL, arrays BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE events (
            seq INTEGER PRIMARY KEY, at REAL NOT NULL, ranker TEXT NOT NULL, event_id TEXT NOT NULL,
            query_id TEXT NOT NULL, object_id TEXT NOT NULL, action TEXT NOT NULL, verdict TEXT NOT NULL,
            detail TEXT NOT NULL, place INTEGER, list_seq INTEGER, closes_at REAL, ordinal INTEGER,
            occurred_at REAL, client_id TEXT NOT NULL, session_id TEXT NOT NULL
        ) STRICT""",
        """CREATE UNIQUE INDEX events_by_id ON events (event_id)
            WHERE verdict IN ('accepted', 'late', 'not_shown', 'ignored')""",
        "CREATE INDEX events_by_ranker ON events (ranker, seq)",
        """CREATE TABLE decisions (
            seq INTEGER PRIMARY KEY, at REAL NOT NULL, ranker TEXT NOT NULL, kind TEXT NOT NULL,
            body TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX decisions_by_ranker ON decisions (ranker, seq)",
        """CREATE TABLE snapshots (
            ranker TEXT NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, body TEXT NOT NULL,
            arrays BLOB NOT NULL, PRIMARY KEY (ranker, seq)
        ) STRICT""",
    ),
    (  # what the pages count
        "ALTER TABLE impressions ADD COLUMN pairs INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE impressions ADD COLUMN settled INTEGER",
        "ALTER TABLE impressions ADD COLUMN explored INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE impressions ADD COLUMN cost REAL NOT NULL DEFAULT 0",
        """CREATE INDEX events_by_list ON events (list_seq, place)
            WHERE verdict IN ('accepted', 'late')""",
        "CREATE INDEX events_by_time ON events (at)",
        "CREATE INDEX events_by_query ON events (query_id)",
    ),
    (  # positions count from 1, other words for other things, and answers of a form no digest knew
        "ALTER TABLE events RENAME COLUMN place TO position",
        "UPDATE events SET position = position + 1 WHERE position IS NOT NULL",
        """UPDATE decisions SET body = replace(body, '"learn_again":', '"relearn":')
            WHERE kind = 'settings' AND instr(body, '"learn_again":')""",
        *(
            f"""UPDATE {table} SET body = replace(body, '"part": "replay",', '"part": "replay-memory",')
                WHERE instr(body, '"part": "replay",')"""
            for table in ("decisions", "snapshots")
        ),
        "UPDATE impressions SET digest = x''",
    ),
    (  # a clock that is behind the log: at most one row
        """CREATE TABLE clock (
            id INTEGER PRIMARY KEY CHECK (id = 1), at REAL NOT NULL, clock REAL NOT NULL
        ) STRICT""",
        # where the log ended when entries were last discarded: its numbers and its time never go back
        """CREATE TABLE discarded (
            id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, at REAL NOT NULL
        ) STRICT""",
        "CREATE INDEX decisions_by_kind ON decisions (ranker, kind, seq)",
    ),
    (  # what snapshots have in common is stored once
        "ALTER TABLE snapshots ADD COLUMN layout TEXT",
        "ALTER TABLE snapshots ADD COLUMN digest BLOB",
        """CREATE TABLE blocks (
            id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE snapshot_blocks (
            ranker TEXT NOT NULL, seq INTEGER NOT NULL, block INTEGER NOT NULL,
            PRIMARY KEY (ranker, seq, block)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX snapshots_by_block ON snapshot_blocks (block)",
    ),
    (  # how much users did: stars, seconds, money
        "ALTER TABLE events ADD COLUMN value REAL",
    ),
    (  # what lists gave to groups, and the sums of it
        "ALTER TABLE impressions ADD COLUMN exposure TEXT",
        """CREATE TABLE exposures (
            ranker TEXT NOT NULL, account INTEGER NOT NULL, name TEXT NOT NULL, lists INTEGER NOT NULL,
            candidates INTEGER NOT NULL, granted INTEGER NOT NULL, due INTEGER NOT NULL,
            lapsed INTEGER NOT NULL, PRIMARY KEY (ranker, account, name)
        ) STRICT, WITHOUT ROWID""",
    ),
    (  # who asked; what is known of them is among the arrays of a list
        "ALTER TABLE impressions ADD COLUMN user TEXT NOT NULL DEFAULT ''",
    ),
    (  # what a recommender knew that chose the candidates
        "ALTER TABLE payloads ADD COLUMN recommended TEXT",
    ),
    (  # which arm of a trial a list belongs to
        "ALTER TABLE impressions ADD COLUMN assignment TEXT",
        "CREATE INDEX impressions_by_trial ON impressions (ranker, seq) WHERE assignment IS NOT NULL",
    ),
    (  # which search a list belongs to under a promise
        "ALTER TABLE impressions ADD COLUMN promised TEXT",
    ),
    TABLES,  # sums for the pages, by buckets of entries
    (  # where events came from
        "ALTER TABLE events ADD COLUMN source TEXT NOT NULL DEFAULT ''",
        """CREATE INDEX events_by_source ON events (ranker, source, at)
            WHERE source != '' AND verdict IN ('accepted', 'late')""",
    ),
    (  # what callers call the results, for people
        "ALTER TABLE impressions ADD COLUMN titles TEXT",
    ),
)


def check_version(connection: sqlite3.Connection) -> None:
    """Refuse a file that would have to be changed before it can be read."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != len(STEPS):
        raise StoreError(
            f"this file has version {version}, this rankloop reads version {len(STEPS)}: "
            "start its service once with this rankloop, or use the one it was written with"
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file to the newest version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(STEPS):
        raise StoreError(
            f"this file has version {version}, this rankloop knows versions up to {len(STEPS)}: "
            "open it with a newer rankloop"
        )
    for number, step in enumerate(STEPS[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        for statement in step:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
