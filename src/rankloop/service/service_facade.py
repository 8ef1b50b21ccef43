"""Ranking service without HTTP: named rankers over one store, and all that their operators ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Self

from rankloop.policies import Policy
from rankloop.recommend import FittedRecommender
from rankloop.service.core.background_thread import LearningThread
from rankloop.service.core.decision_kind import sign_decision
from rankloop.service.core.lists.replay import find_swapped_pairs
from rankloop.service.core.model import Model
from rankloop.service.core.past_decisions import END
from rankloop.service.core.ranker_settings import BaseRankerSettings, build_policy
from rankloop.service.events.event_selection import EventSelection
from rankloop.service.export import PortableModel
from rankloop.service.export.model_extraction import portable
from rankloop.service.extensions.fair.report import ExposureReport, exposure_report, find_balances
from rankloop.service.extensions.recommend.recommend_response import PastReasons
from rankloop.service.extensions.recommend.recommendations import reasons_again
from rankloop.service.extensions.trial.report import (
    RecentReports,
    TrialReport,
    last_report,
    numbered_report,
    reports,
)
from rankloop.service.extensions.trial.trial_state import TrialSettings
from rankloop.service.extensions.trial.trials import begin, stop
from rankloop.service.live_rankers import LiveRankers
from rankloop.service.operations.jobs import JobReport, ask, ask_to_relearn, version_of
from rankloop.service.operations.key_manager import KeyManager
from rankloop.service.operations.people import People
from rankloop.service.operations.rebuild_requests import retire_body, retired_before
from rankloop.service.operations.retention import (
    Retained,
    RetentionRounds,
    RetentionSettings,
    retain,
    shrink,
)
from rankloop.service.operations.rollback import forget_body, forgotten_before, rollback_body
from rankloop.service.operations.undo import UndoPreview, undo, undo_plan
from rankloop.service.random_ids import random_id
from rankloop.service.reports.decision_log import Decided, decided
from rankloop.service.reports.health import Health, health
from rankloop.service.reports.learned_weights import Learned, LearnedBetween, learned, learned_between
from rankloop.service.reports.pair_explanation import Explanation, explain_past
from rankloop.service.reports.policy_evaluation import WhatIf, one_target, what_if
from rankloop.service.reports.query_report import QueryLine, QueryReport, frequent_queries, query_report
from rankloop.service.reports.settled_pairs import SettledPairs, settled_pairs
from rankloop.service.store import Store
from rankloop.service.store.learner_election import ALONE, Election
from rankloop.short_text import check_text

DAY = 86_400.0  # seconds
UPKEEP = 5.0  # seconds between two looks at what is to be done besides learning


class ServiceFacade(LiveRankers):
    """Ranks, takes in what users did, and learns; everything it knows is in the store.

    With `background=True` a thread of its own learns and lets time pass; otherwise `record` and `flush` learn
    before they return. `clock` and `ids` are arguments so that a life can be lived again exactly. `policies`
    are classes of your own, to be found by their names. `recommenders` are fitted recommenders, or files of
    `rankloop lab recommend fit`, by the name of the ranker that they feed, created if it is not there.
    `election` says which of several processes on one store writes ticks and snapshots; without one, this is
    the only process. Without `wait`, the logs are folded in the background: until then, as `starting` says,
    lists are in the caller's order.

    >>> from rankloop.candidate import Candidate
    >>> from rankloop.service import UserEvent
    >>> from rankloop.service.store import open_temporary_store
    >>> service = ServiceFacade(open_temporary_store(), clock=lambda: 0.0, ids=iter("12345").__next__)
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
        recommenders: Mapping[str, FittedRecommender | Path | str] | None = None,
        election: Election = ALONE,
        wait: bool = True,
        retention: RetentionSettings | None = None,
    ) -> None:
        # First, and closed if there is no service: what cannot be opened leaves no thread behind.
        self.keys = KeyManager(store, clock=clock, watch=background)
        feeds = recommenders or {}
        try:
            super().__init__(store, clock, ids, election, policies, feeds, background=background, wait=wait)
        except BaseException:
            self.keys.close()
            raise
        self.retention = retention or RetentionSettings()  # in the background, by itself
        self._retention = RetentionRounds(self.retention)
        people = self.people = People(self.collection)
        self.find_person, self.delete_people = people.find, people.delete
        self.deletions, self.finish_deletions = people.deletions, people.finish_deletions
        self._told = RecentReports()
        self._keeper = LearningThread(self.upkeep, every=UPKEEP, name="upkeep") if background else None
        people.keeper = self._keeper

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # settings

    def configure(
        self,
        ranker: str,
        settings: BaseRankerSettings,
        *,
        relearn: bool = False,
        version: int | None = None,
        by: str = "",
        reason: str = "",
    ) -> int:
        """Change the settings; returns the version of the settings.

        With a `version`, it is refused unless those are the settings in force: nobody overwrites another.

        What was learned stays if the new policy `continues` it: if it is of the same kind and has the same
        scorer, covariance, memory and number of networks. With `relearn` the log is learned again as if
        these settings had always held: a warm start for another policy, and the way for one that cannot take
        more features to begin with all there are.
        """
        if not relearn:
            return self.collection.configure(ranker, settings, version=version, by=by, reason=reason)
        wanted, found = self.collection.check_settings(settings), self.ranker(ranker)
        number = ask_to_relearn(found, wanted, version, said=sign_decision(by, reason))
        return version_of(self._jobs.soon(found, number, seconds=None))

    def adopt(
        self,
        ranker: str,
        settings: BaseRankerSettings,
        *,
        version: int | None = None,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Learn the log again as if these settings had always held; they are in force when that is done.

        It is a job, as `forget` and `rollback` are: done when this returns if it takes no longer than a
        moment, and otherwise under way. Until then the ranker goes on as it is. The same `key` is the same
        job, whenever it is asked for.
        """
        wanted, found = self.collection.check_settings(settings), self.ranker(ranker)
        number = ask_to_relearn(found, wanted, version, key=key, said=sign_decision(by, reason))
        return self._jobs.soon(found, number)

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
        kinds, said = self.collection.policy_kinds, sign_decision(by, reason)
        return begin(found, self.store, kinds, plan, other, said=said)

    def stop_trial(
        self, ranker: str, trial: int, *, by: str = "", reason: str = "it was stopped"
    ) -> TrialReport:
        """End a trial, whenever you like; the report of what it has shown."""
        check_text("the reason", reason)
        return stop(self.ranker(ranker), self.store, trial, reason=reason, by=by)

    def trials(self, ranker: str) -> list[TrialReport]:
        """The trials of a ranker and what has come of them so far, the newest first."""
        return reports(self.ranker(ranker), self.store)

    def find_trial(self, ranker: str, number: int) -> TrialReport:
        """What has come of one trial of a ranker so far."""
        return numbered_report(self.ranker(ranker), self.store, number)

    def trial(self, ranker: str) -> TrialReport | None:
        """The trial that runs, or the last one."""
        return last_report(self.ranker(ranker), self.store)

    def recent_trial(self, ranker: str) -> TrialReport | None:
        """The trial that runs as it was a minute ago or less: for those who ask all the time."""
        return self._told.report(self.ranker(ranker), self.store)

    # jobs

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
        number = ask(found, "rollback", body, key=key, said=sign_decision(by, reason))
        return self._jobs.soon(found, number)

    def forget(
        self,
        ranker: str,
        event_ids: Iterable[str] | EventSelection,
        *,
        key: str = "",
        by: str = "",
        reason: str = "",
    ) -> JobReport:
        """Learn the whole log again as if these events, or those of a choice, had never been; a job."""
        found = self.ranker(ranker)
        chosen = event_ids if isinstance(event_ids, EventSelection) else tuple(event_ids)
        number = forgotten_before(found, self.store, chosen, key)
        if not number:
            body = forget_body(found, self.store, chosen)
            number = ask(found, "forget", body, key=key, said=sign_decision(by, reason))
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
        found, chosen = self.ranker(ranker), tuple(names)
        number = retired_before(found, self.store, chosen, key)
        if not number:
            body = retire_body(found, self.store, chosen, unused_for)
            number = ask(found, "retire", body, key=key, said=sign_decision(by, reason))
        return self._jobs.soon(found, number)

    def jobs(self) -> list[JobReport]:
        """What was asked for that takes a while, of all rankers, the newest first."""
        return self._jobs.reports()

    def job(self, number: int) -> JobReport:
        """A job as of now."""
        return self._jobs.report(self._jobs.find(number), number)

    def cancel_job(self, number: int, *, reason: str = "it was cancelled", by: str = "") -> JobReport:
        """Cancel a job that is not done: nothing is changed."""
        check_text("the reason", reason)
        return self._jobs.cancel(number, sign_decision(by, reason))

    # past lists

    def explain(self, query_id: str, a: str, b: str) -> Explanation:
        """Why one result stood above another."""
        shown = self.audit(query_id).impression
        found = self.ranker(shown.ranker)
        return explain_past(shown, found.history, found.view.configuration, a, b)

    def settled(self, query_id: str) -> SettledPairs:
        """What was settled in a past list, and what was still open."""
        shown = self.audit(query_id).impression
        history = self.ranker(shown.ranker).history
        swapped = find_swapped_pairs(shown, history, shown.order)
        return settled_pairs(shown, history.model(shown.model), swapped=swapped)

    def account(self, ranker: str) -> dict[str, int]:
        """By how many millionths of a view each group is ahead: what the next list is held to."""
        return find_balances(self.ranker(ranker))

    def reasons(self, query_id: str) -> PastReasons:
        """Why the results of a past list were recommended, if the recommender of that time is still here."""
        shown = self.audit(query_id).impression
        return reasons_again(self._recommenders.get(shown.ranker), shown)

    def query_report(self, ranker: str, user_query: str) -> QueryReport:
        """One query: its lists and clicks, its order now beside the caller's, and what is not settled."""
        return query_report(self.ranker(ranker), self.store, user_query)

    def frequent_queries(self, ranker: str, *, most: int = 10) -> list[QueryLine]:
        """The queries that were asked most of late, how much is settled in each, and what the rest needs."""
        return frequent_queries(self.ranker(ranker), self.store, most=most)

    # what was learned

    def versions(self, ranker: str) -> list[tuple[int, float]]:
        """Versions with a snapshot, and when each was made; any version between them can be rebuilt, too."""
        return [(int(seq), float(at)) for seq, at in self.store.list_snapshots(self.ranker(ranker).name)]

    def learned(self, ranker: str, version: int | None = None) -> Learned:
        """What a version has learned, in numbers and in words; without one, what is in use."""
        return learned(self.ranker(ranker), version)

    def learned_between(self, ranker: str, before: int, after: int | None = None) -> LearnedBetween:
        """What has changed from one version to another; without a second one, to what is in use."""
        return learned_between(self.ranker(ranker), before, after)

    def relearn(self, ranker: str, settings: BaseRankerSettings) -> Model:
        """What other settings, or another policy, would have learned from the log; changes nothing."""
        found = self.ranker(ranker)
        return found.history.rebuild(found.history.spec(END, settings=settings)).model

    def what_if(
        self,
        ranker: str,
        policy: Policy | str | None = None,
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
        if isinstance(policy, str):
            policy = build_policy(policy, self.collection.policy_kinds)
        target = one_target(policy, self.ranker(other) if other else None)
        found = self.ranker(ranker)
        return what_if(found, self.store, target, depth=depth, share=share, explore=explore, level=level)

    def portable(
        self, ranker: str, *, version: int | None = None, by_document: bool = False
    ) -> PortableModel:
        """What a ranker computes without exploring, at any version, as plain arrays for other engines.

        `by_document`: what its log teaches if features are scaled by what was learned, and the caller's own
        order does not count, so that each document has a score of its own; changes nothing.
        """
        found = self.ranker(ranker)
        relearn = partial(self.relearn, ranker) if by_document else None
        return portable(found, self.store, version=version, relearn=relearn)

    def exposure(
        self, ranker: str, *, since: float | None = None, until: float | None = None, steps: int = 50
    ) -> ExposureReport:
        """What each group got and what was due to it; in the last day, if nothing is said."""
        end = self.store.time(self.clock()) + 1 if until is None else until
        start = end - DAY if since is None else since
        return exposure_report(self.ranker(ranker), self.store, since=start, until=end, steps=steps)

    # how much is kept

    def retain(self, ranker: str, *, since: float, by: str = "", reason: str = "") -> Retained:
        """Discard what is older than a moment and not needed any more, and give the space back."""
        said = sign_decision(by, reason)
        return retain(self.ranker(ranker), self.collection.by_name, self.store, since, said=said)

    def shrink(self, ranker: str, *, gigabytes: float, by: str = "", reason: str = "") -> Retained:
        """Discard the oldest part of a log until the store takes no more than so much, as far as it can."""
        most = RetentionSettings(gigabytes=gigabytes).most
        said = sign_decision(by, reason)
        return shrink(self.ranker(ranker), self.collection.by_name, self.store, most, said=said)

    # decisions

    def decided(
        self, *, ranker: str | None = None, kind: str = "", who: str = "", last: int = 100
    ) -> list[Decided]:
        """What operators decided, the newest first: who, when, and why."""
        name = None if ranker is None else self.ranker(ranker).name
        return decided(self.store, ranker=name, kind=kind, who=who, last=last)

    def undo_preview(self, decision: int) -> UndoPreview:
        """What undoing a decision, by its entry in the log, would do, or why it cannot be undone."""
        return undo_plan(self, decision).preview

    def undo(self, decision: int, *, confirm: str, reason: str, by: str = "") -> UndoPreview:
        """Restore what was in force before a decision, by another one; `confirm` is of its preview."""
        return undo(self, decision, confirm=confirm, by=by, reason=reason)

    # life

    def health(self) -> Health:
        """Whether everything keeps up."""
        error = self._thread.error if self._thread else ""
        return health(self.collection.by_name, error=error, lag=self.store.lag(self.clock()))

    def upkeep(self) -> None:
        """What is to be done now and then: finish what was deleted, by one process of those on a store."""
        self.people.finish_deletions()
        if self.collection.is_leader:
            self._retention.look(self.collection.by_name, self.store, self.clock())

    def close(self) -> None:
        """Stop learning and keep what was learned; the store stays open. Jobs go on with the next start."""
        self.keys.close()
        self._jobs.stop()
        for thread in (self._keeper, self._thread):
            if thread:
                thread.stop()
        for found in self.collection.by_name.values():
            found.lists.resume()
            found.try_to_catch_up()
            if not found.broken and found.leads:
                found.keep()
