"""Locks of tables that are to be replaced or dropped: taken within a moment, or not at all.

Whoever asks for such a lock waits for all who read the table, and all who come later wait for them: behind
one reader that stands still nobody could read or write any more. So readers that stay are looked for before,
and named, and a wait ends after a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.purge import Blocker
from rankloop.service.store.store import StillRead

LOCK_TIMEOUT = "100ms"  # that others may have to queue behind a lock which waits for a reader
MOMENT = 1.0  # seconds after which a reader counts as one that stays
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


def find_blockers(
    connection: Connection, tables: Sequence[str], *, seconds: float = 0.0
) -> tuple[Blocker, ...]:
    """Return the sessions that have held a lock on these tables, or on their parents, for so long."""
    rows = connection.execute(HOLDERS, {"tables": list(tables), "seconds": seconds})
    return tuple(Blocker(pid=pid, application=name, since=since) for pid, name, since in rows)


def refuse_if_read(connection: Connection, tables: Sequence[str]) -> None:
    """Raise `StillRead` if somebody has read one of these tables for longer than a moment."""
    if blockers := find_blockers(connection, tables, seconds=MOMENT):
        raise StillRead(blockers)


def lock_tables(connection: Connection, tables: Sequence[str]) -> None:
    """Take tables for this transaction alone; `StillRead` if that cannot be had within a moment."""
    refuse_if_read(connection, tables)
    try:
        connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        connection.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
        connection.execute("SET LOCAL lock_timeout TO DEFAULT")
    except psycopg.errors.LockNotAvailable as error:
        raise StillRead(()) from error
