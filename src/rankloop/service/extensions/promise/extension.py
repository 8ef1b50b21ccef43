"""Promise of clicks as an extension: lists that the budget has no room for keep the caller's order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rankloop.service.core.configuration import Configuration
from rankloop.service.core.extension import Extension, find_beginning
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.extensions.promise.fold_part import SearchFold
from rankloop.service.extensions.promise.live_state import SearchBudget
from rankloop.service.extensions.promise.part import PART, PromisePart
from rankloop.service.extensions.promise.settings import PromiseSettings
from rankloop.service.store import Decision, Store


class Promise(Extension):
    """Keeps a share of the clicks of the caller's own order; given the search and the arm of a list."""

    name = "promise"
    settings = PromiseSettings
    part = PART

    def decide(self, state: int | None, decision: Decision, before: Configuration) -> int | None:
        """Return the entry with which the promise began; None: nothing is promised."""
        return find_beginning(self.name, PromiseSettings, state, decision, before)

    def fold_part(self, configuration: Configuration) -> SearchFold | None:
        """Return the searches since the promise began."""
        began = configuration.extension_states.get(self.name)
        settings = configuration.settings.of(PromiseSettings)
        return None if began is None or settings is None else SearchFold(began, settings)

    def live(self, ranker: str, store: Store, clock: Callable[[], float]) -> SearchBudget:
        """Return the budget, with the lists that the log does not know of yet."""
        del ranker, store, clock
        return SearchBudget(self.name)

    def change(self, draft: ListDraft, given: PromisePart | None) -> ListDraft:
        """Put the caller's order in place of the policy's; what the policy drew stays to learn from."""
        if given is None or given.arm == "learned":
            return draft
        return replace(draft, rows=list(range(len(draft.inputs.free))), source="caller")

    def record(self, draft: ListDraft, given: PromisePart | None) -> PromisePart | None:
        """Return the search and the arm that the list belongs to."""
        del draft
        return given


EXTENSION = Promise()
