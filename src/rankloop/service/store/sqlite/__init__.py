"""SQLite store: the log in one file."""

from rankloop.service.store.sqlite.sqlite_backend import SqliteStore
from rankloop.service.store.sqlite.temporary_store import TemporaryStore, open_temporary_store

__all__ = ["SqliteStore", "TemporaryStore", "open_temporary_store"]
