"""Promise of clicks as an extension: lists that the budget has no room for keep the caller's order."""

from __future__ import annotations

from dataclasses import replace

from rankloop.service.core.extension import Extension
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.store import Promised


class Promise(Extension):
    """Keeps a share of the clicks of the caller's own order; given the search and the arm of a list."""

    name = "promise"

    def change(self, draft: ListDraft, given: Promised | None) -> ListDraft:
        """Put the caller's order in place of the policy's; what the policy drew stays to learn from."""
        if given is None or given.arm == "learned":
            return draft
        return replace(draft, rows=list(range(len(draft.inputs.free))), source="caller")

    def record(self, draft: ListDraft, given: Promised | None) -> Promised | None:
        """Return the search and the arm that the list belongs to."""
        del draft
        return given


EXTENSION = Promise()
