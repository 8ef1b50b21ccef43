"""Recommendation as an extension: a list keeps from what its candidates were chosen."""

from __future__ import annotations

from collections.abc import Callable

from rankloop.service.core.extension import Extension, LiveState
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.view import View
from rankloop.service.extensions.recommend.part import PART, RecommendPart
from rankloop.service.store import Store


class RecommendedState(LiveState):
    """Gives what the request says of its recommender."""

    def give(self, request: RankRequest, view: View, query_id: str, at: float) -> RecommendPart | None:
        """Return what a recommender knew when it chose the candidates, if one did."""
        del view, query_id, at
        part: RecommendPart | None = request.recommended
        return part


class Recommend(Extension):
    """Records what a recommender knew when it chose the candidates of a list."""

    name = "recommend"
    part = PART

    def live(self, ranker: str, store: Store, clock: Callable[[], float]) -> LiveState:
        """Return what reads it from a request."""
        del ranker, store, clock
        return RecommendedState(self.name)

    def record(self, draft: ListDraft, given: RecommendPart | None) -> RecommendPart | None:
        """Return what was given; None: the candidates are the caller's own."""
        del draft
        return given


EXTENSION = Recommend()
