"""Bounded strays: events that belong to no list are written down only so often.

Orphans, duplicates and what could not be understood teach nothing. They are kept to be looked at, and for
that a few are enough: whoever sends millions of them must not fill the disk. All of them are counted.
"""

from __future__ import annotations

from rankloop.store import Event

PER_SECOND, AT_ONCE = 2.0, 2000.0


class StrayBudget:
    """How many more strays may be written down, by the log's time.

    >>> budget = StrayBudget()
    >>> sum(budget.spend(0.0) for _ in range(5000)), budget.dropped
    (2000, 3000)
    """

    def __init__(self) -> None:
        self.dropped = 0  # that were not written down
        self._left, self._at = AT_ONCE, float("-inf")

    def keeps(self, event: Event) -> bool:
        """Whether an event is to be written down."""
        return bool(event.ranker) or self.spend(event.at)

    def spend(self, now: float) -> bool:
        """Whether there is room for one more."""
        passed = max(now - self._at, 0.0)
        self._left, self._at = min(self._left + PER_SECOND * passed, AT_ONCE), max(now, self._at)
        if self._left < 1:
            self.dropped += 1
            return False
        self._left -= 1
        return True
