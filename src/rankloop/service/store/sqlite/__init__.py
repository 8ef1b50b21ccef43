"""SQLite store: the log in one file."""

from rankloop.service.store.sqlite.sqlite_backend import SqliteStore

__all__ = ["SqliteStore"]
