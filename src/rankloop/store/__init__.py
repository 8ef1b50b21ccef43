"""An append-only log with snapshots: what was shown, what users did, what was decided."""

from rankloop.store.arrays import pack, unpack
from rankloop.store.base import Job, Log, Store, StoreBusy, StoreError, write
from rankloop.store.memory import MemoryStore
from rankloop.store.outbox import Outbox
from rankloop.store.records import (
    COUNTED,
    JOINED,
    Decision,
    Entry,
    Event,
    EventTally,
    Impression,
    Shown,
    Snapshot,
    Traffic,
    Verdict,
)
from rankloop.store.sqlite import SqliteStore

__all__ = [
    "COUNTED",
    "JOINED",
    "Decision",
    "Entry",
    "Event",
    "EventTally",
    "Impression",
    "Job",
    "Log",
    "MemoryStore",
    "Outbox",
    "Shown",
    "Snapshot",
    "SqliteStore",
    "Store",
    "StoreBusy",
    "StoreError",
    "Traffic",
    "Verdict",
    "pack",
    "unpack",
    "write",
]
