"""Schema of the PostgreSQL store, its partitions, and the migrations that bring an older one up to date.

The log is partitioned by ranges of numbers: `seq` stays the primary key, every fold reads by it, and since
the log's time never goes back a range of numbers is a range of time. Each step is applied once, in order, in
a transaction. A step that was released is never changed: a new one follows it.
"""

from __future__ import annotations

from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.postgres.sums import TABLES, drop_events, drop_lists
from rankloop.service.store.store import StoreError

PARTITIONED = ("impressions", "payloads", "events")  # in the order in which everybody locks them
DAY = 86_400.0  # seconds of the log in a partition, about
FEWEST, MOST = 2**16, 2**24  # entries in a partition

# no unique index spans partitions: ids are looked up before they are written, while nobody else can write
STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE head (
            id integer PRIMARY KEY CHECK (id = 1), seq bigint NOT NULL, at double precision NOT NULL,
            anchor_at double precision, anchor_clock double precision,
            past bigint NOT NULL -- the first number for which there is no partition yet
        )""",
        "INSERT INTO head VALUES (1, 0, '-Infinity', NULL, NULL, 1)",
        """CREATE TABLE partitions (
            first bigint PRIMARY KEY, past bigint NOT NULL, since double precision NOT NULL
        )""",
        """CREATE TABLE impressions (
            seq bigint PRIMARY KEY, at double precision NOT NULL, ranker text COLLATE "C" NOT NULL,
            query_id text COLLATE "C" NOT NULL, user_query text COLLATE "C" NOT NULL,
            client_id text COLLATE "C" NOT NULL, session_id text COLLATE "C" NOT NULL,
            model bigint NOT NULL, settings bigint NOT NULL, mode text COLLATE "C" NOT NULL,
            policy text COLLATE "C" NOT NULL, seed bigint NOT NULL, k bigint NOT NULL,
            shown text COLLATE "C" NOT NULL, teaches boolean NOT NULL, fallback text COLLATE "C" NOT NULL,
            digest bytea NOT NULL, pairs bigint NOT NULL, settled bigint, explored bigint NOT NULL,
            cost double precision NOT NULL, exposure jsonb, assignment text, "user" text COLLATE "C" NOT NULL
        ) PARTITION BY RANGE (seq)""",
        "CREATE INDEX ON impressions (query_id)",
        "CREATE INDEX ON impressions (ranker, seq)",
        "CREATE INDEX ON impressions (ranker, at, seq)",
        "CREATE INDEX ON impressions (ranker, seq) WHERE assignment IS NOT NULL",
        # apart from the above, so that counting lists does not read their features
        """CREATE TABLE payloads (
            seq bigint PRIMARY KEY, object_ids text NOT NULL, groups text NOT NULL, arrays bytea NOT NULL,
            recommended text
        ) PARTITION BY RANGE (seq)""",
        "ALTER TABLE payloads ALTER arrays SET STORAGE EXTERNAL",  # numbers hardly become smaller
        """CREATE TABLE events (
            seq bigint PRIMARY KEY, at double precision NOT NULL, ranker text COLLATE "C" NOT NULL,
            event_id text COLLATE "C" NOT NULL, query_id text COLLATE "C" NOT NULL,
            object_id text COLLATE "C" NOT NULL, action text COLLATE "C" NOT NULL,
            verdict text COLLATE "C" NOT NULL, detail text COLLATE "C" NOT NULL, position bigint,
            list_seq bigint, closes_at double precision, ordinal bigint, occurred_at double precision,
            client_id text COLLATE "C" NOT NULL, session_id text COLLATE "C" NOT NULL, value double precision
        ) PARTITION BY RANGE (seq)""",
        """CREATE INDEX ON events (event_id)
            WHERE verdict IN ('accepted', 'late', 'not_shown', 'ignored')""",
        "CREATE INDEX ON events (ranker, seq)",
        "CREATE INDEX ON events (list_seq, position) WHERE verdict IN ('accepted', 'late')",
        "CREATE INDEX ON events (at)",
        "CREATE INDEX ON events (query_id)",
        """CREATE TABLE decisions (
            seq bigint PRIMARY KEY, at double precision NOT NULL, ranker text COLLATE "C" NOT NULL,
            kind text COLLATE "C" NOT NULL, body text NOT NULL
        )""",
        "CREATE INDEX ON decisions (ranker, seq)",
        "CREATE INDEX ON decisions (ranker, kind, seq)",
        """CREATE TABLE snapshots (
            ranker text COLLATE "C" NOT NULL, seq bigint NOT NULL, at double precision NOT NULL,
            body text NOT NULL, arrays bytea NOT NULL, layout text NOT NULL, digest bytea NOT NULL,
            PRIMARY KEY (ranker, seq)
        )""",
        """CREATE TABLE blocks (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, digest bytea NOT NULL UNIQUE,
            data bytea NOT NULL
        )""",
        "ALTER TABLE blocks ALTER data SET STORAGE EXTERNAL",
        """CREATE TABLE snapshot_blocks (
            ranker text COLLATE "C" NOT NULL, seq bigint NOT NULL, block bigint NOT NULL,
            PRIMARY KEY (ranker, seq, block)
        )""",
        "CREATE INDEX ON snapshot_blocks (block)",
        """CREATE TABLE exposures (
            ranker text COLLATE "C" NOT NULL, account bigint NOT NULL, name text COLLATE "C" NOT NULL,
            lists bigint NOT NULL, candidates bigint NOT NULL, granted bigint NOT NULL, due bigint NOT NULL,
            lapsed bigint NOT NULL, PRIMARY KEY (ranker, account, name)
        )""",
    ),
    (  # which search a list belongs to under a promise
        "ALTER TABLE impressions ADD COLUMN promised text",
    ),
    TABLES,  # sums for the pages, by buckets of entries
    (  # where events came from
        """ALTER TABLE events ADD COLUMN source text COLLATE "C" NOT NULL DEFAULT ''""",
        """CREATE INDEX ON events (ranker, source, at)
            WHERE source <> '' AND verdict IN ('accepted', 'late')""",
    ),
    (  # what callers call the results, for people
        "ALTER TABLE impressions ADD COLUMN titles text",
    ),
)


def is_there(connection: Connection) -> bool:
    """Whether this schema holds a store."""
    ((found,),) = connection.execute("SELECT to_regclass('schema_version') IS NOT NULL")
    return bool(found)


def migrate(connection: Connection) -> None:
    """Bring a schema to the newest version; of several processes, one does, and the others wait for it."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('rankloop schema', 0))")
        connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)")
        version = _version(connection)
        if version > len(STEPS):
            raise StoreError(
                f"this database has version {version}, this rankloop knows versions up to {len(STEPS)}: "
                "open it with a newer rankloop"
            )
        for step in STEPS[version:]:
            connection.execute("; ".join(step))
        connection.execute("DELETE FROM schema_version")
        connection.execute("INSERT INTO schema_version VALUES (%s)", (len(STEPS),))


