"""Rewriting of tables without waiting: a copy of what is left takes the place of the old files.

PostgreSQL leaves removed rows in its files, and behind an old snapshot even VACUUM FULL does. So what is left
is copied into tables beside, while everybody reads and writes. Then, under the lock of `head`, what was
written meanwhile is added, and the copies take the place of the old tables, whose files are deleted. A reader
inside an old table makes the swap give up after a moment; it is named, and the swap is tried again later.
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from rankloop.service.store.byte_search import ByteSearch
from rankloop.service.store.postgres.partitions import forget_values, make_table
from rankloop.service.store.postgres.postgres_connections import Connection, take_lock
from rankloop.service.store.postgres.removals import DECISIONS, SNAPSHOTS, find_outdated, read_removals
from rankloop.service.store.purge import PERSONAL, Blocker, PurgeOutcome, RemovedTexts
from rankloop.service.store.sql.log_schema import RANGES

LOCK_TIMEOUT = "100ms"  # that others may have to queue behind a swap which waits for a reader
HEAD_TIMEOUT = "2s"  # to wait for the commit at hand
MOMENT = 1.0  # seconds after which a reader counts as one that stays
COPIES = 3  # made in one go, if removals make the one before outdated
SUFFIX = "_copy"
OTHERS = {DECISIONS: ("decisions",), SNAPSHOTS: ("snapshots", "snapshot_blocks", "blocks")}
# without the right to see the sessions of other roles, PostgreSQL tells their numbers only
HOLDERS = """WITH held AS (
        SELECT to_regclass(name)::oid AS oid FROM unnest(%(tables)s::text[]) name
        UNION SELECT inhparent FROM pg_inherits, unnest(%(tables)s::text[]) name
            WHERE inhrelid = to_regclass(name))
    SELECT DISTINCT coalesce(locks.pid, 0), coalesce(nullif(application_name, ''), backend_type, ''),
        extract(epoch FROM xact_start)::double precision
    FROM pg_locks locks LEFT JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'relation' AND granted AND locks.pid IS DISTINCT FROM pg_backend_pid()
        AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND relation IN (SELECT oid FROM held)
        AND coalesce(clock_timestamp() - xact_start >= %(seconds)s * interval '1 second', true)
    ORDER BY 3, 1"""


def purge_tables(connection: Connection, texts: RemovedTexts | None) -> PurgeOutcome:
    """Rewrite all tables that rows were removed from, unless they are read; then look into statistics."""
    if not take_lock(connection, "rewrite"):
        return PurgeOutcome(remains=("tables that another process rewrites",))
    connection.execute(f"SET lock_timeout = '{HEAD_TIMEOUT}'")
    left: list[str] = []
    for part in find_outdated(connection):
        if not rewrite_partition(connection, part):
            left += tables_of(part)
    known = find_in_statistics(connection, texts) if texts else []
    return PurgeOutcome(blockers=find_blockers(connection, left), remains=(*left, *known))


def rewrite_partition(connection: Connection, part: int) -> bool:
    """Replace the tables of a partition, or of another group, by copies; False: not now.

    The connection must be outside a transaction.
    """
    if find_blockers(connection, tables_of(part), seconds=MOMENT):
        return False  # the copy would be for nothing
    try:
        drop_copies(connection)
        for _ in range(COPIES):
            removed = read_removals(connection, part)
            copy_tables(connection, part)
            catch_up(connection, part)  # so that little is left to do under the lock
            if swap_tables(connection, part, removed):
                return True
    except psycopg.errors.LockNotAvailable:
        drop_copies(connection)
        return False
    except psycopg.errors.UndefinedTable:  # the partition was dropped meanwhile
        return part not in find_outdated(connection)
    return False


def swap_tables(connection: Connection, part: int, removed: int) -> bool:
    """Put the copies in the place of the tables; False: rows were removed since they were made."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{HEAD_TIMEOUT}'")
        connection.execute("SELECT 1 FROM head FOR UPDATE")  # as each transaction that writes does
        if read_removals(connection, part) != removed:
            return False
        catch_up(connection, part)
        _swap(connection, part)
        connection.execute("UPDATE removals SET rewritten = %s WHERE part = %s", (removed, part))
    return True


