"""Budget of a promise, in memory: what the log says, and the lists that it does not know of yet.

The log is the truth. What was answered and is not folded yet is kept here, so that no list has to wait for
the disk and none is free that the budget has no room for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rankloop.service.core.extension import LiveState
from rankloop.service.core.lists.list_seeds import sticky_seed
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.view import View
from rankloop.service.extensions.promise.fold_part import Standing
from rankloop.service.extensions.promise.part import PromisePart
from rankloop.service.extensions.promise.settings import BITS, PromiseSettings
from rankloop.service.store import Impression

REMEMBERED = 5000  # people whose search may go on
PATIENCE = 60.0  # seconds after which a list that was made and not shown is given up


@dataclass(slots=True)
class _Waiting:
    """A search that began, of which the log knows nothing yet."""

    told: PromisePart
    at: float
    shown: bool = False
    written: bool = False


class SearchBudget(LiveState):
    """Gives every list its arm: `held` unless the budget has room for one more search that is free.

    >>> settings = PromiseSettings(share=0.9, comparison_share=0.5, allowed_loss=0.4)
    >>> book = SearchBudget("promise")
    >>> [book.assign(7, settings, f"q{n}", (), at=0.0, window=60.0).arm for n in range(3)]
    ['learned', 'held', 'held']
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._lock = threading.Lock()
        self._promise = 0
        self._standing: Standing | None = None
        self._waiting: dict[str, _Waiting] = {}  # by query_id of the first list, in the order of asking
        self._unknown = 0  # free searches of which the log knows nothing: they wait, or were lost
        self._first: OrderedDict[tuple[str, ...], tuple[float, PromisePart]] = OrderedDict()

    def give(self, request: RankRequest, view: View, query_id: str, at: float) -> PromisePart | None:
        """Return the search and the arm of a list, if clicks are promised."""
        configuration = view.configuration
        settings, key = configuration.settings.of(PromiseSettings), _asking(request)
        if settings is None:
            return None
        began, window = configuration.extension_states[self.name], configuration.settings.window
        return self.assign(began, settings, query_id, key, at=at, window=window)

    def assign(
        self,
        promise: int,
        settings: PromiseSettings,
        query_id: str,
        key: tuple[str, ...],
        *,
        at: float,
        window: float,
    ) -> PromisePart:
        """The search and the arm of a list; the same as before, if `key` has asked within the window."""
        with self._lock:
            self._begin(promise)
            if query_id in self._waiting:
                return self._waiting[query_id].told
            began, first = self._first.get(key, (0.0, None))
            if first is not None and at < began + window:
                return first
            self._give_up(at)
            known, advance = self._known(settings), settings.allowed_loss
            free = known.account.allows(pending=known.free + self._unknown, advance=advance)
            coin = sticky_seed("promise", str(promise), query_id) / 2**BITS
            told = PromisePart(promise=promise, arm=settings.arm(coin, free=free), search=query_id)
            self._waiting[query_id] = _Waiting(told, at)
            self._unknown += free
            return told

    def show(self, shown: Impression) -> None:
        """Begin the search of a list, which may go on."""
        told, key, at = shown.parts.get("promise"), _asking(shown), shown.at
        if told is None or told.search != shown.query_id:
            return
        with self._lock:
            if told.promise != self._promise:
                return
            if shown.query_id in self._waiting:
                self._waiting[shown.query_id].shown = True
            if key:
                self._first[key] = at, told
                self._first.move_to_end(key)
                while len(self._first) > REMEMBERED:
                    self._first.popitem(last=False)

    def settle(self, lists: Sequence[Impression], written: bool) -> None:
        """Know that lists are in the log; of those that are lost, what they may have cost stays unknown."""
        with self._lock:
            for each in lists:
                if each.query_id not in self._waiting:
                    continue
                if written:
                    self._waiting[each.query_id].written = True
                else:
                    del self._waiting[each.query_id]

    @property
    def waiting(self) -> Mapping[str, bool]:
        """The first lists of searches that a fold is to meet, and whether each is known to be written."""
        with self._lock:
            return {query_id: each.written for query_id, each in self._waiting.items()}

    def refresh(self, view: View, folded: Iterable[str] = ()) -> None:
        """Take in what the log says, which knows these lists now."""
        self.take_in(view.extension_values.get(self.name), folded)

    def take_in(self, standing: Standing | None, folded: Iterable[str]) -> None:
        """Take in the account as of the log, which knows these lists now."""
        with self._lock:
            self._standing = standing
            for query_id in folded:
                self._drop(query_id)

    def standing(self, promise: int, settings: PromiseSettings) -> Standing:
        """The account; what the log does not know of yet is among the searches that are open."""
        with self._lock:
            self._begin(promise)
            known = self._known(settings)
            pending, free = known.pending + len(self._waiting), known.free + self._unknown
            return replace(known, pending=pending, free=free)

    def _begin(self, promise: int) -> None:
        if promise != self._promise:
            self._promise, self._unknown = promise, 0
            self._waiting.clear()
            self._first.clear()

    def _known(self, settings: PromiseSettings) -> Standing:
        """What the log says; of a promise that it says nothing of yet, that it has begun."""
        known = self._standing
        if known is None or known.promise != self._promise:
            return Standing(self._promise, settings.account)
        return known

    def _give_up(self, at: float) -> None:
        """Forget lists that were made and shown to nobody."""
        while self._waiting:
            query_id, first = next(iter(self._waiting.items()))
            if first.shown or first.at >= at - PATIENCE:
                return
            self._drop(query_id)

    def _drop(self, query_id: str) -> None:
        found = self._waiting.pop(query_id, None)
        self._unknown -= found is not None and found.told.arm != "held"


def _asking(asked: RankRequest | Impression) -> tuple[str, ...]:
    """Who asks what; empty: no one that could ask again."""
    person = asked.session_id or asked.client_id
    return (person, asked.user_query) if person else ()
