"""Event store: an append-only log of what was shown, done and decided, with snapshots."""

from rankloop.store.base import (
    EventLog,
    Job,
    SnapshotDamaged,
    Statistics,
    Store,
    StoreBusy,
    StoreError,
    Transaction,
    write,
)
from rankloop.store.codec import pack, unpack
from rankloop.store.grades import GradeScale
from rankloop.store.impression_buffer import ImpressionBuffer
from rankloop.store.memory import MemoryStore
from rankloop.store.records import (
    COUNTED,
    JOINED,
    Decision,
    Entry,
    Event,
    EventTally,
    Exposure,
    ExposureSum,
    ExposureTally,
    GradeTally,
    GroupTally,
    Impression,
    ListEntry,
    Logged,
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
    "EventLog",
    "EventTally",
    "Exposure",
    "ExposureSum",
    "ExposureTally",
    "GradeScale",
    "GradeTally",
    "GroupTally",
    "Impression",
    "ImpressionBuffer",
    "Job",
    "ListEntry",
    "Logged",
    "MemoryStore",
    "Shown",
    "Snapshot",
    "SnapshotDamaged",
    "SqliteStore",
    "Statistics",
    "Store",
    "StoreBusy",
    "StoreError",
    "Traffic",
    "Transaction",
    "Verdict",
    "pack",
    "unpack",
    "write",
]