def find_all_blockers(connection: Connection) -> tuple[Blocker, ...]:
    """Return the sessions that read tables which are to be rewritten."""
    tables = [name for part in find_outdated(connection) for name in tables_of(part)]
    return find_blockers(connection, tables)


def find_blockers(
    connection: Connection, tables: Sequence[str], *, seconds: float = 0.0
) -> tuple[Blocker, ...]:
    """Return the sessions that have held a lock on these tables, or on their parents, for so long."""
    rows = connection.execute(HOLDERS, {"tables": list(tables), "seconds": seconds})
    return tuple(Blocker(pid=pid, application=name, since=since) for pid, name, since in rows)


def find_in_statistics(connection: Connection, texts: RemovedTexts) -> list[str]:
    """Return the columns of which the planner knows one of these texts."""
    search = ByteSearch(texts.all)
    rows = connection.execute(
        """SELECT tablename, attname, concat(most_common_vals::text, histogram_bounds::text) FROM pg_stats
        WHERE schemaname = current_schema() AND attname = ANY(%s)""",
        (list(PERSONAL),),
    )
    return [
        f"statistics of {table}.{column}"
        for table, column, values in rows
        if any(search.find(values.encode()))
    ]


def tables_of(part: int) -> tuple[str, ...]:
    """Return the tables of a group.

    >>> tables_of(65537)
    ('impressions_65537', 'payloads_65537', 'events_65537')
    """
    return OTHERS.get(part) or tuple(f"{table}_{part}" for table in RANGES)


def copy_tables(connection: Connection, part: int) -> None:
    """Copy the rows of a group into tables beside it, made as those were made."""
    bounds = _bounds(connection, part)
    for number, table in enumerate(tables_of(part)):
        copy = f"{table}{SUFFIX}"
        connection.execute(f"DROP TABLE IF EXISTS {copy}")
        if bounds:
            make_table(connection, RANGES[number], copy)
            within = f"seq >= {bounds[0]} AND seq < {bounds[1]}"  # so that ATTACH need not look at all rows
            connection.execute(f"ALTER TABLE {copy} ADD CONSTRAINT {copy}_bounds CHECK ({within})")
        else:
            connection.execute(f"CREATE TABLE {copy} (LIKE {table} INCLUDING ALL)")
            forget_values(connection, copy)
        connection.execute(f"INSERT INTO {copy} SELECT * FROM {table}")


def drop_copies(connection: Connection) -> None:
    """Drop copies that a killed process left: they may hold what was removed since."""
    rows = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        " AND relname LIKE %s",
        (f"%\\{SUFFIX}",),
    ).fetchall()
    for (name,) in rows:
        connection.execute(f"DROP TABLE {name}")


def lock_tables(connection: Connection, tables: Sequence[str]) -> None:
    """Take tables for oneself, or raise `LockNotAvailable` after a moment."""
    connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
    connection.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")


def catch_up(connection: Connection, part: int) -> None:
    """Add the rows that were written since the copy: entries have higher numbers, snapshots other keys."""
    for table in tables_of(part):
        copy = f"{table}{SUFFIX}"
        fresh = f"WHERE seq > (SELECT coalesce(max(seq), 0) FROM {copy})"
        chosen = "ON CONFLICT DO NOTHING" if part == SNAPSHOTS else fresh
        connection.execute(f"INSERT INTO {copy} SELECT * FROM {table} {chosen}")


def _swap(connection: Connection, part: int) -> None:
    tables, bounds = tables_of(part), _bounds(connection, part)
    lock_tables(connection, [*(RANGES if bounds else ()), *tables])
    for number, table in enumerate(tables):
        copy = f"{table}{SUFFIX}"
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"ALTER TABLE {copy} RENAME TO {table}")
        if bounds:
            first, past = bounds
            connection.execute(
                f"ALTER TABLE {RANGES[number]} ATTACH PARTITION {table} FOR VALUES FROM ({first}) TO ({past})"
            )
            connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {copy}_bounds")


def _bounds(connection: Connection, part: int) -> tuple[int, int] | None:
    """Return the numbers of a partition: its first, and the one past its last."""
    row = connection.execute("SELECT first, past FROM partitions WHERE first = %s", (part,)).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))
