"""Fair exposure as an extension: lists keep the views of each group within a tolerance of its share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rankloop.service.core.configuration import Configuration
from rankloop.service.core.extension import Extension, find_beginning
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.policy_draw import continue_draw
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.view import View
from rankloop.service.extensions.fair.fair_account import (
    FairAccount,
    find_swapped,
    measure_exposure,
    merge_around_pins,
    stays_within,
)
from rankloop.service.extensions.fair.live_state import ExposureAccount
from rankloop.service.extensions.fair.part import PART, FairPart
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.store import Decision, Store
from rankloop.types import BoolArray, IntArray


class Fair(Extension):
    """Shares views between groups; given the account that a list is held to."""

    name = "fair"
    settings = FairSettings
    part = PART

    def decide(self, state: int | None, decision: Decision, before: Configuration) -> int | None:
        """Return the entry with which the account began; None: exposure is not counted."""
        return find_beginning(self.name, FairSettings, state, decision, before)

    def live(self, ranker: str, store: Store, clock: Callable[[], float]) -> ExposureAccount:
        """Return the account, with the lists that are not in the log yet."""
        del clock
        return ExposureAccount(self.name, ranker, store)

    def binds_order(self, settings: BaseRankerSettings) -> bool:
        """Whether exposure is shared: the account is kept by the order of whole lists."""
        return settings.of(FairSettings) is not None

    def recall(self, part: FairPart | None, view: View, history: object) -> FairAccount | None:
        """The account of a past list, from what it keeps."""
        del history
        settings = view.configuration.settings.of(FairSettings)
        if part is None or settings is None:
            return None
        ahead = dict(zip(part.groups, part.ahead, strict=True))
        current = dict(zip(part.groups, part.current or part.ahead, strict=True))
        return FairAccount(settings=settings, number=part.account, ahead=ahead, current=current)

    def change(self, draft: ListDraft, given: FairAccount | None) -> ListDraft:
        """Merge the policy's list so that every account stays within the tolerance, if it does not."""
        if given is None:
            return draft
        account = given.for_request(draft.inputs.request)
        if draft.source != "policy" or not account.has_several_groups or stays_within(account, draft):
            return draft.note(self.name, (account, None))
        groups = account.codes[draft.inputs.free]
        merge = merge_around_pins(account, draft, continue_draw(draft, groups))
        return replace(draft, rows=merge.order).note(self.name, (account, merge))

    def find_swapped(self, draft: ListDraft, rows: IntArray) -> BoolArray | None:
        """Find the pairs that the merge swapped."""
        _, merge = draft.notes[self.name]
        return find_swapped(draft, merge, rows)

    def record(self, draft: ListDraft, given: FairAccount | None) -> FairPart | None:
        """Return what a list gives to each group."""
        return None if given is None else measure_exposure(draft, *draft.notes[self.name])


EXTENSION = Fair()
