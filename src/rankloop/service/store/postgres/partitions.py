"""Partitions of the log in PostgreSQL, by ranges of numbers.

`seq` stays the primary key, every fold reads by it, and since the log's time never goes back a range of
numbers is a range of time. No unique index can span partitions, so each has its own: ids are looked up before
they are written, while nobody else can write.
"""

from __future__ import annotations

from functools import partial

from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.postgres.removals import CREATE_REMOVALS
from rankloop.service.store.postgres.table_locks import lock_tables, refuse_if_read
from rankloop.service.store.sql.bucket_sums import drop_empty_sums, keep_sums, subtract_range
from rankloop.service.store.sql.dialect import PostgresDialect
from rankloop.service.store.sql.log_schema import (
    RANGES,
    TABLES,
    UNIQUE_INDEXES,
    check_version,
    create_schema,
)
from rankloop.service.store.store import StoreError

DIALECT = PostgresDialect()
STORAGE = (  # beside the tables of both databases; compressed already, or numbers
    """CREATE TABLE partitions (
        first bigint PRIMARY KEY, past bigint NOT NULL, since double precision NOT NULL
    )""",
    CREATE_REMOVALS,
    "ALTER TABLE payloads ALTER payload SET STORAGE EXTERNAL",
    "ALTER TABLE dictionaries ALTER data SET STORAGE EXTERNAL",
    "ALTER TABLE blocks ALTER data SET STORAGE EXTERNAL",
)
# of these columns the planner may know values: they are about nobody
KNOWN_VALUES = {"seq", "at", "ranker", "verdict", "list_seq", "position", "kind"}
DAY = 86_400.0  # seconds of the log in a partition, about
FEWEST, MOST = 2**16, 2**24  # entries in a partition


def prepare(connection: Connection, *, create: bool) -> None:
    """Create the tables of a log where there are none; of several processes, one does, the others wait."""
    if not DIALECT.has_table(connection, "schema_version"):
        if not create:
            raise StoreError("it holds no log, and none was to be made")
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('rankloop schema', 0))")
            if not DIALECT.has_table(connection, "schema_version"):
                _create(connection)
    check_version(connection, DIALECT)


def _create(connection: Connection) -> None:
    create_schema(partial(DIALECT.run, connection), DIALECT)
    for statement in STORAGE:
        connection.execute(statement.encode())
    for table in TABLES:
        forget_values(connection, table)


def make_table(connection: Connection, table: str, name: str) -> None:
    """Create a table like one of the log's, with its unique index, to be attached to it as a partition."""
    connection.execute(f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL)")
    if table in UNIQUE_INDEXES:
        connection.execute(f"CREATE UNIQUE INDEX ON {name} {UNIQUE_INDEXES[table]}")
    forget_values(connection, name)


def forget_values(connection: Connection, table: str) -> None:
    """Have ANALYZE keep no values of a table's columns, but of those that are about nobody.

    What it keeps in `pg_statistic` would outlive the rows. A partition does not inherit this.
    """
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        (table,),
    )
    private = [f"ALTER {name} SET STATISTICS 0" for (name,) in rows if name not in KNOWN_VALUES]
    connection.execute(f"ALTER TABLE {table} {', '.join(private)}".encode())


def add_partition(connection: Connection, *, first: int, past: int, since: float) -> None:
    """Make room for the entries from `first` to before `past`.

    Made apart and then attached, for which nobody who reads has to wait.
    """
    for table in RANGES:
        name = f"{table}_{first}"
        make_table(connection, table, name)
        connection.execute(
            f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({past})"
        )
    connection.execute("INSERT INTO partitions VALUES (%s, %s, %s)", (first, past, since))


def drop_partition(connection: Connection, first: int) -> int:
    """Give up a partition with all that is in it; how many bytes that is. `StillRead` if it is read."""
    run, names = partial(DIALECT.run, connection), [f"{table}_{first}" for table in RANGES]
    refuse_if_read(connection, names)
    sizes = [_number(connection, "SELECT pg_total_relation_size(%s::regclass)", name) for name in names]
    past = _number(connection, "SELECT past FROM partitions WHERE first = %s", first)
    losing = f"SELECT DISTINCT list_seq FROM events_{first} WHERE list_seq < :first"
    lists = [seq for (seq,) in run(losing, {"first": first})]
    with keep_sums(run, f"seq {DIALECT.among_numbers('numbers')}", {"numbers": lists}):
        subtract_range(run, first, past)
        lock_tables(connection, [*RANGES, *names])  # as late as possible
        for table, name in zip(RANGES, names, strict=True):
            connection.execute(f"ALTER TABLE {table} DETACH PARTITION {name}")
            connection.execute(f"DROP TABLE {name}")
    drop_empty_sums(run)
    connection.execute("DELETE FROM partitions WHERE first = %s", (first,))
    connection.execute("DELETE FROM removals WHERE part = %s", (first,))
    return sum(sizes)


def next_size(entries: int, seconds: float) -> int:
    """How many entries the next partition is for: about a day, at the pace of the last one.

    >>> next_size(10**6, 86_400 / 4), next_size(100, 86_400), next_size(100, 0.0)
    (4000000, 65536, 16777216)
    """
    return int(min(max(entries * DAY / max(seconds, 1e-9), FEWEST), MOST))


def _number(connection: Connection, query: str, value: object) -> int:
    row = connection.execute(query, (value,)).fetchone()
    return int(row[0]) if row else 0
