"""Live rankers over one store: lists, recommendations, events and learning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from rankloop.errors import RequestError, suggest_name
from rankloop.policies import Policy
from rankloop.policies.policy_names import POLICIES, PolicyKinds
from rankloop.recommend import FittedRecommender, Interview, ask_next
from rankloop.service.core.background_thread import LearningThread
from rankloop.service.core.list_service import Lists
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_collection import Rankers
from rankloop.service.core.ranker_settings import BaseRankerSettings, Mode
from rankloop.service.events.events import Events
from rankloop.service.extensions.recommend.recommend_request import RecommendRequest, check_answers
from rankloop.service.extensions.recommend.recommend_response import (
    Recommendation,
    RecommendationDraft,
    RecommenderInfo,
    info,
)
from rankloop.service.extensions.recommend.recommendations import popular_instead, recommended_or_popular
from rankloop.service.extensions.recommend.recommender_candidates import ServedRecommender, served
from rankloop.service.extensions.registry import load_registry
from rankloop.service.operations.job_runner import JobRunner
from rankloop.service.operations.rebuild_requests import unused
from rankloop.service.store import Store
from rankloop.service.store.learner_election import Election

PATIENCE = 1.0  # seconds: as a rule the next event tells the log the time


class LiveRankers:
    """What is asked of rankers all the time: the part of a `ServiceFacade` that users meet."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        ids: Callable[[], str],
        election: Election,
        policies: Iterable[type[Policy]],
        recommenders: Mapping[str, FittedRecommender | Path | str],
        *,
        background: bool,
        wait: bool,
    ) -> None:
        self.store, self.clock, self.ids, self.election = store, clock, ids, election
        kinds: PolicyKinds = {**POLICIES, **{each.__name__: each for each in policies}}
        fed = {name: served(saved) for name, saved in recommenders.items()}  # before anything begins
        self._recommenders: dict[str, ServedRecommender] = {}
        begin, registry = wait or not background, load_registry()
        store.register_parts(registry.part_types)
        rankers = self.collection = Rankers(
            store, registry, kinds, clock=clock, election=election, begin=begin
        )
        self.list_service, self.event_service = Lists(rankers, ids), Events(rankers)
        self._forward()
        for name, found in fed.items():
            self._feed(name, found)
        self._jobs = JobRunner(lambda: rankers.by_name, store, background=background)
        self._thread = LearningThread(partial(self.tick, patience=PATIENCE)) if background else None
        rankers.learner = self._thread
        if self._thread and not wait:
            self._thread.wake()

    def _forward(self) -> None:
        """Offer the methods of the service's objects to callers that have not moved to them yet."""
        rankers, lists, events = self.collection, self.list_service, self.event_service
        self.create, self.ranker, self.rankers = rankers.create, rankers.get, rankers.names
        self.catalogue, self.settings_from = rankers.describe_all, rankers.parse_settings
        self.set_mode, self.flush, self.learn = rankers.set_mode, rankers.flush, rankers.learn
        self.preview, self.patched = rankers.preview, rankers.merge_settings
        self.rank, self.prepare, self.fall_back = lists.rank, lists.prepare, lists.fall_back
        self.publish, self.write_down = lists.publish, lists.write_down
        self.lists, self.find_lists = lists.newest, lists.find
        self.audit, self.replay = lists.audit, lists.replay
        self.record, self.enter, self.unmatched = events.record, events.submit, events.unmatched
        self.import_lists, self.select_events = events.import_lists, events.select
        self.discard_strays = events.discard_unmatched

    # rankers

    def settings(self, ranker: str) -> BaseRankerSettings:
        """The settings in force."""
        return self.ranker(ranker).settings

    def mode(self, ranker: str) -> Mode:
        """Return the mode of a ranker."""
        return self.ranker(ranker).view.configuration.mode

    def schema(self, ranker: str) -> list[str]:
        """The names of the features it has seen, by column."""
        return list(self.ranker(ranker).view.configuration.schema.columns)

    def columns(self, ranker: str) -> list[str]:
        """The names of the features of any past list, by column: also of those that were retired."""
        return list(self.ranker(ranker).view.configuration.schema.names)

    def context_schema(self, ranker: str) -> list[str]:
        """The names of the features of who asks that it has seen, by column."""
        return list(self.ranker(ranker).view.configuration.context_schema.columns)

    def unused_features(self, ranker: str, *, days: float = 30.0) -> list[str]:
        """The features in no list of the last days; lists are read from the newest until all were seen."""
        return unused(self.ranker(ranker), self.store, days)

    def model(self, ranker: str) -> Model:
        """What readers see now."""
        return self.ranker(ranker).view.model

    # recommending

    def feed(self, ranker: str, recommender: FittedRecommender | Path | str) -> None:
        """Have a recommender choose the candidates of a ranker, which is created if it is not there."""
        self._feed(ranker, served(recommender))

    def recommenders(self) -> list[RecommenderInfo]:
        """The recommenders there are, by the rankers they feed."""
        return [info(name, found) for name, found in sorted(self._recommenders.items())]

    def recommender(self, ranker: str) -> ServedRecommender:
        """The recommender that feeds a ranker."""
        if ranker not in self._recommenders:
            choices = suggest_name(ranker, self._recommenders) if self._recommenders else "there is none"
            raise RequestError(f"no recommender feeds a ranker {ranker!r}: {choices}")
        return self._recommenders[ranker]

    def recommend(self, request: RecommendRequest) -> Recommendation:
        """A list of what someone may like best, with its reasons; a list like any other, as `rank` gives it.

        The recommender chooses candidates, and its scores are features of theirs; the ranker, which learns
        from clicks, puts them in order. If the recommender fails, the list has the most popular items.
        """
        made = self.prepare_recommendation(request)
        return made.shown(self.publish(made.draft, urgent=request.query_id is not None))

    def prepare_recommendation(self, request: RecommendRequest, *, fresh: str = "") -> RecommendationDraft:
        """A recommendation that is not shown yet: `publish` its draft, or let it go."""
        prepare, fall_back = (
            partial(self.prepare, fresh=fresh),
            partial(self.fall_back_recommendation, fresh=fresh),
        )
        return recommended_or_popular(self.recommender(request.ranker), request, prepare, fall_back)

    def fall_back_recommendation(
        self, request: RecommendRequest, reason: str, *, fresh: str = ""
    ) -> RecommendationDraft:
        """The most popular items as a list, when there is no time or no way to recommend others."""
        self.list_service.check_unused(request.query_id)
        fall_back = partial(self.fall_back, fresh=fresh)
        return popular_instead(self.recommender(request.ranker), request, reason, fall_back)

    def interview(self, ranker: str, answers: Mapping[str, str] | None = None) -> Interview:
        """The next question to a newcomer after these answers, by the ids of the questions."""
        check_answers(answers or {})
        return ask_next(self.recommender(ranker).fitted, answers or {})

    # learning

    @property
    def learns_by_itself(self) -> bool:
        """Whether a thread in the background does it."""
        return self._thread is not None

    def tick(self, *, patience: float = 0.0) -> None:
        """Let time pass: close what has been due for so many seconds, and learn."""
        try:
            self.collection.tick(patience)
        finally:
            if self._jobs.inline:
                self._jobs.work()

    @property
    def starting(self) -> bool:
        """Whether the log of a ranker is still to be folded for the first time in this process."""
        return self.collection.is_starting

    def behind(self) -> int:
        """How many entries the log has that the learning thread has not looked at."""
        return self.collection.rounds.behind() if self._thread else 0

    @property
    def learner_age(self) -> float:
        """Seconds since the learning thread last got through; 0 without one."""
        return time.monotonic() - self._thread.looked_at if self._thread else 0.0

    @property
    def learner_errors(self) -> int:
        """How often the learning thread has failed."""
        return self._thread.errors if self._thread else 0

    def _feed(self, ranker: str, found: ServedRecommender) -> None:
        if ranker not in self.collection.by_name:
            self.create(ranker)
        self._recommenders[ranker] = found
