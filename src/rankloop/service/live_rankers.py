"""Live rankers over one store: lists, recommendations, events and learning."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rankloop.candidate import Candidate
from rankloop.errors import RequestError, SettingError, suggest_name
from rankloop.policies import Policy
from rankloop.policies.policy_names import POLICIES, PolicyKinds
from rankloop.recommend import FittedRecommender, Interview, ask_next
from rankloop.service.core.background_thread import LearningThread
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.creation import begin
from rankloop.service.core.extension import Registry
from rankloop.service.core.learner import LearningRounds
from rankloop.service.core.lists.candidate_columns import Candidates, columns
from rankloop.service.core.lists.make_list import MadeList
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.lists.rank_response import RankResponse
from rankloop.service.core.lists.ranked_lists import RankedLists
from rankloop.service.core.model import Model
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_collection import RankerInfo
from rankloop.service.core.ranker_settings import (
    BaseRankerSettings,
    Mode,
    check_mode,
    check_policy_can_serve,
    complete_settings,
    parse_settings,
)
from rankloop.service.events.event_selection import EventSelection, select_events
from rankloop.service.events.imported_lists import ImportedList, import_lists
from rankloop.service.events.list_lookup_retry import submit_with_retry
from rankloop.service.events.unmatched_events import UnmatchedEventBudget
from rankloop.service.events.user_event import Receipt, UserEvent, parse_event
from rankloop.service.events.verdicts import write_events
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
from rankloop.service.reports.decision_log import signed
from rankloop.service.store import Impression, ListFilter, ListSummary, Store, Transaction, write
from rankloop.service.store.learner_election import Election
from rankloop.short_text import check_text

MOST_EVENTS = 10_000  # in one call
MOMENT = 1e15  # beyond every time of a log
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
        self._registry: Registry = load_registry()
        self._policy_kinds: PolicyKinds = {**POLICIES, **{each.__name__: each for each in policies}}
        self.unmatched = UnmatchedEventBudget()
        fed = {name: served(saved) for name, saved in recommenders.items()}  # before anything begins
        self._recommenders: dict[str, ServedRecommender] = {}
        self._naming = threading.Lock()
        self._rankers: Mapping[str, Ranker] = {}
        self._holding: set[RankedLists] = set()  # those that wait, because the store is away
        self._rounds = LearningRounds(store, self._opened, self._holding)
        self._discover(begin=wait or not background)
        for name, found in fed.items():
            self._feed(name, found)
        self._jobs = JobRunner(lambda: self._rankers, store, background=background)
        self._thread = LearningThread(partial(self.tick, patience=PATIENCE)) if background else None
        if self._thread and not wait:
            self._thread.wake()

    # rankers

    def create(
        self,
        ranker: str,
        settings: BaseRankerSettings | None = None,
        *,
        mode: Mode = "explore",
        by: str = "",
        reason: str = "",
    ) -> None:
        """Start a ranker; nothing happens if it is there with the same settings.

        Here and in all that is decided, `by` is who did, as a rule the name of a key, and `reason` why.
        """
        check_text("a ranker's name", ranker)
        check_mode(mode)
        wanted = complete_settings(settings or self._registry.settings_type(), self._policy_kinds)
        check_policy_can_serve(wanted, self._policy_kinds)
        created = begin(self.store, ranker, wanted, mode, at=self.clock(), said=signed(by, reason))
        self._discover()
        if not created and settings is not None and self.settings(ranker).to_json() != wanted.to_json():
            raise SettingError(f"there is a ranker {ranker!r} with other settings: use configure")

    def rankers(self) -> list[str]:
        """The rankers there are."""
        return sorted(self._rankers)

    def catalogue(self) -> list[RankerInfo]:
        """The rankers there are: policy, settings, mode and version of each, in the order of their names."""
        return [RankerInfo.of(found) for _, found in sorted(self._rankers.items())]

    def ranker(self, name: str) -> Ranker:
        """A ranker by name."""
        if name not in self._rankers and not self.learns_by_itself:
            self._discover()  # perhaps another process has just created it; otherwise a thread looks
        if name not in self._rankers:
            choices = suggest_name(name, self._rankers) if self._rankers else "none was created yet"
            raise RequestError(f"no ranker is called {name!r}: {choices}")
        return self._rankers[name]

    def settings(self, ranker: str) -> BaseRankerSettings:
        """The settings in force."""
        return self.ranker(ranker).settings

    def settings_from(self, data: Mapping[str, Any]) -> BaseRankerSettings:
        """Settings from JSON under which a policy can rank and learn: it is tried out first."""
        return parse_settings(data, self._registry.settings_type, self._policy_kinds)

    def mode(self, ranker: str) -> Mode:
        """Return the mode of a ranker."""
        return self.ranker(ranker).view.configuration.mode

    def set_mode(self, ranker: str, mode: Mode, *, by: str = "", reason: str = "") -> int:
        """Step up or down; in force when this returns."""
        check_mode(mode)
        return self.ranker(ranker).decide("mode", mode=mode, **{"reason": reason, **signed(by, reason)})

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

    # ranking

    def rank(
        self,
        candidates: Sequence[Candidate] | Candidates,
        *,
        ranker: str = "default",
        k: int = 10,
        user_query: str = "",
        client_id: str = "",
        session_id: str = "",
        query_id: str | None = None,
        user: str = "",
        context: Mapping[str, float | None] | None = None,
    ) -> RankResponse:
        """A list of `k` of the candidates, which come in the caller's own order.

        `context` are features of who asks, by name: policies for one ad choose by them.

        The list is written down without waiting for the disk; only events are acknowledged as durable.
        """
        request = RankRequest(
            ranker=ranker,
            candidates=candidates if isinstance(candidates, Candidates) else columns(candidates),
            k=k,
            user_query=user_query,
            client_id=client_id,
            session_id=session_id,
            query_id=query_id,
            user=user,
            context=context or {},
        )
        made = self.prepare(request)
        # urgent, so that the id is soon known to be taken
        return self.publish(made, urgent=query_id is not None).response

    def prepare(self, request: RankRequest, *, fresh: str = "") -> MadeList:
        """A list that is not shown yet: `publish` it, or let it go and it has never been.

        `fresh` is an id of `ids`, for a request without one that may have to be answered twice.
        """
        self._check_fresh(request.query_id)
        return self.ranker(request.ranker).lists.prepare(request, request.query_id or fresh or self.ids())

    def fall_back(self, request: RankRequest, reason: str, *, fresh: str = "") -> MadeList:
        """The caller's own order as a list, when there is no time or no way to make another."""
        found = self.ranker(request.ranker)
        return found.lists.fall_back(request, request.query_id or fresh or self.ids(), reason)

    def publish(self, made: MadeList, *, urgent: bool = False) -> MadeList:
        """A list that was prepared is shown now: have it written down, as a rule together with others.

        What is given back is to be shown: it says so if it cannot be written.
        """
        return self.ranker(made.impression.ranker).lists.publish(made, urgent=urgent)

    def write_down(self, made: MadeList) -> Future[None]:
        """`publish` for someone who waits until the list is durable before it is shown."""
        return self.ranker(made.impression.ranker).lists.write_down(made)

    def lists(self, ranker: str, *, last: int = 20) -> list[Impression]:
        """The lists shown last, the newest first."""
        return list(self.store.read_impressions(self.ranker(ranker).name, newest=last))

    def find_lists(
        self, ranker: str, wanted: ListFilter | None = None, *, last: int = 20
    ) -> list[ListSummary]:
        """Past lists in a line each, with what was clicked, the newest first: those that are wanted."""
        name = self.ranker(ranker).name
        return self.store.statistics.find_lists(name, wanted or ListFilter(), last=last)

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
        self._check_fresh(request.query_id)
        fall_back = partial(self.fall_back, fresh=fresh)
        return popular_instead(self.recommender(request.ranker), request, reason, fall_back)

    def interview(self, ranker: str, answers: Mapping[str, str] | None = None) -> Interview:
        """The next question to a newcomer after these answers, by the ids of the questions."""
        check_answers(answers or {})
        return ask_next(self.recommender(ranker).fitted, answers or {})

    # events

    def record(self, events: Iterable[UserEvent | Mapping[str, Any]]) -> list[Receipt]:
        """Take in what users did; a verdict for each, given when all are durable.

        Events are `UserEvent`s, or mappings in the shape of UBI. Late, repeated and unknown ones are welcome.
        """
        entered = self.enter(events).result()
        self.learn({ranker for ranker, _ in entered})
        return [receipt for _, receipt in entered]

    def enter(
        self,
        events: Iterable[UserEvent | Mapping[str, Any]],
        *,
        source: Callable[[UserEvent], str] | None = None,
    ) -> Future[list[tuple[str, Receipt]]]:
        """`record` without waiting: for each event its ranker, if it has one, and its receipt once durable.

        Then it is time to `learn`. `source` says where an event came from: see `SourceHash`.
        """
        said = [parse_event(event) for event in events]
        if source is not None:
            said = [e if isinstance(e, str) else replace(e, source=source(e)) for e in said]
        if len(said) > MOST_EVENTS:
            raise RequestError(f"at most {MOST_EVENTS} events in one call, found {len(said)}: send fewer")
        at = self.clock()

        for each in tuple(self._holding):
            each.resume()  # an event must not overtake its list

        def job(transaction: Transaction, last: bool) -> list[tuple[str, Receipt]]:
            return write_events(transaction, said, self._within, at, last=last, unmatched=self.unmatched)

        return submit_with_retry(self.store, job, patient=self.election.shared)

    def import_lists(self, ranker: str, lists: Sequence[ImportedList]) -> tuple[int, list[Receipt]]:
        """Learn from lists that were shown elsewhere, all or none; how many are new, and their receipts.

        A list whose id is in the log already changes nothing. They are open until their window closes:
        `flush` when there are no more.
        """
        found = self.ranker(ranker)
        entered = import_lists(found, self.store, lists, configuration_within=self._within, at=self.clock())
        self.learn([ranker])
        return entered

    def select_events(self, ranker: str, selection: EventSelection) -> list[str]:
        """The ids of the counted events of a client, a session, a source or a stretch of time."""
        return select_events(self.store, self.ranker(ranker).name, selection)

    def discard_strays(self, *, since: float | None = None, until: float | None = None) -> int:
        """Delete orphans, duplicates and what could not be understood, of a stretch of time; how many."""
        start, end = -MOMENT if since is None else since, MOMENT if until is None else until
        return write(
            self.store, lambda transaction: transaction.remove_unmatched_events(since=start, until=end)
        )

    # learning

    @property
    def learns_by_itself(self) -> bool:
        """Whether a thread in the background does it."""
        return self._thread is not None

    def learn(self, rankers: Iterable[str]) -> None:
        """Learn what came in for these rankers, or wake the thread that does."""
        if self._thread:
            self._thread.wake()
            return
        for name in filter(None, rankers):
            self.ranker(name).try_to_catch_up()

    def flush(self, ranker: str) -> None:
        """Close all open lists now, and learn from them; clicks on them that come later are late."""
        found = self.ranker(ranker)
        found.decide("flush")
        found.catch_up()

    def tick(self, *, patience: float = 0.0) -> None:
        """Let time pass: close what has been due for so many seconds, and learn."""
        errors = self._rounds.go(patience)
        if self._jobs.inline:
            self._jobs.work()
        if len(errors) > 1:
            raise ExceptionGroup(f"{len(errors)} rankers cannot go on just now", errors)
        if errors:
            raise errors[0]

    @property
    def starting(self) -> bool:
        """Whether the log of a ranker is still to be folded for the first time in this process."""
        return any(found.starting for found in self._rankers.values())

    def behind(self) -> int:
        """How many entries the log has that the learning thread has not looked at."""
        return self._rounds.behind() if self._thread else 0

    @property
    def learner_age(self) -> float:
        """Seconds since the learning thread last got through; 0 without one."""
        return time.monotonic() - self._thread.looked_at if self._thread else 0.0

    @property
    def learner_errors(self) -> int:
        """How often the learning thread has failed."""
        return self._thread.errors if self._thread else 0

    def _check_fresh(self, query_id: str | None) -> None:
        if query_id is not None and not self.store.describe_outage() and self.store.find_impression(query_id):
            raise RequestError(f"a list was shown under the query_id {query_id!r} before: ids must be unique")

    def _feed(self, ranker: str, found: ServedRecommender) -> None:
        if ranker not in self._rankers:
            self.create(ranker)
        self._recommenders[ranker] = found

    def _discover(self, *, begin: bool = True) -> None:
        """Open the rankers that are in the store and not yet here."""
        with self._naming:
            fresh = [name for name in self.store.list_rankers() if name not in self._rankers]
            if fresh:
                given = self.store, self._registry, self._policy_kinds, self.clock, self.election
                opened = {name: Ranker(name, *given, begin=begin, holding=self._holding) for name in fresh}
                self._rankers = {**self._rankers, **opened}

    def _opened(self, names: Collection[str]) -> Mapping[str, Ranker]:
        """The rankers there are, with those of these names."""
        if any(name not in self._rankers for name in names):
            self._discover()
        return self._rankers

    def _within(self, transaction: Transaction, ranker: str) -> Configuration:
        """The configuration of a ranker inside a transaction; this process may not know the ranker yet."""
        start = self._rankers[ranker].view.configuration if ranker in self._rankers else Configuration()
        return start.within(transaction, ranker, self._registry, self._policy_kinds)
