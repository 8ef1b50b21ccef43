"""Rewriting of tables without waiting: a copy of what is left takes the place of the old files.

PostgreSQL leaves removed rows in its files, and behind an old snapshot even VACUUM FULL does. So what is left
is copied into tables beside, while everybody reads and writes. Then, under the lock of `head`, what was
written meanwhile is added, and the copies take the place of the old tables, whose files are deleted. A reader
inside an old table makes the swap give up after a moment; it is named, and the swap is tried again later.
"""

from __future__ import annotations

import psycopg

from rankloop.service.store.byte_search import ByteSearch
from rankloop.service.store.postgres.partitions import make_table
from rankloop.service.store.postgres.postgres_connections import Connection, take_lock
from rankloop.service.store.postgres.removals import (
    find_outdated,
    read_removals,
)
from rankloop.service.store.postgres.table_locks import MOMENT, find_blockers, lock_tables, refuse_if_read
from rankloop.service.store.purge import PERSONAL, Blocker, PurgeOutcome, RemovedTexts
from rankloop.service.store.sql.log_schema import RANGES
from rankloop.service.store.sql.writer_backend import DECISIONS, SNAPSHOTS, TOTALS
from rankloop.service.store.store import StillRead

HEAD_TIMEOUT = "2s"  # to wait for the commit at hand
COPIES = 3  # made in one go, if removals make the one before outdated
SUFFIX = "_copy"
OTHERS = {
    DECISIONS: ("decisions",),
    SNAPSHOTS: ("snapshots", "snapshot_blocks", "blocks"),
    TOTALS: ("part_totals",),  # the name of a group may tell of someone
}


def purge_tables(connection: Connection, texts: RemovedTexts | None) -> PurgeOutcome:
    """Rewrite all tables that rows were removed from, unless they are read; then look into statistics."""
    if not take_lock(connection, "rewrite"):
        return PurgeOutcome(remains=("tables that another process rewrites",))
    connection.execute(f"SET lock_timeout = '{HEAD_TIMEOUT}'")
    left = drop_copies(connection)  # which a killed process left: they may hold what was removed since
    for part in find_outdated(connection):
        if not (rewrite_tables if part in OTHERS else rewrite_partition)(connection, part):
            left += tables_of(part)
    known = find_in_statistics(connection, texts) if texts else []
    return PurgeOutcome(blockers=find_blockers(connection, left), remains=(*left, *known))


def rewrite_partition(connection: Connection, part: int) -> bool:
    """Replace the tables of a partition by copies; False: not now.

    The connection must be outside a transaction.
    """
    try:
        refuse_if_read(connection, tables_of(part))  # the copy would be for nothing
        for _ in range(COPIES):
            removed = read_removals(connection, part)
            copy_tables(connection, part)
            catch_up(connection, part)  # so that little is left to do under the lock
            if swap_tables(connection, part, removed):
                return True
    except (StillRead, psycopg.errors.LockNotAvailable):
        pass
    except psycopg.errors.UndefinedTable:  # the partition was dropped meanwhile
        return part not in find_outdated(connection)
    drop_copies(connection)
    return False


def swap_tables(connection: Connection, part: int, removed: int) -> bool:
    """Put the copies in the place of the tables; False: rows were removed since they were made."""
    with connection.transaction():
        _lock_head(connection)
        if read_removals(connection, part) != removed:
            return False
        catch_up(connection, part)
        first, past = _bounds(connection, part)
        tables = tables_of(part)
        lock_tables(connection, [*RANGES, *tables])
        for parent, table in zip(RANGES, tables, strict=True):
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"ALTER TABLE {table}{SUFFIX} RENAME TO {table}")
            connection.execute(
                f"ALTER TABLE {parent} ATTACH PARTITION {table} FOR VALUES FROM ({first}) TO ({past})"
            )
            connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}{SUFFIX}_bounds")
        _note_rewritten(connection, part, removed)
    return True


def rewrite_tables(connection: Connection, part: int) -> bool:
    """Write tables that are small again under the lock of `head`, each in a new file; False: not now."""
    try:
        with connection.transaction():
            _lock_head(connection)
            lock_tables(connection, tables_of(part))
            for table in tables_of(part):
                connection.execute(f"CREATE UNLOGGED TABLE {table}{SUFFIX} AS SELECT * FROM {table}")
                connection.execute(f"TRUNCATE {table}")
                connection.execute(f"INSERT INTO {table} SELECT * FROM {table}{SUFFIX}")
                connection.execute(f"DROP TABLE {table}{SUFFIX}")
            _note_rewritten(connection, part, read_removals(connection, part))
    except (StillRead, psycopg.errors.LockNotAvailable):
        return False
    return True


def find_all_blockers(connection: Connection) -> tuple[Blocker, ...]:
    """Return the sessions that have read tables which are to be rewritten for longer than a moment."""
    tables = [name for part in find_outdated(connection) for name in tables_of(part)]
    return find_blockers(connection, tables, seconds=MOMENT)


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
    """Copy the rows of a partition into tables beside it, made as those were made."""
    first, past = _bounds(connection, part)
    for parent, table in zip(RANGES, tables_of(part), strict=True):
        copy = f"{table}{SUFFIX}"
        connection.execute(f"DROP TABLE IF EXISTS {copy}")
        make_table(connection, parent, copy)
        within = f"seq >= {first} AND seq < {past}"  # so that ATTACH need not look at all rows
        connection.execute(f"ALTER TABLE {copy} ADD CONSTRAINT {copy}_bounds CHECK ({within})")
        connection.execute(f"INSERT INTO {copy} SELECT * FROM {table}")


def catch_up(connection: Connection, part: int) -> None:
    """Add the entries that were written since the copy: their numbers are higher."""
    for table in tables_of(part):
        copy = f"{table}{SUFFIX}"
        connection.execute(
            f"INSERT INTO {copy} SELECT * FROM {table} WHERE seq > (SELECT coalesce(max(seq), 0) FROM {copy})"
        )


def drop_copies(connection: Connection) -> list[str]:
    """Drop all copies; those that somebody reads are left."""
    rows = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        " AND relname LIKE %s",
        (f"%\\{SUFFIX}",),
    ).fetchall()
    left = []
    for (name,) in rows:
        try:
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        except psycopg.errors.LockNotAvailable:
            left.append(name)
    return left


def _lock_head(connection: Connection) -> None:
    """Hold up whoever writes, as each transaction that writes does."""
    connection.execute(f"SET LOCAL lock_timeout = '{HEAD_TIMEOUT}'")
    connection.execute("SELECT 1 FROM head FOR UPDATE")


def _note_rewritten(connection: Connection, part: int, removed: int) -> None:
    connection.execute("UPDATE removals SET rewritten = %s WHERE part = %s", (removed, part))


def _bounds(connection: Connection, part: int) -> tuple[int, int]:
    """Return the numbers of a partition: its first, and the one past its last."""
    row = connection.execute("SELECT first, past FROM partitions WHERE first = %s", (part,)).fetchone()
    if row is None:
        raise psycopg.errors.UndefinedTable(f"there is no partition {part}")
    return int(row[0]), int(row[1])
