"""Copies of a SQLite log: made beside whoever writes, put in place as a whole, and checked page by page."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from rankloop.service.store.sql.dialect import SqliteDialect
from rankloop.service.store.sql.log_schema import check_version
from rankloop.service.store.store import StoreError

MOST_FINDINGS = 20
DIALECT = SqliteDialect()


def copy(source: Path, target: Path) -> None:
    """Copy a log as of one moment, with SQLite's own backup, while others read and write."""
    try:
        with closing(sqlite3.connect(source, timeout=30)) as here, closing(sqlite3.connect(target)) as there:
            here.execute("PRAGMA query_only = ON")
            here.backup(there)
            there.execute("PRAGMA journal_mode = DELETE")  # one file and nothing beside it
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied to {target}: {error}") from error
    sync(target)


def sync(path: Path) -> None:
    """Have a file on the disk before it gets its name."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def damage(path: Path) -> list[str]:
    """What is wrong with the pages and indexes of a file, in SQLite's own words; nothing, if all is well."""
    try:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            connection.execute("PRAGMA query_only = ON")
            found = [row for (row,) in connection.execute(f"PRAGMA integrity_check({MOST_FINDINGS})")]
    except sqlite3.Error as error:
        return [str(error)]
    return [] if found == ["ok"] else found


def check_log(path: Path, called: Path) -> None:
    """Refuse a file that is no log, is damaged, or comes from a later release; it is the copy of another."""
    wrong = damage(path)
    if wrong:
        raise StoreError(
            f"{called} is damaged or no backup: {wrong[0]}; name another that `rankloop backup` wrote"
        )
    with closing(sqlite3.connect(path)) as connection:
        if not DIALECT.has_table(connection, "schema_version"):
            raise StoreError(f"{called} is no log of rankloop: name a file that `rankloop backup` wrote")
        try:
            check_version(connection, DIALECT)
        except StoreError as error:
            raise StoreError(f"{called} cannot be restored: {error}") from error


def settle(path: Path) -> None:
    """Bring what is in the write-ahead log of a file into it, and leave nothing beside it."""
    try:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error:
        pass  # it is damaged, and about to be replaced
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
