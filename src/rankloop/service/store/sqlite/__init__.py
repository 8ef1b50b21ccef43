"""SQLite store: the log in one file."""

from rankloop.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
