"""Dialects: what a statement needs to run on SQLite and on PostgreSQL.

A statement is written once, with named values (`:ranker`) and the types of SQLite (`INTEGER`, `REAL`, `TEXT`,
`BLOB`). A dialect fills in what has no common form and runs it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from rankloop.service.store.postgres.postgres_connections import Connection

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Mapping[str, Any]

NO_VALUES: Values = {}
NAME = re.compile(r"(?<!:):([a-z_]+)")
POSTGRES_TYPES = {
    "INTEGER": "bigint",
    "REAL": "double precision",
    "TEXT": 'text COLLATE "C"',
    "BLOB": "bytea",
    "BOOLEAN": "boolean",
}
TYPE = re.compile(rf"\b({'|'.join(POSTGRES_TYPES)})\b")


class Dialect(Protocol):
    """How a database says what SQL has no common word for, and how a statement is run on it."""

    snapshot: tuple[str, ...]  # statements after which all others see one state of the database

    def create_table(self, name: str, columns: str, *, ranges: bool) -> str:
        """Return the CREATE TABLE of these columns; with `ranges`, of a log that may be cut by numbers."""
        ...

    def among(self, name: str) -> str:
        """Return a condition: a text is among those of a list of values."""
        ...

    def among_numbers(self, name: str) -> str:
        """Return a condition: a whole number is among those of a list of values."""
        ...

    def lower(self, column: str) -> str:
        """Return the text of a column in lower case, in every script."""
        ...

    def has_table(self, connection: Any, name: str) -> bool:
        """Return whether there is a table of this name."""
        ...

    def run(self, connection: Any, sql: str, values: Values = ...) -> list[Row]:
        """Run a statement and return its rows."""
        ...

    def is_damage(self, error: Exception) -> bool:
        """Return whether an error says that what was read is damaged, and not that the database is away."""
        ...


class SqliteDialect:
    """Dialect of SQLite: lists of values are JSON, and all tables are STRICT."""

    snapshot: tuple[str, ...] = ("BEGIN",)

    def create_table(self, name: str, columns: str, *, ranges: bool) -> str:
        """Return the CREATE TABLE; a file is never cut."""
        del ranges
        return f"CREATE TABLE {name} ({columns.replace('BOOLEAN', 'INTEGER')}) STRICT"

    def among(self, name: str) -> str:
        """Return a condition on a text."""
        return f"IN (SELECT value FROM json_each(:{name}))"

    def among_numbers(self, name: str) -> str:
        """Return a condition on a whole number."""
        return self.among(name)

    def lower(self, column: str) -> str:
        """Return the text in lower case; SQLite's own function knows ASCII only."""
        return f"fold_case({column})"

    def has_table(self, connection: sqlite3.Connection, name: str) -> bool:
        """Return whether there is a table of this name."""
        return bool(self.run(connection, "SELECT 1 FROM sqlite_master WHERE name = :name", {"name": name}))

    def run(self, connection: sqlite3.Connection, sql: str, values: Values = NO_VALUES) -> list[Row]:
        """Run a statement and return its rows."""
        plain = {
            name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return connection.execute(sql, plain).fetchall()

    def is_damage(self, error: Exception) -> bool:
        """Return whether what was read is damaged."""
        return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)


class PostgresDialect:
    """Dialect of PostgreSQL: lists of values are arrays, and the tables of the log are partitioned."""

    snapshot: tuple[str, ...] = (  # locked first, so that no table is exchanged after the state was chosen
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "LOCK TABLE impressions, payloads, events IN ACCESS SHARE MODE",
    )

    def create_table(self, name: str, columns: str, *, ranges: bool) -> str:
        """Return the CREATE TABLE."""
        typed = TYPE.sub(lambda found: POSTGRES_TYPES[found[1]], columns)
        return f"CREATE TABLE {name} ({typed}){' PARTITION BY RANGE (seq)' if ranges else ''}"

    def among(self, name: str) -> str:
        """Return a condition on a text."""
        return f"= ANY(CAST(:{name} AS text[]))"

    def among_numbers(self, name: str) -> str:
        """Return a condition on a whole number, as the driver sends the smallest type that fits."""
        return f"= ANY(CAST(:{name} AS bigint[]))"

    def lower(self, column: str) -> str:
        """Return the text in lower case; the column's own collation knows ASCII only."""
        return f'lower({column} COLLATE "und-x-icu")'

    def has_table(self, connection: Connection, name: str) -> bool:
        """Return whether there is a table of this name."""
        ((found,),) = self.run(connection, "SELECT to_regclass(:name) IS NOT NULL", {"name": name})
        return bool(found)

    def run(self, connection: Connection, sql: str, values: Values = NO_VALUES) -> list[Row]:
        """Run a statement and return its rows."""
        cursor = connection.execute(translate_names(sql).encode(), values, binary=True)
        return cursor.fetchall() if cursor.description else []

    def is_damage(self, error: Exception) -> bool:
        """Return whether what was read is damaged."""
        import psycopg  # noqa: PLC0415  (an extra)

        return isinstance(error, psycopg.InternalError)


@cache
def translate_names(sql: str) -> str:
    """Return a statement with its values named as psycopg expects them.

    >>> translate_names("SELECT seq FROM events WHERE event_id = :id AND action LIKE 'a%'")
    "SELECT seq FROM events WHERE event_id = %(id)s AND action LIKE 'a%%'"
    """
    return NAME.sub(r"%(\1)s", sql.replace("%", "%%"))
