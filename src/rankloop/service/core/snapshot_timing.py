"""Pace of snapshots by time: how long a start would take to fold again what was folded since the last one."""

from __future__ import annotations

import time
from collections.abc import Callable

SNAPSHOT_EVERY = 200  # versions, at the latest
FIRST = 5  # versions, at the earliest
LONGEST = 2.0  # seconds of folding after which a snapshot is due
DEAREST = 0.05  # share of the time that snapshots may take


def has_learned_enough(versions: int, lists: int, lists_before: int) -> bool:
    """Say whether a snapshot is due after so many versions, by the lists learned now and at the last one.

    A young ranker saves one whenever it has learned from twice as many lists, so that it soon has versions
    to go back to; they are few, and small.

    >>> has_learned_enough(5, 40, lists_before=20), has_learned_enough(5, 30, lists_before=20)
    (True, False)
    """
    return versions >= SNAPSHOT_EVERY or (versions >= FIRST and lists >= 2 * lists_before)


class SnapshotPace:
    """Says when a snapshot is due, by the time that folding has taken.

    Versions alone do not say: a ranker that is frozen folds entries and has no new version, and a log that
    was imported is folded for minutes before anything is kept.

    >>> now = iter([0.0, 1.5, 2.5, 3.0, 4.0]).__next__
    >>> pace = SnapshotPace(now)
    >>> pace.due(), pace.due()
    (False, True)
    >>> pace.kept(0.5)  # a snapshot that took half a second: the next is due after ten
    >>> pace.due()
    False
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._spent = self._cost = 0.0
        self._since = clock()

    def begin(self) -> None:
        """Folding begins; what happened before was something else."""
        self._since = self._clock()

    def due(self) -> bool:
        """Whether so much was folded, now that one more entry was."""
        now = self._clock()
        self._spent, self._since = self._spent + now - self._since, now
        return self._spent >= max(LONGEST, self._cost / DEAREST)

    def kept(self, seconds: float) -> None:
        """A snapshot was kept, which took so long."""
        self._spent, self._cost, self._since = 0.0, seconds, self._clock()
