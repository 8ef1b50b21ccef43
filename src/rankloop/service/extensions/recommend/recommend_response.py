"""Recommendation response: a ranked list, who chose its candidates, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from rankloop.recommend import UserProfile
from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.core.lists.rank_response import Provenance, Result
from rankloop.service.extensions.recommend.reasons import ItemReasons
from rankloop.service.extensions.recommend.recommender_candidates import ServedRecommender


class Chooser(msgspec.Struct, frozen=True):
    """The recommender that chose the candidates, and from what."""

    model: str  # by name
    digest: str  # of its file
    person: Literal["user", "newcomer"]  # whether it has learned from them
    items: int  # past items that it knew
    answers: int  # that counted
    candidates: int  # how many it chose


class Recommendation(msgspec.Struct, frozen=True):
    """A list with its reasons, and the id under which its events are to be sent.

    `query_id`, `ranking` and `provenance` are those of every list; `score` there is the ranker's, the one
    among the reasons the recommender's.
    """

    query_id: str
    ranking: tuple[Result, ...]
    provenance: Provenance
    recommender: Chooser | None  # None: these are the most popular items
    reasons: tuple[ItemReasons, ...]  # of every result, in the order of the list
    without_reasons: str | None  # why there are none

    @property
    def object_ids(self) -> list[str]:
        """What to show, best first."""
        return [result.object_id for result in self.ranking]


class PastReasons(msgspec.Struct, frozen=True):
    """The reasons of a past list, made again by the recommender that chose its candidates."""

    query_id: str
    ranker: str
    recommender: Chooser
    reasons: tuple[ItemReasons, ...]


class RecommenderInfo(msgspec.Struct, frozen=True):
    """A recommender that feeds a ranker."""

    ranker: str
    model: str  # by name
    digest: str
    users: int
    items: int
    exact: bool  # it can say why
    newcomers: bool  # it can recommend to them
    interviews: bool  # it has questions


@dataclass(frozen=True, slots=True, eq=False)
class RecommendationDraft:
    """A recommendation that nobody has seen: it is shown when its list is published, or not at all."""

    draft: MadeList
    response: Recommendation

    def shown(self, draft: MadeList) -> Recommendation:
        """What is shown, once its list was published."""
        if draft is self.draft:
            return self.response
        return msgspec.structs.replace(self.response, provenance=draft.response.provenance)


def info(ranker: str, found: ServedRecommender) -> RecommenderInfo:
    """A recommender in numbers."""
    model = found.fitted.model
    return RecommenderInfo(
        ranker=ranker,
        model=type(model).__name__,
        digest=found.fitted.digest,
        users=len(found.users),
        items=len(found.items),
        exact=model.exact,
        newcomers=model.places_newcomers,
        interviews=model.question_tree() is not None,
    )


def chooser(found: ServedRecommender, profile: UserProfile, candidates: int) -> Chooser:
    """Who chose the candidates of a list."""
    return Chooser(
        model=type(found.fitted.model).__name__,
        digest=found.fitted.digest,
        person="newcomer" if profile.row is None else "user",
        items=len(profile.items),
        answers=sum(answer != 0 for answer in profile.answers.values()),
        candidates=candidates,
    )
