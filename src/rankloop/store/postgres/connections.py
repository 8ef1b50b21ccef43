"""Connections to PostgreSQL: opened with timeouts, lost with a clear sentence, shown without a password."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict

from rankloop.store.base import StoreError

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

DEFAULTS: Mapping[str, Any] = {
    "application_name": "rankloop",
    "connect_timeout": 10,  # seconds
    "tcp_user_timeout": 10_000,  # milliseconds; a network that was cut off is noticed
}
UNREADABLE = (
    "the address of the store cannot be read: expected postgresql://user@host:port/database, with %XX for "
    "every character of a name or password that is neither letter nor digit; it is not repeated here, for it "
    "may hold a password"
)


def public(url: str) -> str:
    """The address of a database without its password.

    >>> public("postgresql://anna:s3cret@db.example:5433/shop?sslmode=require")
    'postgresql://anna@db.example:5433/shop'
    >>> public("postgresql:///shop?host=/run/postgresql&password=s3cret")
    'postgresql:///shop?host=/run/postgresql'
    """
    parts = _parts(url)
    user, host, port = (str(parts.get(name) or "") for name in ("user", "host", "port"))
    where = f"{f'{user}@' if user else ''}{'' if host.startswith('/') else host}{f':{port}' if port else ''}"
    socket = f"?host={host}" if host.startswith("/") else ""
    return f"postgresql://{where}/{parts.get('dbname') or ''}{socket}"


def connect(url: str) -> Connection:
    """A connection of which every statement is a transaction, unless there is a BEGIN."""
    missing = {name: value for name, value in DEFAULTS.items() if name not in _parts(url)}
    try:
        return psycopg.connect(url, autocommit=True, client_encoding="utf8", **missing)
    except psycopg.OperationalError as error:
        raise StoreError(f"{public(url)} cannot be reached: {sentence(error)}") from error


def sentence(error: psycopg.Error) -> str:
    """What PostgreSQL says of an error, on one line."""
    return " ".join(str(error).split())


def take_lock(connection: Connection, name: str, *, seconds: int = 1) -> bool:
    """Take an advisory lock of this schema, for as long as the connection lasts; False: another has it.

    It is waited for a moment: the connection of a process that was killed may have a COMMIT to finish.
    """
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{seconds}s'")
            connection.execute(
                "SELECT pg_advisory_lock(hashtextextended(%s || ' of ' || current_schema(), 0))", (name,)
            )
    except psycopg.errors.LockNotAvailable:
        return False
    return True


def _parts(url: str) -> Mapping[str, Any]:
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreError(UNREADABLE) from None  # its message, or its cause, could hold the password
    port, names = str(parts.get("port") or "0"), f"{parts.get('host')} {parts.get('dbname')}"
    if "@" in names or not port.replace(",", "").isdigit():  # parts of a password that was not encoded
        raise StoreError(UNREADABLE)
    return parts
