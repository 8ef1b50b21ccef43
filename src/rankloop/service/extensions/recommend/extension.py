"""Recommendation as an extension: a list keeps from what its candidates were chosen."""

from __future__ import annotations

from rankloop.service.core.extension import Extension
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.store import Recommended


class Recommend(Extension):
    """Records what a recommender knew when it chose the candidates of a list."""

    name = "recommend"

    def record(self, draft: ListDraft, given: Recommended | None) -> Recommended | None:
        """Return what was given; None: the candidates are the caller's own."""
        del draft
        return given


EXTENSION = Recommend()
