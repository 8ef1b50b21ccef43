"""Space of a SQLite file: given back to the disk between transactions, or by writing the file again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from rankloop.service.store.purge import Blocker

# runs statements on the connection that writes, between two transactions; returns the rows of the last one
RunAlone: TypeAlias = Callable[..., Sequence[tuple[Any, ...]]]
PAGES_AT_ONCE = 512  # given back to the disk between two transactions
INCREMENTAL = 2  # as SQLite numbers the ways to shrink a file
PATIENCE, PAUSE = 1.0, 0.05  # seconds to wait for readers in all, and between two tries
BUSY_TIMEOUT = 30_000  # milliseconds that a connection waits for another process to write
MOMENT = 50  # milliseconds that writers may have to wait for readers
LOCKS = Path("/proc/locks")
READ_LOCKS = range(123, 128)  # bytes of the shared memory that stand for a reader of the write-ahead log


def shrink_file(alone: RunAlone) -> None:
    """Cut the free pages off the end of the file."""
    left, before = _cut_pages(alone), None
    while left and (before is None or left < before):  # jobs in between may free more
        left, before = _cut_pages(alone), left


def rewrite_file(alone: RunAlone) -> None:
    """Write every page again, while writers wait."""
    alone(f"PRAGMA auto_vacuum = {INCREMENTAL}", "VACUUM")


def empty_write_ahead_log(alone: RunAlone, *, patience: float = PATIENCE) -> bool:
    """Move what is in the write-ahead log to the file; False: somebody still reads from it.

    Writers wait for readers no longer than a moment at a time.
    """
    end = time.monotonic() + patience
    while True:
        alone("PRAGMA wal_checkpoint(PASSIVE)")
        ((busy, _, _),) = alone(f"PRAGMA busy_timeout = {MOMENT}", "PRAGMA wal_checkpoint(TRUNCATE)")
        alone(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")
        if not busy or time.monotonic() >= end:
            return not busy
        time.sleep(PAUSE)


def find_readers(path: Path) -> tuple[Blocker, ...]:
    """Return the processes that read from the write-ahead log of a file, as far as the system names them.

    >>> find_readers(Path("no.db"))
    (Blocker(pid=0, application='a reader', since=None),)
    """
    memory = path.with_name(f"{path.name}-shm")
    pids: set[int] = set()
    if LOCKS.exists() and memory.exists():
        inode = f":{memory.stat().st_ino}"
        for line in LOCKS.read_text().splitlines():
            *_, kind, pid, file, first, _ = line.split()  # 1: POSIX ADVISORY READ 4711 08:01:1234 124 124
            if kind == "READ" and file.endswith(inode) and int(first) in READ_LOCKS:
                pids.add(int(pid))
    named = sorted(pids) or [0]
    return tuple(Blocker(pid=pid, application=_program(pid), since=None) for pid in named)


def _cut_pages(alone: RunAlone) -> int:
    """Cut some pages off; how many are still free."""
    ((left,),) = alone(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})", "PRAGMA freelist_count")
    return int(left)


def _program(pid: int) -> str:
    name = Path(f"/proc/{pid}/comm")
    if pid == os.getpid():
        return "this process"
    return name.read_text().strip() if pid and name.exists() else "a reader"
