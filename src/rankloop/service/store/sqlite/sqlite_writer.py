"""What SQLite does in its own way for a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from rankloop.service.store.sql.dialect import Row, SqliteDialect, Values

ALWAYS = 2**62  # a file has room for every number
TOGETHER = (128, 64, 32, 16, 8, 4, 2, 1)  # rows in one statement
MOVE = """UPDATE head SET seq = :seq, at = :at, anchor_at = :anchor_at, anchor_clock = :anchor_clock"""


class SqliteWriter:
    """Writer of a file; see `rankloop.service.store.sql.writer_backend`."""

    dialect = SqliteDialect()
    outage_errors: tuple[type[Exception], ...] = (sqlite3.OperationalError,)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def begin(self) -> Row:
        """Begin a transaction and return the row of `head`."""
        self.connection.execute("BEGIN IMMEDIATE")
        query = "SELECT seq, at, anchor_at, anchor_clock FROM head"
        return (*self.connection.execute(query).fetchone(), ALWAYS)

    def check_usable(self) -> None:
        """Do nothing: SQLite goes on after an error."""

    def check_event(self, row: Sequence[Any]) -> None:
        """Refuse a text or a number that SQLite cannot keep."""
        for value in row:
            if isinstance(value, str):
                value.encode()
            elif isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise OverflowError(f"expected a whole number of 64 bits, found {value}")

    def insert_rows(self, table: str, columns: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows, as many as possible in one statement.

        At the end of each statement, the thread has to wait for the interpreter.
        """
        start = 0
        while start < len(rows):
            size = next(size for size in TOGETHER if start + size <= len(rows))
            values = [value for row in rows[start : start + size] for value in row]
            self.connection.execute(_insert(table, columns, size), values)
            start += size

    def make_room(self, past: int, seq: int, at: float) -> int:
        """Return where room ends: nowhere."""
        del past, seq, at
        return ALWAYS

    def drop_old(self, head: int, values: Values) -> tuple[int, int]:
        """Drop nothing: a file has no partitions."""
        del head, values
        return 0, 0

    def count_removals(self, numbers: Collection[int]) -> None:
        """Do nothing: a purge searches the whole file."""

    def count_change(self, part: int) -> None:
        """Do nothing: a purge searches the whole file."""

    def move_head(self, values: Values, *, tell: bool) -> None:
        """Write where the log ends."""
        del tell
        self.connection.execute(MOVE, {name: value for name, value in values.items() if name != "past"})


@cache
def _insert(table: str, columns: tuple[str, ...], rows: int) -> str:
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * rows)}"
