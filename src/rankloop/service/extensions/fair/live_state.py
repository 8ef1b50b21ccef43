"""Exposure account of a ranker, in memory: what is in the log, and what waits to be written.

The log is the truth. What is kept here is its sum, with the lists that were shown and are not durable yet,
so that no list has to wait for the disk.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rankloop.service.store import Exposure, ExposureSum, Impression

REMEMBERED = 5000  # requests whose account is kept for a reload


@dataclass(frozen=True, slots=True)
class _First:
    """The account under which somebody was first answered."""

    at: float
    ahead: Mapping[str, int]


class AccountBook:
    """The account in force: whole millionths of a look by which each group is ahead.

    Readers get a mapping that never changes; it is replaced as a whole.

    >>> book = AccountBook()
    >>> book.begin(7, [])
    >>> book.ahead(7), book.ahead(8)
    ({}, {})
    """

    def __init__(self) -> None:
        self.stale = False  # something may have been written otherwise than was said: read the log again
        self._lock = threading.Lock()
        self._number = 0
        self._total: dict[str, int] = {}
        self._waiting: dict[str, int] = {}  # of the total: not written yet
        self._first: OrderedDict[tuple[str, str], _First] = OrderedDict()

    def begin(self, number: int, written: Iterable[ExposureSum]) -> None:
        """Begin an account, or take it up, unless it is the one there is."""
        with self._lock:
            if number != self._number:
                self._number, self._waiting = number, {}
                self._total = self._ahead_of(written)
                self._first.clear()

    def ahead(self, number: int, key: tuple[str, str] = ("", ""), since: float = 0.0) -> Mapping[str, int]:
        """By how much each group is ahead; as when this key was first answered, if that was `since` then."""
        if number != self._number:
            return {}
        first = self._first.get(key)
        return self._total if first is None or first.at < since else {**self._total, **first.ahead}

    def remember(self, key: tuple[str, str], exposure: Exposure, *, at: float, since: float) -> None:
        """Keep the account under which somebody is answered, unless an earlier one still holds."""
        with self._lock:
            first = self._first.get(key)
            if exposure.account != self._number or (first is not None and first.at >= since):
                return
            ahead = dict(zip(exposure.groups, exposure.ahead, strict=True))
            self._first[key] = _First(at, ahead)
            self._first.move_to_end(key)
            while len(self._first) > REMEMBERED:
                self._first.popitem(last=False)

    def show(self, exposure: Exposure | None) -> None:
        """A list is shown, and will be written."""
        if exposure is not None:
            with self._lock:
                if exposure.account == self._number:
                    self._waiting = _changed(self._waiting, [exposure], 1)
                    self._total = _changed(self._total, [exposure], 1)

    def leave(self, lists: Iterable[Impression], written: bool) -> None:
        """Lists that do not wait any more: they are in the log now, or lost."""
        with self._lock:
            told = [each.exposure for each in lists if each.exposure is not None]
            mine = [each for each in told if each.account == self._number]
            if mine:
                self._waiting = _changed(self._waiting, mine, -1)
                if not written:
                    self._total = _changed(self._total, mine, -1)

    def refresh(self, written: Iterable[ExposureSum]) -> None:
        """Take in what the log says; what waits to be written comes on top."""
        with self._lock:
            total = self._ahead_of(written)
            for group, waiting in self._waiting.items():
                total[group] = total.get(group, 0) + waiting
            self._total, self.stale = total, False

    def _ahead_of(self, written: Iterable[ExposureSum]) -> dict[str, int]:
        return {each.group: each.ahead for each in written if each.account == self._number}


def _changed(sums: Mapping[str, int], exposures: Iterable[Exposure], sign: int) -> dict[str, int]:
    """The sums with some more lists, or some less."""
    after = dict(sums)
    for each in exposures:
        for group, granted, due, lapsed in zip(each.groups, each.granted, each.due, each.lapsed, strict=True):
            after[group] = after.get(group, 0) + sign * (granted - due - lapsed)
    return after
