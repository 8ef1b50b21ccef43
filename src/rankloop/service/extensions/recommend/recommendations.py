"""Recommendation of one list: candidates and reasons from a recommender, their order from the ranker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankloop.errors import RequestError
from rankloop.recommend import FittedRecommender, Interview
from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.extensions.recommend.reasons import item_reasons, no_reasons
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest
from rankloop.service.extensions.recommend.recommend_response import (
    PastReasons,
    Recommendation,
    RecommendationDraft,
    RecommenderInfo,
    chooser,
)
from rankloop.service.extensions.recommend.recommender_candidates import ServedRecommender
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Impression, StoreError

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade


class Recommendations:
    """Recommendations of a service, as `service.recommendations`."""

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def attach(self, ranker: str, recommender: FittedRecommender | Path | str) -> None:
        """Have a recommender choose the candidates of a ranker, which is created if it does not exist."""
        self._facade.feed(ranker, recommender)

    def list_recommenders(self) -> Sequence[RecommenderInfo]:
        """Return the recommenders, in the order of the rankers they feed."""
        return self._facade.recommenders()

    def recommend(self, request: RecommendRequest) -> Recommendation:
        """Recommend items with their reasons; the list is one like any other, and its clicks are learned.

        The recommender chooses the candidates, and its scores are features of theirs; the ranker puts them in
        order. If the recommender fails, the list has the most popular items.
        """
        return self._facade.recommend(request)

    def interview(self, ranker: str, answers: Mapping[str, str] | None = None) -> Interview:
        """Return the next question to a newcomer after these answers, by the ids of the questions."""
        return self._facade.interview(ranker, answers)

    def explain_past_list(self, query_id: str) -> PastReasons:
        """Return why the results of a past list were recommended, if its recommender is still attached."""
        return self._facade.reasons(query_id)


def recommended(
    found: ServedRecommender, request: RecommendRequest, prepare: Callable[[RankRequest], MadeList]
) -> RecommendationDraft:
    """The best items for someone, put in order by the ranker, each with its reasons."""
    profile = found.find_profile(request.user, request.items, request.answers)
    if profile is None:
        return _popular_for_newcomer(found, request, prepare)
    candidates = found.candidates(request, profile)
    draft = prepare(request.rank_request(candidates, found.noted(request)))
    sentence = no_reasons(found)
    shown = draft.response
    response = Recommendation(
        query_id=shown.query_id,
        ranking=shown.ranking,
        provenance=shown.provenance,
        recommender=chooser(found, profile, len(candidates.object_ids)),
        reasons=() if sentence else item_reasons(found, profile, shown.object_ids),
        without_reasons=sentence or None,
    )
    return RecommendationDraft(draft, response)


def recommended_or_popular(
    found: ServedRecommender,
    request: RecommendRequest,
    prepare: Callable[[RankRequest], MadeList],
    fall_back: Callable[[RecommendRequest, str], RecommendationDraft],
) -> RecommendationDraft:
    """The best items for someone; if the recommender fails, what to fall back to, with the reason."""
    try:
        return recommended(found, request, prepare)
    except (RequestError, StoreError):
        raise
    except Exception as error:  # whatever it is, the caller gets a list
        return fall_back(request, type(error).__name__)  # its text may hold what nobody should read


def _popular_for_newcomer(
    found: ServedRecommender, request: RecommendRequest, prepare: Callable[[RankRequest], MadeList]
) -> RecommendationDraft:
    """Recommend what most people reviewed to someone whom the model cannot place."""
    draft = prepare(request.rank_request(found.popular(request), None))
    model = type(found.fitted.model).__name__
    return RecommendationDraft(
        draft, _without_reasons(draft, f"{model} knows only users it has learned from, as they were then")
    )


def _without_reasons(draft: MadeList, reason: str) -> Recommendation:
    shown = draft.response
    return Recommendation(
        query_id=shown.query_id,
        ranking=shown.ranking,
        provenance=shown.provenance,
        recommender=None,
        reasons=(),
        without_reasons=f"these are the most popular items, for nobody in particular: {reason}",
    )


def popular_instead(
    found: ServedRecommender,
    request: RecommendRequest,
    reason: str,
    fall_back: Callable[[RankRequest, str], MadeList],
) -> RecommendationDraft:
    """The items that most people reviewed, when there is no time or no way to recommend others."""
    draft = fall_back(request.rank_request(found.popular(request), None), reason)
    return RecommendationDraft(draft, _without_reasons(draft, reason))


def reasons_again(found: ServedRecommender | None, shown: Impression) -> PastReasons:
    """The reasons of a past list, from what was kept of it; only by the very recommender that chose it."""
    kept = shown.parts.get("recommend")
    if kept is None:
        whose = (
            f"the caller's own or the most popular, shown because of {shown.fallback!r}"
            if shown.fallback
            else "the caller's own"
        )
        raise HistoryError(f"no recommender chose the list {shown.query_id!r}: its candidates were {whose}")
    if found is None or found.fitted.digest != kept.digest:
        now = f"has the recommender {found.fitted.digest}" if found else "has no recommender"
        raise HistoryError(
            f"the list {shown.query_id!r} was chosen by the recommender {kept.digest}, and the ranker "
            f"{shown.ranker!r} now {now}: start the service with the former file to have the reasons again"
        )
    profile = found.find_profile(shown.user, kept.items, dict(kept.answers))
    assert profile is not None  # it was found when the list was made
    return PastReasons(
        query_id=shown.query_id,
        ranker=shown.ranker,
        recommender=chooser(found, profile, len(shown.object_ids)),
        reasons=item_reasons(found, profile, shown.shown),
    )
