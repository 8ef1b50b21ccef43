"""Address of a store: a file, a PostgreSQL database, or nothing for a temporary file."""

from __future__ import annotations

from pathlib import Path

from rankloop.errors import SettingError
from rankloop.service.store.sqlite import SqliteStore, open_temporary_store
from rankloop.service.store.store import Store

SCHEMES = ("postgresql://", "postgres://")


def open_store(where: str | Path | None = None) -> Store:
    """Open the store at an address, and create it if it does not exist.

    An address is the path of a SQLite file or `postgresql://user@host:port/database`. Without one, the store
    is a temporary file.

    >>> open_store("mysql://localhost/shop")
    Traceback (most recent call last):
        ...
    rankloop.errors.SettingError: expected the path of a file or postgresql://user@host:port/database, ...
    """
    if where is None:
        return open_temporary_store()
    address = str(where)
    if address.startswith(SCHEMES):
        from rankloop.service.store.postgres import PostgresStore  # noqa: PLC0415

        return PostgresStore(address)
    if not address or "://" in address:
        raise SettingError(
            "expected the path of a file or postgresql://user@host:port/database, found "
            + ("an address of another kind" if address else "an empty address")
        )
    return SqliteStore(where)
