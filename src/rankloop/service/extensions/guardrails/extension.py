"""Guardrails as an extension: no result stands far from where the caller put it."""

from __future__ import annotations

from dataclasses import replace

from rankloop.service.core.extension import Extension
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.placement import bound_displacement


class Guardrails(Extension):
    """Bounds how far a list departs from the caller's order, whatever the other extensions wanted."""

    name = "guardrails"

    def change(self, draft: ListDraft, given: None) -> ListDraft:
        """Move results back that are farther from the caller's position than the settings allow."""
        del given
        most = draft.inputs.view.configuration.settings.max_displacement
        if most is None or draft.source == "caller":
            return draft
        return replace(draft, rows=bound_displacement(draft.complete(), most, draft.inputs.room))


EXTENSION = Guardrails()
