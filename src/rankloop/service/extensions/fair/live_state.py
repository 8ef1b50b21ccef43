"""Exposure account of a ranker, in memory: what is in the log, and what waits to be written.

What is kept here is a sum over the log, with the lists that were shown and are not durable yet, so that no
list has to wait for the disk.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from rankloop.service.core.extension import LiveState
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.view import View
from rankloop.service.extensions.fair.fair_account import FairAccount
from rankloop.service.extensions.fair.part import FairPart, read_account
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.store import Impression, PartTotal, Store, StoreError

REMEMBERED = 5000  # requests whose account is kept for a reload


@dataclass(frozen=True, slots=True)
class _First:
    """The account under which somebody was first answered."""

    at: float
    ahead: Mapping[str, int]


class ExposureAccount(LiveState):
    """The account of a ranker: millionths of a view by which each group is ahead.

    Readers get a mapping that never changes; it is replaced as a whole.
    """

    def __init__(self, name: str, ranker: str, store: Store) -> None:
        super().__init__(name)
        self._ranker, self._store = ranker, store
        self._lock = threading.Lock()
        self._number: int | None = None  # 0: there is no account; None: it was not looked for yet
        self._total: dict[str, int] = {}
        self._waiting: dict[str, int] = {}  # of the total: not written yet
        self._first: OrderedDict[tuple[str, str], _First] = OrderedDict()
        self._window = 0.0  # seconds in which a reload is held to the account of the first list
        self._stale = False  # something may have been written otherwise than was said: read the log again
        self._is_reading = False

    @property
    def needs_ticks(self) -> bool:  # type: ignore[override]  # a constant elsewhere
        """Whether there is an account: others may write to it."""
        return bool(self._number)

    def give(self, request: RankRequest, view: View, query_id: str, at: float) -> FairAccount | None:
        """Return the account; for a reload within the window, with what the first list was held to."""
        del query_id
        settings = view.configuration.settings.of(FairSettings)
        if settings is None:
            return None
        number = view.configuration.extension_states.get(self.name) or 0
        self._window = view.configuration.settings.window
        ahead = self.ahead(number, _asking(request), at - self._window)
        return FairAccount(settings=settings, number=number, ahead=ahead, current=self.ahead(number))

    def ahead(self, number: int, key: tuple[str, str] | None = None, since: float = 0.0) -> Mapping[str, int]:
        """By how much each group is ahead; as when this key was first answered, if that was `since` then."""
        if number != self._number:
            return {}
        first = None if key is None else self._first.get(key)
        return self._total if first is None or first.at < since else {**self._total, **first.ahead}

    def show(self, shown: Impression) -> None:
        """Count a list, and remember the account for reloads, unless an earlier one still holds."""
        part = shown.parts.get("fair")
        if part is None or part.account != self._number:
            return
        with self._lock:
            self._waiting = _changed(self._waiting, [part], 1)
            self._total = _changed(self._total, [part], 1)
            key = _asking(shown)
            first = None if key is None else self._first.get(key)
            if key is None or part.within is None or (first and first.at >= shown.at - self._window):
                return
            self._first[key] = _First(shown.at, dict(zip(part.groups, part.ahead, strict=True)))
            self._first.move_to_end(key)
            while len(self._first) > REMEMBERED:
                self._first.popitem(last=False)

    def settle(self, lists: Sequence[Impression], written: bool) -> None:
        """Count lists no longer among those that wait; those that were lost not at all."""
        with self._lock:
            parts = [each.parts["fair"] for each in lists if "fair" in each.parts]
            mine = [each for each in parts if each.account == self._number]
            self._waiting = _changed(self._waiting, mine, -1)
            if not written:
                self._total, self._stale = _changed(self._total, mine, -1), True

    def refresh(self, view: View, folded: Iterable[str] = ()) -> None:
        """Begin the account that was decided, and read the log again if that is needed."""
        del folded
        number = view.configuration.extension_states.get(self.name) or 0
        if number != self._number:
            is_first = self._number is None  # what others wrote since is read with the next tick
            written = self._store.read_totals(self._ranker) if number and is_first else ()
            with self._lock:
                self._number, self._waiting = number, {}
                self._total = self._ahead_of(written)
                self._first.clear()
        if self._stale:
            self.tick()

    def tick(self) -> None:
        """Read what the log says, also what other processes wrote, without waiting."""
        if self._number and not self._is_reading:
            with contextlib.suppress(StoreError):
                job = self._store.submit(
                    lambda transaction: transaction.read_totals(self._ranker), urgent=False
                )
                self._is_reading = True
                job.add_done_callback(self._take_in)

    def _take_in(self, job: Future[Sequence[PartTotal]]) -> None:
        """Take what the log says; what waits to be written comes on top."""
        self._is_reading = False
        if job.exception():  # otherwise the next time; jobs of earlier lists are done by now
            return
        with self._lock:
            total = self._ahead_of(job.result())
            for group, waiting in self._waiting.items():
                total[group] = total.get(group, 0) + waiting
            self._total, self._stale = total, False

    def _ahead_of(self, written: Iterable[PartTotal]) -> dict[str, int]:
        return {each.group: each.ahead for each in read_account(written, self._number)}


def _changed(sums: Mapping[str, int], exposures: Iterable[FairPart], sign: int) -> dict[str, int]:
    """The sums with some more lists, or some less."""
    after = dict(sums)
    for each in exposures:
        for group, granted, due, lapsed in zip(each.groups, each.granted, each.due, each.lapsed, strict=True):
            after[group] = after.get(group, 0) + sign * (granted - due - lapsed)
    return after


def _asking(asked: RankRequest | Impression) -> tuple[str, str] | None:
    """Who asks what; None: no one that could ask again."""
    person = asked.session_id or asked.client_id
    return (person, asked.user_query) if person else None
