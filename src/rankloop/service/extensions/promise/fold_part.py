"""Searches under a promise, as a fold of the log: those that are over are in the account, in their order."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field

from rankloop.evaluation import ClickAccount, SearchArm
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.fold_part import PartState
from rankloop.service.extensions.promise.part import PromisePart
from rankloop.service.extensions.promise.settings import PromiseSettings
from rankloop.service.store import Decision, Event, ImpressionHead, Logged


@dataclass(slots=True)
class Search:
    """A search whose end is not known yet."""

    query_id: str  # of its first list
    arm: SearchArm
    closes_at: float
    done: dict[str, list[str]] = field(default_factory=dict)  # by list and position: actions
    more: list[str] = field(default_factory=list)  # its other lists


@dataclass(frozen=True, slots=True)
class Standing:
    """The account of a promise, and how many searches are open, after an entry of the log."""

    promise: int  # the entry with which it began; 0: nothing is promised
    account: ClickAccount
    pending: int = 0  # searches that are not over
    free: int = 0  # of them, that may lose clicks


class SearchFold:
    """The searches since a promise began: open ones in the order in which they began, and the account.

    A search is over when its window has closed and all before it are over, so the account counts them in
    their order, whatever became of windows meanwhile. Clicks on reloads and next pages belong to the search
    of the first list.
    """

    name = "promise"
    needs_lists = True

    def __init__(self, promise: int, settings: PromiseSettings) -> None:
        self.position = 0  # the last entry applied
        self.promise, self.account = promise, settings.account
        self._open: deque[Search] = deque()
        self._by_list: dict[str, Search] = {}  # of open searches, by each of their lists

    @property
    def closes_next(self) -> float:
        """When the next search is over; infinite if none is open."""
        return self._open[0].closes_at if self._open else float("inf")

    def apply(self, entry: Logged, before: Configuration, after: Configuration) -> None:
        """Count the searches that are over, then take in the next entry."""
        del after
        clicked, window = before.settings.clicked, before.settings.window
        self.close(entry.at, clicked)
        if isinstance(entry, Event):
            self.note(entry)
        elif isinstance(entry, ImpressionHead) and "promise" in entry.parts:
            self.shown(entry.query_id, entry.parts["promise"], entry.at + window)
        elif isinstance(entry, Decision) and entry.kind == "flush":
            self.close(float("inf"), clicked)

    def value(self) -> Standing:
        """Return what lists are to be held to."""
        free = sum(each.arm != "held" for each in self._open)
        return Standing(self.promise, self.account, len(self._open), free)

    def shown(self, query_id: str, told: PromisePart, closes_at: float) -> None:
        """A list begins a search, or belongs to one that is open."""
        if told.promise != self.promise or query_id in self._by_list:  # its entry may be applied again
            return
        if told.search == query_id:
            found = Search(query_id, told.arm, closes_at)
            self._open.append(found)
            self._by_list[query_id] = found
        elif told.search in self._by_list:
            found = self._by_list[told.search]
            found.more.append(query_id)
            self._by_list[query_id] = found

    def note(self, event: Event) -> None:
        """Something was done with a result of a list."""
        found = self._by_list.get(event.query_id)
        if found is not None and event.verdict == "accepted" and event.position is not None:
            actions = found.done.setdefault(f"{event.query_id} {event.position}", [])
            if event.action not in actions:
                actions.append(event.action)

    def close(self, until: float, clicked: Callable[[Collection[str]], bool]) -> None:
        """Count the searches that are over by a moment."""
        while self._open and self._open[0].closes_at <= until:
            found = self._open.popleft()
            hit = any(clicked(actions) for actions in found.done.values())
            self.account = self.account.after(found.arm, clicked=hit)
            for name in (found.query_id, *found.more):
                del self._by_list[name]

    def snapshot(self) -> PartState:
        """Return everything, as JSON."""
        searches = [
            [each.query_id, each.arm, each.closes_at, copy.deepcopy(each.done), [*each.more]]
            for each in self._open
        ]
        return PartState({"promise": self.promise, "account": asdict(self.account), "searches": searches})

    def restore(self, state: PartState, at: Configuration) -> None:
        """Go on from a snapshot."""
        del at
        self.promise, self.account = int(state.body["promise"]), ClickAccount(**state.body["account"])
        for query_id, arm, closes_at, done, more in state.body["searches"]:
            each = Search(query_id, arm, closes_at, {key: [*did] for key, did in done.items()}, [*more])
            self._open.append(each)
            self._by_list |= dict.fromkeys((query_id, *more), each)
