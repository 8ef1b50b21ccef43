"""Recommendation of one list: candidates and reasons from a recommender, their order from the ranker."""

from __future__ import annotations

from collections.abc import Callable

from rankloop.errors import RequestError
from rankloop.service.core.lists.make_list import Draft
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.extensions.recommend.reasons import item_reasons, no_reasons
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest
from rankloop.service.extensions.recommend.recommend_response import (
    PastReasons,
    Recommendation,
    RecommendationDraft,
    chooser,
)
from rankloop.service.extensions.recommend.recommender_candidates import ServedRecommender
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Impression, StoreError


def recommended(
    found: ServedRecommender, request: RecommendRequest, prepare: Callable[[RankRequest], Draft]
) -> RecommendationDraft:
    """The best items for someone, put in order by the ranker, each with its reasons."""
    person = found.person(request.user, request.items, request.answers)
    candidates = found.candidates(request, person)
    draft = prepare(request.rank_request(candidates, found.noted(request)))
    sentence = no_reasons(found)
    shown = draft.response
    response = Recommendation(
        query_id=shown.query_id,
        ranking=shown.ranking,
        provenance=shown.provenance,
        recommender=chooser(found, person, len(candidates.object_ids)),
        reasons=() if sentence else item_reasons(found, person, shown.object_ids),
        without_reasons=sentence or None,
    )
    return RecommendationDraft(draft, response)


def recommended_or_popular(
    found: ServedRecommender,
    request: RecommendRequest,
    prepare: Callable[[RankRequest], Draft],
    fall_back: Callable[[RecommendRequest, str], RecommendationDraft],
) -> RecommendationDraft:
    """The best items for someone; if the recommender fails, what to fall back to, with the reason."""
    try:
        return recommended(found, request, prepare)
    except (RequestError, StoreError):
        raise
    except Exception as error:  # whatever it is, the caller gets a list
        return fall_back(request, f"{type(error).__name__}: {error}"[:200])


def popular_instead(
    found: ServedRecommender,
    request: RecommendRequest,
    reason: str,
    fall_back: Callable[[RankRequest, str], Draft],
) -> RecommendationDraft:
    """The items that most people reviewed, when there is no time or no way to recommend others."""
    draft = fall_back(request.rank_request(found.popular(request), None), reason)
    shown = draft.response
    response = Recommendation(
        query_id=shown.query_id,
        ranking=shown.ranking,
        provenance=shown.provenance,
        recommender=None,
        reasons=(),
        without_reasons=f"these are the most popular items, for nobody in particular: {reason}",
    )
    return RecommendationDraft(draft, response)


def reasons_again(found: ServedRecommender | None, shown: Impression) -> PastReasons:
    """The reasons of a past list, from what was kept of it; only by the very recommender that chose it."""
    kept = shown.recommended
    if kept is None:
        whose = (
            f"the caller's own or the most popular, shown because of {shown.fallback!r}"
            if shown.fallback
            else "the caller's own"
        )
        raise HistoryError(f"no recommender chose the list {shown.query_id!r}: its candidates were {whose}")
    if found is None or found.saved.digest != kept.digest:
        now = f"has the recommender {found.saved.digest}" if found else "has no recommender"
        raise HistoryError(
            f"the list {shown.query_id!r} was chosen by the recommender {kept.digest}, and the ranker "
            f"{shown.ranker!r} now {now}: start the service with the former file to have the reasons again"
        )
    person = found.person(shown.user, kept.items, dict(kept.answers))
    return PastReasons(
        query_id=shown.query_id,
        ranker=shown.ranker,
        recommender=chooser(found, person, len(shown.object_ids)),
        reasons=item_reasons(found, person, shown.shown),
    )
