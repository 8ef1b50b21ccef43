"""Guardrails as an extension: no result stands far from where the caller put it."""

from __future__ import annotations

from dataclasses import replace

from rankloop.service.core.extension import Extension
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.placement import bound_displacement
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.extensions.guardrails.settings import GuardrailSettings


class Guardrails(Extension):
    """Bounds how far a list departs from the caller's order, whatever the other extensions wanted."""

    name = "guardrails"
    settings = GuardrailSettings

    def binds_order(self, settings: BaseRankerSettings) -> bool:
        """Whether displacement is bounded."""
        mine = settings.of(GuardrailSettings)
        return mine is not None and mine.max_displacement is not None

    def change(self, draft: ListDraft, given: None) -> ListDraft:
        """Move results back that are farther from the caller's position than the settings allow."""
        del given
        settings = draft.inputs.view.configuration.settings.of(GuardrailSettings)
        if settings is None or settings.max_displacement is None or draft.source == "caller":
            return draft
        rows = bound_displacement(draft.complete(), settings.max_displacement, draft.inputs.room)
        return replace(draft, rows=rows)


EXTENSION = Guardrails()
