"""Connections to PostgreSQL: opened with timeouts, lost with a clear sentence, shown without a password."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Any, TypeAlias

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from rankloop.service.store.store import ConnectionLost, StoreError

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

DEFAULTS: Mapping[str, Any] = {
    "connect_timeout": 4,  # seconds
    "tcp_user_timeout": 5_000,  # milliseconds; a network that was cut off is noticed
    "keepalives_idle": 2,  # seconds; also by those who only wait
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
# the same on the server's side, so that it soon gives the locks of who is cut off to others; and whoever
# stands still in the middle of a transaction does not hold up those who write for longer than this
GUARD = """SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = 5000; SET idle_in_transaction_session_timeout = '10s'"""
CHANNEL = "SELECT 'rankloop ' || hashtextextended(current_schema(), 0)"
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
    settings = {"application_name": own_name(), **DEFAULTS}
    missing = {name: value for name, value in settings.items() if name not in _parts(url)}
    try:
        return psycopg.connect(url, autocommit=True, client_encoding="utf8", **missing)
    except psycopg.OperationalError as error:
        raise ConnectionLost(f"{public(url)} cannot be reached: {sentence(error)}") from error


def own_name() -> str:
    """The name by which the database knows this process: machine and number."""
    return f"rankloop {platform.node()[:40]}:{os.getpid()}"


def guard(connection: Connection) -> None:
    """Have the server notice soon if this process is cut off or stands still."""
    connection.execute(GUARD)


def channel(connection: Connection) -> str:
    """The channel on which those who write to this schema tell each other."""
    ((name,),) = connection.execute(CHANNEL)
    return str(name)


def listen(connection: Connection) -> None:
    """Hear of what is written."""
    connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel(connection))))


def learner_lock(connection: Connection, ranker: str) -> bool:
    """Take the lock of a ranker's learner, for as long as the connection lasts; False: another has it."""
    ((taken,),) = connection.execute(
        "SELECT pg_try_advisory_lock(hashtextextended('learner ' || %s || ' of ' || current_schema(), 0))",
        (ranker,),
    )
    return bool(taken)


def sentence(error: psycopg.Error) -> str:
    """What PostgreSQL says of an error, on one line."""
    return " ".join(str(error).split())


def take_lock(connection: Connection, name: str, *, shared: bool = False, seconds: int = 1) -> bool:
    """Take an advisory lock of this schema, for as long as the connection lasts; False: another has it.

    One that is shared is had by many, but not beside one that is not. It is waited for a moment: the
    connection of a process that was killed may have a COMMIT to finish.
    """
    take = "pg_advisory_lock_shared" if shared else "pg_advisory_lock"
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{seconds}s'")
            connection.execute(
                f"SELECT {take}(hashtextextended(%s || ' of ' || current_schema(), 0))", (name,)
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
