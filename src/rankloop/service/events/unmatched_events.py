"""Bounded unmatched: events that teach nothing are written down only so often.

Orphans, duplicates and what could not be understood are kept to be looked at, and for that a few are enough:
whoever sends millions of them must not fill the disk, nor whoever has a list of their own and tells millions
of times what counts nothing about it. All of them are counted.
"""

from __future__ import annotations

from collections import OrderedDict

from rankloop.service.store import COUNTED, Event

PER_SECOND, AT_ONCE = 2.0, 2000.0
PER_LIST = 1000  # that teach nothing and are written down in any case
MOST = 10_000  # lists remembered


class UnmatchedEventBudget:
    """How many more strays may be written down, by the log's time.

    >>> budget = UnmatchedEventBudget()
    >>> sum(budget.spend(0.0) for _ in range(5000)), budget.dropped
    (2000, 3000)
    """

    def __init__(self) -> None:
        self.dropped = 0  # that were not written down
        self._left, self._at = AT_ONCE, float("-inf")
        self._lists: OrderedDict[int, int] = OrderedDict()  # how many of each, the newest last

    def keeps(self, event: Event) -> bool:
        """Whether an event is to be written down."""
        if event.verdict in COUNTED:
            return True
        return (event.list_seq is not None and self._of_list(event.list_seq)) or self.spend(event.at)

    def _of_list(self, number: int) -> bool:
        """Whether a list may have one more."""
        found = self._lists.pop(number, 0) + 1
        self._lists[number] = found
        if len(self._lists) > MOST:
            self._lists.popitem(last=False)
        return found <= PER_LIST

    def spend(self, now: float) -> bool:
        """Whether there is room for one more."""
        passed = max(now - self._at, 0.0)
        self._left, self._at = min(self._left + PER_SECOND * passed, AT_ONCE), max(now, self._at)
        if self._left < 1:
            self.dropped += 1
            return False
        self._left -= 1
        return True
