"""Schema of the log: tables and indexes, once for SQLite and PostgreSQL.

`impressions`, `events` and `decisions` are the log. What a list holds is in `payloads`, so that counting
lists does not read their features. `head` is one row, the end of the log. All else is a cache of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankloop.service.store.sql.dialect import Dialect
from rankloop.service.store.store import StoreError

VERSION = 1
RANGES = (
    "impressions",
    "payloads",
    "events",
)  # that grow with the log, in the order of locking
JOINED_SQL = "verdict IN ('accepted', 'late', 'not_shown', 'ignored')"
COUNTED_SQL = "verdict IN ('accepted', 'late')"

TABLES = {
    "schema_version": "version INTEGER NOT NULL",
    # past: the first number for which there is no partition yet, where the log has partitions
    "head": """seq INTEGER NOT NULL, at REAL NOT NULL, anchor_at REAL, anchor_clock REAL,
        past INTEGER NOT NULL""",
    "impressions": """seq INTEGER PRIMARY KEY, at REAL NOT NULL, ranker TEXT NOT NULL, query_id TEXT NOT NULL,
        user_query TEXT NOT NULL, client_id TEXT NOT NULL, session_id TEXT NOT NULL, user_id TEXT NOT NULL,
        model INTEGER NOT NULL, settings INTEGER NOT NULL, mode TEXT NOT NULL, policy TEXT NOT NULL,
        seed INTEGER NOT NULL, k INTEGER NOT NULL, shown TEXT NOT NULL, titles TEXT, teaches BOOLEAN NOT NULL,
        fallback TEXT NOT NULL, digest BLOB NOT NULL, pairs INTEGER NOT NULL, settled INTEGER,
        explored INTEGER NOT NULL, cost REAL NOT NULL, parts BLOB""",
    "payloads": """seq INTEGER PRIMARY KEY, dictionary INTEGER NOT NULL, payload BLOB NOT NULL""",
    # ratio: what it made of lists that it had not seen
    "dictionaries": "number INTEGER PRIMARY KEY, data BLOB NOT NULL, ratio REAL NOT NULL",
    "events": """seq INTEGER PRIMARY KEY, at REAL NOT NULL, ranker TEXT NOT NULL, event_id TEXT NOT NULL,
        query_id TEXT NOT NULL, object_id TEXT NOT NULL, action TEXT NOT NULL, verdict TEXT NOT NULL,
        detail TEXT NOT NULL, position INTEGER, list_seq INTEGER, closes_at REAL, ordinal INTEGER,
        occurred_at REAL, client_id TEXT NOT NULL, session_id TEXT NOT NULL, value REAL,
        source TEXT NOT NULL""",
    "decisions": """seq INTEGER PRIMARY KEY, at REAL NOT NULL, ranker TEXT NOT NULL, kind TEXT NOT NULL,
        body TEXT NOT NULL""",
    # digest: of the specification of what was rebuilt; empty for a ranker's own state
    "snapshots": """ranker TEXT NOT NULL, digest TEXT NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL,
        body TEXT NOT NULL, arrays BLOB NOT NULL, layout TEXT NOT NULL, checksum BLOB NOT NULL,
        PRIMARY KEY (ranker, digest, seq)""",
    "blocks": "digest TEXT NOT NULL PRIMARY KEY, data BLOB NOT NULL",
    "snapshot_blocks": """ranker TEXT NOT NULL, digest TEXT NOT NULL, seq INTEGER NOT NULL,
        block TEXT NOT NULL, PRIMARY KEY (ranker, digest, seq, block)""",
    "part_totals": """ranker TEXT NOT NULL, extension TEXT NOT NULL, account INTEGER NOT NULL,
        name TEXT NOT NULL, amounts TEXT NOT NULL, PRIMARY KEY (ranker, extension, account, name)""",
    # sums of buckets of 2 ** shift entries, and the small ones of these that are summed: see bucket_sums
    "list_sums": """ranker TEXT NOT NULL, shift INTEGER NOT NULL, number INTEGER NOT NULL,
        lists INTEGER NOT NULL, clicked INTEGER NOT NULL, reciprocal REAL NOT NULL,
        fallbacks INTEGER NOT NULL, explored INTEGER NOT NULL, cost REAL NOT NULL, pairs INTEGER NOT NULL,
        settled INTEGER NOT NULL, PRIMARY KEY (ranker, shift, number)""",
    "event_sums": """shift INTEGER NOT NULL, number INTEGER NOT NULL, ranker TEXT NOT NULL,
        verdict TEXT NOT NULL, events INTEGER NOT NULL, one_based INTEGER NOT NULL,
        zero_based INTEGER NOT NULL, misplaced INTEGER NOT NULL, ahead INTEGER NOT NULL,
        behind INTEGER NOT NULL, PRIMARY KEY (shift, number, ranker, verdict)""",
    "summed_buckets": "number INTEGER PRIMARY KEY, at REAL NOT NULL",
}
# within a partition, where the log has partitions: no index that spans them can be unique
UNIQUE_INDEXES = {"impressions": "(query_id)", "events": f"(event_id) WHERE {JOINED_SQL}"}
INDEXES = {
    "impressions_by_ranker": "impressions (ranker, seq)",
    "impressions_by_time": "impressions (ranker, at, seq)",
    "impressions_with_parts": "impressions (ranker, seq) WHERE parts IS NOT NULL",
    "events_by_ranker": "events (ranker, seq)",
    "events_by_list": "events (list_seq, position, verdict) WHERE list_seq IS NOT NULL",
    "events_by_source": f"events (ranker, source, at) WHERE source <> '' AND {COUNTED_SQL}",
    "events_by_time": "events (at)",
    "events_by_query": "events (query_id) WHERE list_seq IS NULL",
    "decisions_by_ranker": "decisions (ranker, seq)",
    "decisions_by_kind": "decisions (ranker, kind, seq)",
    "snapshots_by_block": "snapshot_blocks (block)",
    "list_sums_by_number": "list_sums (shift, number)",
    "list_sums_empty": "list_sums (number) WHERE lists = 0",
    "event_sums_empty": "event_sums (number) WHERE events = 0",
    "summed_buckets_by_time": "summed_buckets (at, number)",
}


def create_schema(run: Callable[..., object], dialect: Dialect) -> None:
    """Create the tables, their indexes and the row of `head`."""
    for name, columns in TABLES.items():
        run(dialect.create_table(name, columns, ranges=name in RANGES))
    for name, columns in INDEXES.items():
        run(f"CREATE INDEX {name} ON {columns}")
    run("INSERT INTO schema_version VALUES (:version)", {"version": VERSION})
    run("INSERT INTO head VALUES (0, :at, NULL, NULL, 1)", {"at": float("-inf")})


def check_version(connection: Any, dialect: Dialect) -> None:
    """Refuse a database whose tables are of another version."""
    ((version,),) = dialect.run(connection, "SELECT version FROM schema_version")
    if version != VERSION:
        raise StoreError(
            f"it has version {version}, and this rankloop reads version {VERSION}: "
            f"open it with {'a newer' if version > VERSION else 'an earlier'} rankloop"
        )
