"""Counts of what was removed from the tables of a log, kept in the transaction that removes it.

So a copy of a table that was made before a removal is known as outdated, and which tables are to be rewritten
is known also after a crash.
"""

from __future__ import annotations

from collections.abc import Collection

from rankloop.service.store.postgres.postgres_connections import Connection

CREATE_REMOVALS = """CREATE TABLE removals (
    part bigint PRIMARY KEY, removed bigint NOT NULL, rewritten bigint NOT NULL DEFAULT 0)"""
COUNTED = "ON CONFLICT (part) DO UPDATE SET removed = removals.removed + 1"


def count_removals(connection: Connection, numbers: Collection[int]) -> None:
    """Count that entries of these numbers are removed."""
    connection.execute(
        "INSERT INTO removals SELECT DISTINCT first, 1 FROM partitions"
        f" JOIN unnest(%s::bigint[]) AS number ON first <= number AND number < past {COUNTED}",
        (list(numbers),),
    )


def count_change(connection: Connection, part: int) -> None:
    """Count that rows of tables which are not partitioned are removed or changed."""
    connection.execute(f"INSERT INTO removals VALUES (%s, 1) {COUNTED}", (part,))


def read_removals(connection: Connection, part: int) -> int:
    """Return how often rows were removed from a group of tables."""
    row = connection.execute("SELECT removed FROM removals WHERE part = %s", (part,)).fetchone()
    return 0 if row is None else int(row[0])


def find_outdated(connection: Connection) -> list[int]:
    """Return the groups of tables whose files may hold removed rows."""
    rows = connection.execute("SELECT part FROM removals WHERE removed > rewritten ORDER BY part")
    return [part for (part,) in rows]
