"""Ranking service without HTTP: named rankers over one store."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from rankloop.policies import Policy
from rankloop.portable import PortableModel
from rankloop.recommend import Saved
from rankloop.service.errors import HistoryError, RequestError
from rankloop.service.events.event import Receipt, UserEvent, understood
from rankloop.service.events.patience import patiently
from rankloop.service.events.strays import StrayBudget
from rankloop.service.events.verdicts import judged
from rankloop.service.ids import random_id
from rankloop.service.learning.model import Model
from rankloop.service.learning.thread import LearningThread
from rankloop.service.operations import people
from rankloop.service.operations.audit import Audit, Replay, audit, listed_again, replay
from rankloop.service.operations.decisions import Decided, decided, signed
from rankloop.service.operations.explain import Explanation, explain_past
from rankloop.service.operations.exposure import ExposureReport, exposure_report
from rankloop.service.operations.job_runner import JobRunner
from rankloop.service.operations.jobs import JobReport, ask, changed_settings, check_version, version_of
from rankloop.service.operations.keys import KeyManager
from rankloop.service.operations.learned import Learned, LearnedBetween, learned, learned_between
from rankloop.service.operations.past_lists import PastList, import_lists
from rankloop.service.operations.people import Deleted, PersonReport
from rankloop.service.operations.portable import past_model, portable, relearned
from rankloop.service.operations.query_report import (
    QueryLine,
    QueryReport,
    frequent_queries,
    query_report,
)
from rankloop.service.operations.retention import Retained, RetentionSettings, retain, shrink
from rankloop.service.operations.retirement import retire_body, retired_before, unused
from rankloop.service.operations.rollback import forget_body, rollback_body
from rankloop.service.operations.selection import Selection, select_events
from rankloop.service.operations.settings_change import SettingsPreview, patched, preview
from rankloop.service.operations.settled import SettledPairs, settled_pairs
from rankloop.service.operations.status import Health, RankerInfo, health
from rankloop.service.operations.trials import (
    RecentReports,
    TrialReport,
    begin,
    last_report,
    refuse_if_needed,
    reports,
    stop,
)
from rankloop.service.operations.undo import UndoPreview, undo, undo_plan
from rankloop.service.operations.what_if import WhatIf, one_target, what_if
from rankloop.service.ranker import InForceByRanker, Ranker
from rankloop.service.recommending.interview import Interview, interviewed
from rankloop.service.recommending.recommend import popular_instead, reasons_again, recommended_or_popular
from rankloop.service.recommending.recommender import ServedRecommender, served
from rankloop.service.recommending.request import RecommendRequest, check_answers
from rankloop.service.recommending.response import (
    PastReasons,
    Recommendation,
    RecommendationDraft,
    RecommenderInfo,
    info,
)
from rankloop.service.serving.candidates import Candidate, Candidates, columns
from rankloop.service.serving.request import RankRequest
from rankloop.service.serving.response import RankResponse
from rankloop.service.serving.serve import Draft
from rankloop.service.settings import MODES, Mode, RankerSettings, check_served, settings_from_json
from rankloop.service.texts import check_text
from rankloop.service.trial import TrialSettings
from rankloop.spelling import catalogue
from rankloop.store import (
    Decision,
    Impression,
    ListFilter,
    ListSummary,
    Person,
    Store,
    StoreError,
    Transaction,
    write,
)
from rankloop.store.election import ALONE, Election
from rankloop.types import SettingError, suggestion

MOST_EVENTS = 10_000  # in one call
DAY = 86_400.0  # seconds
MOMENT = 1e15  # beyond every time of a log
LOOK_AT_AGE, LOOK_AT_SIZE = 3600.0, 60.0  # seconds between two looks at what may go
UPKEEP = 5.0  # seconds between two looks at what is to be done besides learning
BEYOND = 2**62  # every entry of a log
PATIENCE = 1.0  # seconds: as a rule the next event tells the log the time
SELDOM = 16  # ticks after which every ranker is asked whether it has something to do


class RankingService:
    """Ranks, takes in what users did, and learns; everything it knows is in the store.

    With `background=True` a thread of its own learns and lets time pass; otherwise `record` and `flush` learn
    before they return. `clock` and `ids` are arguments so that a life can be lived again exactly. `policies`
    are classes of your own, to be found by their names. `recommenders` are fitted recommenders, or files of
    `rankloop recommend fit`, by the name of the ranker that they feed, which is created if it is not there.
    `election` says which of several processes on one store writes ticks and snapshots; without one, this is
    the only process. Without `wait`, the logs are folded in the background: until then, as `starting` says,
    lists are in the caller's order.

    >>> from rankloop.store import MemoryStore
    >>> service = RankingService(MemoryStore(), clock=lambda: 0.0, ids=iter("12345").__next__)
    >>> service.create("shop")
    >>> shown = service.rank([Candidate("a", {"price": 3}), Candidate("b", {"price": 1})], ranker="shop")
    >>> service.record([UserEvent(shown.query_id, "b")])[0].verdict
    'accepted'
    >>> service.flush("shop")  # do not wait for the window to close
    >>> service.model("shop").lists
    1
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        ids: Callable[[], str] = random_id,
        background: bool = False,
        policies: Iterable[type[Policy]] = (),
        recommenders: Mapping[str, Saved | Path | str] | None = None,
        election: Election = ALONE,
        wait: bool = True,
        retention: RetentionSettings | None = None,
    ) -> None:
        self.retention = retention or RetentionSettings()  # in the background, by itself
        self._retained = {"age": float("-inf"), "size": float("-inf")}  # when it last looked
        self.store, self.clock, self.ids, self.election = store, clock, ids, election
        self._known = catalogue(policies)
        self.strays = StrayBudget()
        fed = {name: served(saved) for name, saved in (recommenders or {}).items()}  # before anything begins
        self._recommenders: dict[str, ServedRecommender] = {}
        self._naming = threading.Lock()
        self._rankers: Mapping[str, Ranker] = {}
        self._holding: set[Ranker] = set()  # whose lists wait, because the store is away
        self._restless: set[str] = set()  # those that had something to do when they were last looked after
        self._ticks = 0
        self._told = RecentReports()
        self._looked_after, _ = store.changed(after=BEYOND)  # the entry up to which every ranker was seen
        self.keys = KeyManager(store, clock=clock, watch=background)
        self._discover(begin=wait or not background)
        for name, found in fed.items():
            self._feed(name, found)
        self._jobs = JobRunner(lambda: self._rankers, store, background=background)
        self._thread = LearningThread(partial(self.tick, patience=PATIENCE)) if background else None
        self._keeper = LearningThread(self.upkeep, every=UPKEEP, name="upkeep") if background else None
        if self._thread and not wait:
            self._thread.wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # rankers

    def create(
        self,
        ranker: str,
        settings: RankerSettings | None = None,
        *,
        mode: Mode = "explore",
        by: str = "",
        reason: str = "",
    ) -> None:
        """Start a ranker; nothing happens if it is there with the same settings.

        Here and in all that is decided, `by` is who did, as a rule the name of a key, and `reason` why.
        """
        check_text("a ranker's name", ranker)
        _check_mode(mode)
        rules = settings or RankerSettings()
        check_served(rules)
        at, said = self.clock(), signed(by, reason)

        def job(transaction: Transaction) -> bool:
            if transaction.decisions(ranker):
                return False
            now = transaction.time(at)
            for kind, body in (("settings", {"settings": rules.to_json()}), ("mode", {"mode": mode})):
                transaction.append(Decision(at=now, ranker=ranker, kind=kind, body={**body, **said}))
            return True

        created = write(self.store, job)
        self._discover()
        if not created and settings is not None and self.settings(ranker).to_json() != rules.to_json():
            raise SettingError(f"there is a ranker {ranker!r} with other settings: use configure")

    def configure(
        self,
        ranker: str,
        settings: RankerSettings,
        *,
        relearn: bool = False,
        version: int | None = None,
        by: str = "",
        reason: str = "",
    ) -> int:
        """Change the rules; returns the version of the settings.

        With a `version`, it is refused unless those are the settings in force: nobody overwrites another.

        What was learned stays if the new policy `understands` it: if it is of the same kind and has the same
        scorer, covariance, memory and number of networks. With `relearn` the log is learned again as if
        these rules had always held: a warm start for another policy, and the way for one that cannot take
        more features to begin with all there are.
        """
        check_served(settings)
        found = self.ranker(ranker)
        said = signed(by, reason)
        if relearn:
            number = self._ask_to_relearn(found, settings, said, version)
            return version_of(self._jobs.soon(found, number, seconds=None))
        seq = found.decide_if(partial(changed_settings, settings, said, version))
        found.catch_up()
        return seq

    def adopt(
        self,
        ranker: str,
        settings: RankerSettings,
        *,
        version: int | None = None,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Learn the log again as if these rules had always held; they are in force when that is done.

        It is a job, as `forget` and `rollback` are: done when this returns if it takes no longer than a
        moment, and otherwise under way. Until then the ranker goes on as it is. The same `key` is the same
        job, whenever it is asked for.
        """
        check_served(settings)
        found = self.ranker(ranker)
        number = self._ask_to_relearn(found, settings, signed(by, reason), version, key)
        return self._jobs.soon(found, number)

    def _ask_to_relearn(
        self,
        found: Ranker,
        settings: RankerSettings,
        said: Mapping[str, str],
        version: int | None,
        key: str = "",
    ) -> int:
        body, check = {"settings": settings.to_json()}, partial(check_version, version)
        return ask(found, "relearn", body, key=key, said=said, check=check)

    def preview(self, ranker: str, settings: RankerSettings, *, relearn: bool = False) -> SettingsPreview:
        """What these settings would change, and what would be lost by them; changes nothing."""
        return preview(self.ranker(ranker), self.store, settings, relearn=relearn)

    def patched(self, ranker: str, patch: Mapping[str, Any]) -> RankerSettings:
        """The settings in force with some of them changed, by a JSON merge patch; changes nothing."""
        return self.settings_from(patched(self.ranker(ranker), patch))

    def settings_from(self, data: Mapping[str, Any]) -> RankerSettings:
        """Settings from JSON under which a policy can rank and learn: it is tried out first."""
        return settings_from_json(data, self._known)

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
            choices = suggestion(name, self._rankers) if self._rankers else "none was created yet"
            raise RequestError(f"no ranker is called {name!r}: {choices}")
        return self._rankers[name]

    def settings(self, ranker: str) -> RankerSettings:
        """The rules in force."""
        return self.ranker(ranker).rules

    def mode(self, ranker: str) -> Mode:
        """The rung of the ladder it stands on."""
        return self.ranker(ranker).view.in_force.mode

    def set_mode(self, ranker: str, mode: Mode, *, by: str = "", reason: str = "") -> int:
        """Step up or down; in force when this returns."""
        _check_mode(mode)
        return self.ranker(ranker).decide("mode", mode=mode, **{"reason": reason, **signed(by, reason)})

    def schema(self, ranker: str) -> list[str]:
        """The names of the features it has seen, by column."""
        return list(self.ranker(ranker).view.in_force.schema)

    def columns(self, ranker: str) -> list[str]:
        """The names of the features of any past list, by column: also of those that were retired."""
        return list(self.ranker(ranker).view.in_force.names)

    def context_schema(self, ranker: str) -> list[str]:
        """The names of the features of who asks that it has seen, by column."""
        return list(self.ranker(ranker).view.in_force.context)

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

    def prepare(self, request: RankRequest, *, fresh: str = "") -> Draft:
        """A list that is not shown yet: `publish` it, or let it go and it has never been.

        `fresh` is an id of `ids`, for a request without one that may have to be answered twice.
        """
        self._check_fresh(request.query_id)
        return self.ranker(request.ranker).prepare(request, request.query_id or fresh or self.ids())

    def fall_back(self, request: RankRequest, reason: str, *, fresh: str = "") -> Draft:
        """The caller's own order as a list, when there is no time or no way to make another."""
        found = self.ranker(request.ranker)
        return found.fall_back(request, request.query_id or fresh or self.ids(), reason)

    def publish(self, made: Draft, *, urgent: bool = False) -> Draft:
        """A list that was prepared is shown now: have it written down, as a rule together with others.

        What is given back is to be shown: it says so if it cannot be written.
        """
        return self.ranker(made.impression.ranker).publish(made, urgent=urgent)

    def write_down(self, made: Draft) -> Future[None]:
        """`publish` for someone who waits until the list is durable before it is shown."""
        return self.ranker(made.impression.ranker).write_down(made)

    # recommending

    def feed(self, ranker: str, recommender: Saved | Path | str) -> None:
        """Have a recommender choose the candidates of a ranker, which is created if it is not there."""
        self._feed(ranker, served(recommender))

    def recommenders(self) -> list[RecommenderInfo]:
        """The recommenders there are, by the rankers they feed."""
        return [info(name, found) for name, found in sorted(self._recommenders.items())]

    def recommender(self, ranker: str) -> ServedRecommender:
        """The recommender that feeds a ranker."""
        if ranker not in self._recommenders:
            choices = suggestion(ranker, self._recommenders) if self._recommenders else "there is none"
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

    def reasons(self, query_id: str) -> PastReasons:
        """Why the results of a past list were recommended, if the recommender of that time is still here."""
        shown = self.audit(query_id).impression
        return reasons_again(self._recommenders.get(shown.ranker), shown)

    def interview(self, ranker: str, answers: Mapping[str, str] | None = None) -> Interview:
        """The next question to a newcomer after these answers, by the ids of the questions."""
        check_answers(answers or {})
        return interviewed(ranker, self.recommender(ranker).saved, answers or {})

    # events and learning

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
        said = [understood(event) for event in events]
        if source is not None:
            said = [e if isinstance(e, str) else replace(e, source=source(e)) for e in said]
        if len(said) > MOST_EVENTS:
            raise RequestError(f"at most {MOST_EVENTS} events in one call, found {len(said)}: send fewer")
        at, known = self.clock(), self._known
        in_force = InForceByRanker(self._rankers)

        for each in tuple(self._holding):
            each.resume_lists()  # an event must not overtake its list

        def job(transaction: Transaction, last: bool) -> list[tuple[str, Receipt]]:
            return judged(transaction, said, in_force, known, at, last=last, strays=self.strays)

        return patiently(self.store, job, patient=self.election.shared)

    def import_lists(self, ranker: str, lists: Sequence[PastList]) -> tuple[int, list[Receipt]]:
        """Learn from lists that were shown elsewhere, all or none; how many are new, and their receipts.

        A list whose id is in the log already changes nothing. They are open until their window closes:
        `flush` when there are no more.
        """
        found = self.ranker(ranker)
        in_force, at = InForceByRanker(self._rankers), self.clock()
        entered = import_lists(found, self.store, lists, rankers=in_force, known=self._known, at=at)
        self.learn([ranker])
        return entered

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
            found = self.ranker(name)
            found.try_to_catch_up()
            found.watch()

    def flush(self, ranker: str) -> None:
        """Close all open lists now, and learn from them; clicks on them that come later are late."""
        found = self.ranker(ranker)
        found.decide("flush")
        found.catch_up()

    def tick(self, *, patience: float = 0.0) -> None:
        """Let time pass: close what has been due for so many seconds, learn, look after the guards."""
        try:
            head, changed = self.store.changed(after=self._looked_after)
        except StoreError:  # each of them finds out, and says so
            head, changed = self._looked_after, set(self._rankers)
        if any(name not in self._rankers for name in changed):
            self._discover()
        troubles = []
        for found in self._to_look_after(changed, everyone=not patience or self._ticks % SELDOM == 0):
            try:
                found.tick(patience)
            except Exception as error:  # one that is in trouble must not keep the others waiting
                troubles.append(error)
            (self._restless.add if found.restless else self._restless.discard)(found.name)
        self._looked_after, self._ticks = head, self._ticks + 1
        if self._jobs.inline:
            self._jobs.work()
        if troubles:
            raise troubles[0]

    def _to_look_after(self, changed: Collection[str], *, everyone: bool) -> list[Ranker]:
        """The rankers with new entries, and those that have something to do all the same.

        There may be thousands: as a rule only those are asked that had something to do the last time.
        """
        holding = {each.name for each in tuple(self._holding)}
        asked = self._rankers if everyone else sorted({*changed, *self._restless, *holding})
        found = ((name, self._rankers.get(name)) for name in asked)
        return [each for name, each in found if each and (name in changed or each.restless)]

    def model(self, ranker: str) -> Model:
        """What readers see now."""
        return self.ranker(ranker).view.model

    def portable(
        self, ranker: str, *, version: int | None = None, by_document: bool = False
    ) -> PortableModel:
        """What a ranker computes without exploring, at any version, as plain arrays for other engines.

        `by_document`: what its log teaches if features are scaled by what was learned, and the caller's own
        order does not count, so that each document has a score of its own; changes nothing.
        """
        found = self.ranker(ranker)
        model = found.view.model if version is None else past_model(found.history, version)
        if by_document:
            if version is not None:
                raise SettingError("what the log teaches by document is learned now: leave out the version")
            model = relearned(found.rules, model, partial(self.relearn, ranker))
        return portable(model, found.view.in_force.names, self.store, ranker)

    # trials

    def start_trial(
        self, ranker: str, settings: TrialSettings | None = None, *, by: str = "", reason: str = ""
    ) -> int:
        """Compare a ranker with the caller's order, another ranker or another policy, live; its number.

        It runs until it is stopped, or until an arm is changed: by settings, mode, rollback or forget.
        """
        plan, found = settings or TrialSettings(), self.ranker(ranker)
        other = self.ranker(plan.ranker) if plan.ranker else None
        found.try_to_catch_up()
        return begin(found, self.store, self._known, plan, other, said=signed(by, reason))

    def stop_trial(
        self, ranker: str, trial: int, *, by: str = "", reason: str = "it was stopped"
    ) -> TrialReport:
        """End a trial, whenever you like; the report of what it has shown."""
        check_text("the reason", reason)
        return stop(self.ranker(ranker), self.store, trial, reason=reason, by=by)

    def trials(self, ranker: str) -> list[TrialReport]:
        """The trials of a ranker and what has come of them so far, the newest first."""
        return reports(self.ranker(ranker), self.store)

    def trial(self, ranker: str) -> TrialReport | None:
        """The trial that runs, or the last one."""
        return last_report(self.ranker(ranker), self.store)

    def recent_trial(self, ranker: str) -> TrialReport | None:
        """The trial that runs as it was a minute ago or less: for those who ask all the time."""
        return self._told.report(self.ranker(ranker), self.store)

    # the past

    def versions(self, ranker: str) -> list[tuple[int, float]]:
        """Versions with a snapshot, and when each was made; any version between them can be rebuilt, too."""
        return [(int(seq), float(at)) for seq, at in self.store.snapshots(self.ranker(ranker).name)]

    def rollback(
        self,
        ranker: str,
        *,
        to: int | None = None,
        moment: float | None = None,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Go back to an earlier version, or to that of a moment; a job, with the new version's number.

        Nothing is deleted: going back is a decision in the log, and can be taken back by another.
        """
        found = self.ranker(ranker)
        body = rollback_body(found, self.store, to=to, moment=moment)
        number = ask(found, "rollback", body, key=key, said=signed(by, reason))
        return self._jobs.soon(found, number)

    def forget(
        self, ranker: str, event_ids: Iterable[str], *, key: str = "", by: str = "", reason: str = ""
    ) -> JobReport:
        """Learn the whole log again as if these events had never been; a job."""
        found = self.ranker(ranker)
        body = forget_body(found, self.store, event_ids)
        number = ask(found, "forget", body, key=key, said=signed(by, reason))
        return self._jobs.soon(found, number)

    def retire_features(
        self,
        ranker: str,
        names: Iterable[str] = (),
        *,
        unused_for: float | None = None,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Learn the log again as if these features had never been sent, and take them off the schema; a job.

        By their names, or those in no list of the last `unused_for` days. Lists that were shown with them
        replay with the model of their time. One that comes again is a new feature.
        """
        found = self.ranker(ranker)
        said, chosen = signed(by, reason), tuple(names)
        number = retired_before(found, self.store, chosen, key)
        if not number:
            body = retire_body(found, self.store, chosen, unused_for)
            number = ask(found, "retire", body, key=key, said=said)
        return self._jobs.soon(found, number)

    def unused_features(self, ranker: str, *, days: float = 30.0) -> list[str]:
        """The features in no list of the last days; lists are read from the newest until all were seen."""
        return unused(self.ranker(ranker), self.store, days)

    def jobs(self) -> list[JobReport]:
        """What was asked for that takes a while, of all rankers, the newest first."""
        return self._jobs.reports()

    def job(self, number: int) -> JobReport:
        """A job as of now."""
        return self._jobs.report(self._jobs.find(number), number)

    def cancel_job(self, number: int, *, reason: str = "it was cancelled", by: str = "") -> JobReport:
        """Cancel a job that is not done: nothing is changed."""
        check_text("the reason", reason)
        return self._jobs.cancel(number, signed(by, reason))

    def select_events(self, ranker: str, selection: Selection) -> list[str]:
        """The ids of the counted events of a client, a session, a source or a stretch of time."""
        return select_events(self.store, self.ranker(ranker).name, selection)

    def discard_strays(self, *, since: float | None = None, until: float | None = None) -> int:
        """Delete orphans, duplicates and what could not be understood, of a stretch of time; how many."""
        start, end = -MOMENT if since is None else since, MOMENT if until is None else until
        return write(self.store, lambda transaction: transaction.discard_strays(since=start, until=end))

    def relearn(self, ranker: str, settings: RankerSettings) -> Model:
        """What other rules, or another policy, would have learned from the log; changes nothing."""
        found = self.ranker(ranker)
        return found.history.again(2**62, rules=settings, without=found.fold.without).model

    def what_if(
        self,
        ranker: str,
        policy: Policy | None = None,
        *,
        other: str = "",
        depth: int = 1,
        share: float = 0.5,
        explore: bool = False,
        level: float = 0.95,
    ) -> WhatIf:
        """How many clicks on the first results another policy, or another ranker, would have got.

        A policy learns from the first `share` of the lists, and the others judge it; as it would show without
        exploring, unless it is to `explore`. `NoSupport` if the log could not have shown what it would.
        """
        target = one_target(policy, self.ranker(other) if other else None)
        found = self.ranker(ranker)
        return what_if(found, self.store, target, depth=depth, share=share, explore=explore, level=level)

    def audit(self, query_id: str) -> Audit:
        """Everything that is known about a past list."""
        if self.store.impression(query_id) is None:
            write(
                self.store, lambda transaction: transaction.shown(query_id)
            )  # perhaps it is just being written
        return audit(self.store, query_id)

    def replay(self, query_id: str) -> Replay:
        """A past list, made again from its inputs and the model of its time."""
        shown = self.audit(query_id).impression
        return replay(shown, self.ranker(shown.ranker).history)

    def explain(self, query_id: str, a: str, b: str) -> Explanation:
        """Why one result stood above another."""
        shown = self.audit(query_id).impression
        found = self.ranker(shown.ranker)
        return explain_past(shown, found.history, found.view.in_force, a, b)

    def settled(self, query_id: str) -> SettledPairs:
        """What was settled in a past list, and what was still open."""
        shown = self.audit(query_id).impression
        history = self.ranker(shown.ranker).history
        return settled_pairs(shown, history.model(shown.model), again=listed_again(shown, history))

    def lists(self, ranker: str, *, last: int = 20) -> list[Impression]:
        """The lists shown last, the newest first."""
        return list(self.store.impressions(self.ranker(ranker).name, last=last))

    def find_lists(
        self, ranker: str, wanted: ListFilter | None = None, *, last: int = 20
    ) -> list[ListSummary]:
        """Past lists in a line each, with what was clicked, the newest first: those that are wanted."""
        return list(self.store.summaries(self.ranker(ranker).name, wanted or ListFilter(), last=last))

    def learned(self, ranker: str, version: int | None = None) -> Learned:
        """What a version has learned, in numbers and in words; without one, what is in use."""
        return learned(self.ranker(ranker), version)

    def learned_between(self, ranker: str, before: int, after: int | None = None) -> LearnedBetween:
        """What has changed from one version to another; without a second one, to what is in use."""
        return learned_between(self.ranker(ranker), before, after)

    def frequent_queries(self, ranker: str, *, most: int = 10) -> list[QueryLine]:
        """The queries that were asked most of late, how much is settled in each, and what the rest needs."""
        return frequent_queries(self.ranker(ranker), self.store, most=most)

    def query_report(self, ranker: str, user_query: str) -> QueryReport:
        """One query: its lists and clicks, its order now beside the caller's, and what is not settled."""
        return query_report(self.ranker(ranker), self.store, user_query)

    def account(self, ranker: str) -> dict[str, int]:
        """By how many millionths of a look each group is ahead: what the next list is held to."""
        found = self.ranker(ranker)
        return dict(found.account.ahead(found.view.in_force.account))

    def exposure(
        self, ranker: str, *, since: float | None = None, until: float | None = None, steps: int = 50
    ) -> ExposureReport:
        """What each group got and what was due to it; in the last day, if nothing is said."""
        end = self.store.time(self.clock()) + 1 if until is None else until
        start = end - DAY if since is None else since
        return exposure_report(self.ranker(ranker), self.store, since=start, until=end, steps=steps)

    def retain(self, ranker: str, *, since: float, by: str = "", reason: str = "") -> Retained:
        """Discard what is older than a moment and not needed any more, and give the space back."""
        refuse_if_needed(self._rankers, ranker)
        return retain(self.ranker(ranker), self.store, since, said=signed(by, reason))

    def shrink(self, ranker: str, *, gigabytes: float, by: str = "", reason: str = "") -> Retained:
        """Discard the oldest part of a log until the store takes no more than so much, as far as it can."""
        refuse_if_needed(self._rankers, ranker)
        most = RetentionSettings(gigabytes=gigabytes).most
        return shrink(self.ranker(ranker), self.store, most, said=signed(by, reason))

    def undo_preview(self, decision: int) -> UndoPreview:
        """What undoing a decision, by its entry in the log, would do, or why it cannot be undone."""
        return undo_plan(self, decision).preview

    def undo(self, decision: int, *, confirm: str, reason: str, by: str = "") -> UndoPreview:
        """Restore what was in force before a decision, by another one; `confirm` is of its preview."""
        return undo(self, decision, confirm=confirm, by=by, reason=reason)

    # people's data

    def find_person(self, person: Person) -> PersonReport:
        """What is stored of a person: lists, events, and how many."""
        return people.find(self.store, person)

    def delete_people(self, persons: Sequence[Person], *, by: str = "", reason: str = "") -> Deleted:
        """Delete what is stored of people, from log, snapshots and models, and leave no byte of it.

        Everything but the last step, which writes the files anew, is done when this returns; with a thread in
        the background that follows, and `deletions` says when it is done. What it decided is in the log
        without whom it was about.
        """
        decision = people.delete(self.store, persons, clock=self.clock(), said=signed(by, reason))
        if not self.learns_by_itself:
            self.finish_deletions()
        elif decision is not None and self._keeper:
            self._keeper.wake()
        return people.report(self.store, decision)

    def finish_deletions(self) -> None:
        """Learn anew what was learned from what was deleted, and write the files anew; again after a kill."""
        if people.pending(self.store):
            for found in self._rankers.values():
                found.try_to_catch_up()
            people.finish(self.store, clock=self.clock())

    @property
    def leads(self) -> bool:
        """Whether this process does what only one of those on a store is to do."""
        first = next(iter(sorted(self._rankers)), None)
        return first is None or self._rankers[first].leads

    def upkeep(self) -> None:
        """What is to be done now and then: finish what was deleted, by one process of those on a store."""
        if self.leads:
            self.finish_deletions()
            self._retain_by_itself()

    def _retain_by_itself(self) -> None:
        """Keep to the settings of retention; a ranker whose past is needed just now is left for later."""
        now, rules = time.monotonic(), self.retention
        if rules.days and now - self._retained["age"] >= LOOK_AT_AGE:
            self._retained["age"] = now
            since = self.store.time(self.clock()) - DAY * rules.days
            for name in self.rankers():
                with contextlib.suppress(RequestError, HistoryError):
                    self.retain(name, since=since, reason=f"older than {rules.days:g} days")
        if self.store.size() > rules.most and now - self._retained["size"] >= LOOK_AT_SIZE:
            self._retained["size"] = now
            for name in self.rankers():
                with contextlib.suppress(RequestError, HistoryError):
                    self.shrink(name, gigabytes=rules.gigabytes, reason=f"over {rules.gigabytes:g} GB")

    def deletions(self) -> list[Deleted]:
        """What was deleted on request, the newest first, and whether it is done."""
        return people.reports(self.store)

    def decided(
        self, *, ranker: str | None = None, kind: str = "", who: str = "", last: int = 100
    ) -> list[Decided]:
        """What operators decided, the newest first: who, when, and why."""
        name = None if ranker is None else self.ranker(ranker).name
        return decided(self.store, ranker=name, kind=kind, who=who, last=last)

    # life

    def health(self) -> Health:
        """Whether everything keeps up."""
        error = self._thread.error if self._thread else ""
        return health(self._rankers, error=error, lag=self.store.lag(self.clock()))

    def close(self) -> None:
        """Stop learning and keep what was learned; the store stays open. Jobs go on with the next start."""
        self.keys.close()
        self._jobs.stop()
        for thread in (self._keeper, self._thread):
            if thread:
                thread.stop()
        for found in self._rankers.values():
            found.resume_lists()
            found.try_to_catch_up()
            if not found.broken and found.leads:
                found.keep()

    def _check_fresh(self, query_id: str | None) -> None:
        if query_id is not None and not self.store.away() and self.store.impression(query_id):
            raise RequestError(f"a list was shown under the query_id {query_id!r} before: ids must be unique")

    def _feed(self, ranker: str, found: ServedRecommender) -> None:
        if ranker not in self._rankers:
            self.create(ranker)
        self._recommenders[ranker] = found

    @property
    def starting(self) -> bool:
        """Whether the log of a ranker is still to be folded for the first time in this process."""
        return any(found.starting for found in self._rankers.values())

    def behind(self) -> int:
        """How many entries the log has that the learning thread has not looked at."""
        return max(self.store.changed(after=BEYOND)[0] - self._looked_after, 0) if self._thread else 0

    @property
    def learner_age(self) -> float:
        """Seconds since the learning thread last got through; 0 without one."""
        return time.monotonic() - self._thread.looked_at if self._thread else 0.0

    @property
    def learner_errors(self) -> int:
        """How often the learning thread has failed."""
        return self._thread.errors if self._thread else 0

    def _discover(self, *, begin: bool = True) -> None:
        """Open the rankers that are in the store and not yet here."""
        with self._naming:
            fresh = [name for name in self.store.rankers() if name not in self._rankers]
            if fresh:
                opened = {name: self._opened(name, begin) for name in fresh}
                self._rankers = {**self._rankers, **opened}

    def _opened(self, name: str, begin: bool) -> Ranker:
        return Ranker(
            name, self.store, self._known, self.clock, self.election, begin=begin, holding=self._holding
        )


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise SettingError(f"no mode is called {mode!r}: {suggestion(str(mode), MODES)}")