def add_partition(connection: Connection, *, first: int, past: int, since: float) -> None:
    """Make room for the entries from `first` to before `past`.

    Made apart and then attached, for which nobody who reads has to wait.
    """
    for table in PARTITIONED:
        name = f"{table}_{first}"
        connection.execute(f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL)")
        connection.execute(
            f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({past})"
        )
    connection.execute("INSERT INTO partitions VALUES (%s, %s, %s)", (first, past, since))


def drop_partition(connection: Connection, first: int) -> int:
    """Give up a partition with all that is in it; how many bytes that is."""
    names = [f"{table}_{first}" for table in PARTITIONED]
    sizes = [_number(connection, "SELECT pg_total_relation_size(%s::regclass)", name) for name in names]
    for table, name in zip(PARTITIONED, names, strict=True):
        connection.execute(f"ALTER TABLE {table} DETACH PARTITION {name}")
        subtract = {"impressions": drop_lists, "events": drop_events}.get(table)
        if subtract:
            subtract(connection, name)
        connection.execute(f"DROP TABLE {name}")
    connection.execute("DELETE FROM partitions WHERE first = %s", (first,))
    return sum(sizes)


def next_size(entries: int, seconds: float) -> int:
    """How many entries the next partition is for: about a day, at the pace of the last one.

    >>> next_size(10**6, 86_400 / 4), next_size(100, 86_400), next_size(100, 0.0)
    (4000000, 65536, 16777216)
    """
    return int(min(max(entries * DAY / max(seconds, 1e-9), FEWEST), MOST))


def _version(connection: Connection) -> int:
    row = connection.execute("SELECT version FROM schema_version").fetchone()
    return 0 if row is None else int(row[0])


def _number(connection: Connection, query: str, value: object) -> int:
    row = connection.execute(query, (value,)).fetchone()
    return int(row[0]) if row else 0
