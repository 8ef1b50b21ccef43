"""What PostgreSQL does in its own way for a transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from rankloop.service.store.impression_codec import EVENT_COLUMNS
from rankloop.service.store.postgres.partitions import add_partition, drop_partition, next_size
from rankloop.service.store.postgres.postgres_connections import Connection
from rankloop.service.store.postgres.removals import count_change, count_removals
from rankloop.service.store.sql.dialect import PostgresDialect, Row, Values
from rankloop.service.store.store import StoreError

OLD_LIST = """ranker = %(ranker)s AND seq <= %(until)s AND at < %(before)s AND query_id <> ALL(%(keep)s)
    AND NOT EXISTS (SELECT 1 FROM events WHERE list_seq = impressions.seq
        AND verdict IN ('accepted', 'late') AND events.seq > %(until)s)"""
OLD_EVENT = "(ranker = %(ranker)s AND seq <= %(until)s OR ranker = '' AND at < %(before)s)"
BEGIN = "BEGIN; SELECT seq, at, anchor_at, anchor_clock, past FROM head FOR UPDATE"
MOVE = """UPDATE head SET seq = %(seq)s, at = %(at)s, anchor_at = %(anchor_at)s,
    anchor_clock = %(anchor_clock)s, past = %(past)s"""
TELL = "SELECT pg_notify(%(channel)s, '') FROM moved"  # those who listen hear it when the commit is done


class PostgresWriter:
    """Writer of a database; see `rankloop.service.store.sql.writer_backend`."""

    dialect = PostgresDialect()
    outage_errors: tuple[type[Exception], ...] = (psycopg.OperationalError,)

    def __init__(self, connection: Connection, channel: str = "") -> None:
        self.connection, self._channel = connection, channel

    def begin(self) -> Row:
        """Begin a transaction and return the row of `head`, which is locked until the commit."""
        begun = self.connection.execute(BEGIN)
        begun.nextset()
        (head,) = begun
        return head

    def check_usable(self) -> None:
        """Refuse to go on after an error of the database that a job has hidden."""
        if self.connection.info.transaction_status is TransactionStatus.INERROR:
            raise StoreError("a job hid an error of the database, which does nothing after one")

    def check_event(self, row: Sequence[Any]) -> None:
        """Refuse an event that the database would refuse later, when it has company."""
        for name, value in zip(EVENT_COLUMNS, row, strict=True):
            if isinstance(value, str):
                if "\0" in value:
                    raise StoreError(f"{name} holds a null character, which PostgreSQL cannot keep")
                value.encode()
            elif isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise StoreError(f"{name} must be a whole number of 64 bits, found {value}")

    def insert_rows(self, table: str, columns: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows in one pipeline."""
        with self.connection.cursor() as cursor:
            cursor.executemany(_insert(table, columns).encode(), rows)

    def make_room(self, past: int, seq: int, at: float) -> int:
        """Add a partition for a number, about as long as a day at the pace of the last one."""
        query = "SELECT first, since FROM partitions ORDER BY first DESC LIMIT 1"
        first, since = self.connection.execute(query).fetchone() or (past, at)
        end = max(seq, past) + next_size(past - first, at - since)
        add_partition(self.connection, first=past, past=end, since=at)
        return end

    def drop_old(self, head: int, values: Values) -> tuple[int, int]:
        """Drop the partitions whose numbers are all given away and of which nothing has to stay."""
        query = "SELECT first FROM partitions WHERE past - 1 <= %s ORDER BY first"
        rows = self.connection.execute(query, (min(values["until"], head),)).fetchall()
        found = [self._drop_if_old(first, values) for (first,) in rows]
        return sum(entries for entries, _ in found), sum(freed for _, freed in found)

    def count_removals(self, numbers: Collection[int]) -> None:
        """Note that entries of these numbers are removed."""
        count_removals(self.connection, numbers)

    def count_change(self, part: int) -> None:
        """Note that rows of a group of tables are removed or changed."""
        count_change(self.connection, part)

    def move_head(self, values: Values, *, tell: bool) -> None:
        """Write where the log ends; tell those who listen."""
        if tell and self._channel:
            told = {**values, "channel": self._channel}
            self.connection.execute(f"WITH moved AS ({MOVE} RETURNING 1) {TELL}", told)
        else:
            self.connection.execute(MOVE, values)

    def _drop_if_old(self, first: int, values: Values) -> tuple[int, int]:
        """Drop a partition if nothing in it has to stay; how many entries and bytes."""
        ((lists, events, left),) = self.connection.execute(
            f"""SELECT (SELECT count(*) FROM impressions_{first}), (SELECT count(*) FROM events_{first}),
                EXISTS (SELECT 1 FROM impressions_{first} impressions WHERE NOT ({OLD_LIST}))
                OR EXISTS (SELECT 1 FROM events_{first} WHERE NOT {OLD_EVENT})""",
            values,
            binary=True,
        )
        return (0, 0) if left else (int(lists + events), drop_partition(self.connection, first))


@cache
def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"
