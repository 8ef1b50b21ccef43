"""Ranking service without HTTP: named rankers over one store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Self

from rankloop.policies import Policy
from rankloop.recommend import Saved
from rankloop.service.errors import RequestError
from rankloop.service.events.event import Receipt, UserEvent, understood
from rankloop.service.events.verdicts import Judge, unreadable
from rankloop.service.ids import random_id
from rankloop.service.learning.model import Model
from rankloop.service.learning.thread import LearningThread
from rankloop.service.operations.audit import Audit, Replay, audit, listed_again, replay
from rankloop.service.operations.explain import Explanation, explain
from rankloop.service.operations.exposure import ExposureReport, exposure_report
from rankloop.service.operations.retention import Retained, retain
from rankloop.service.operations.rollback import forget_events, roll_back
from rankloop.service.operations.settled import SettledPairs, settled_pairs
from rankloop.service.operations.status import Health, RankerInfo, health
from rankloop.service.operations.trials import (
    TrialReport,
    begin,
    refuse_if_needed,
    report,
    reports,
    stop,
)
from rankloop.service.operations.what_if import WhatIf, what_if
from rankloop.service.ranker import Ranker
from rankloop.service.recommending.interview import Interview, interviewed
from rankloop.service.recommending.recommend import popular_instead, reasons_again, recommended
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
from rankloop.store import Decision, Impression, Store, StoreError, Transaction, write
from rankloop.types import SettingError, suggestion

MOST_EVENTS = 10_000  # in one call
DAY = 86_400.0  # seconds
TRIAL_PATIENCE = 60.0  # seconds: a trial is counted from the log
PATIENCE = 1.0  # seconds: as a rule the next event tells the log the time


class RankingService:
    """Ranks, takes in what users did, and learns; everything it knows is in the store.

    With `background=True` a thread of its own learns and lets time pass; otherwise `record` and `flush` learn
    before they return. `clock` and `ids` are arguments so that a life can be lived again exactly. `policies`
    are classes of your own, to be found by their names. `recommenders` are fitted recommenders, or files of
    `rankloop recommend fit`, by the name of the ranker that they feed, which is created if it is not there.

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
    ) -> None:
        self.store, self.clock, self.ids = store, clock, ids
        self._known = catalogue(policies)
        fed = {name: served(saved) for name, saved in (recommenders or {}).items()}  # before anything begins
        self._recommenders: dict[str, ServedRecommender] = {}
        self._naming = threading.Lock()
        self._rankers: Mapping[str, Ranker] = {}
        self._told: dict[str, tuple[float, TrialReport | None]] = {}  # by ranker: when, and what
        self._discover()
        for name, found in fed.items():
            self._feed(name, found)
        self._thread = LearningThread(partial(self.tick, patience=PATIENCE)) if background else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # rankers

    def create(self, ranker: str, settings: RankerSettings | None = None, *, mode: Mode = "explore") -> None:
        """Start a ranker; nothing happens if it is there with the same settings."""
        check_text("a ranker's name", ranker)
        _check_mode(mode)
        rules = settings or RankerSettings()
        check_served(rules)
        at = self.clock()

        def job(transaction: Transaction) -> bool:
            if transaction.decisions(ranker):
                return False
            now, body = transaction.time(at), {"settings": rules.to_json()}
            transaction.append(Decision(at=now, ranker=ranker, kind="settings", body=body))
            transaction.append(Decision(at=now, ranker=ranker, kind="mode", body={"mode": mode}))
            return True

        created = write(self.store, job)
        self._discover()
        if not created and settings is not None and self.settings(ranker).to_json() != rules.to_json():
            raise SettingError(f"there is a ranker {ranker!r} with other settings: use configure")

    def configure(self, ranker: str, settings: RankerSettings, *, relearn: bool = False) -> int:
        """Change the rules; returns the version of the settings.

        What was learned stays if the new policy `understands` it: if it is of the same kind and has the same
        scorer, covariance, memory and number of networks. With `relearn` the log is learned again as if
        these rules had always held: a warm start for another policy, and the way for one that cannot take
        more features to begin with all there are.
        """
        check_served(settings)
        found = self.ranker(ranker)
        seq = found.decide("settings", settings=settings.to_json(), relearn=relearn)
        found.catch_up()
        return seq

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

    def set_mode(self, ranker: str, mode: Mode, *, reason: str = "") -> int:
        """Step up or down; in force when this returns."""
        _check_mode(mode)
        return self.ranker(ranker).decide("mode", mode=mode, reason=reason)

    def schema(self, ranker: str) -> list[str]:
        """The names of the features it has seen, by column."""
        return list(self.ranker(ranker).view.in_force.schema)

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
        self.publish(made, urgent=query_id is not None)  # so that the id is soon known to be taken
        return made.response

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

    def publish(self, made: Draft, *, urgent: bool = False) -> None:
        """A list that was prepared is shown now: have it written down, as a rule together with others."""
        self.ranker(made.impression.ranker).publish(made, urgent=urgent)

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
        self.publish(made.draft, urgent=request.query_id is not None)
        return made.response

    def prepare_recommendation(self, request: RecommendRequest, *, fresh: str = "") -> RecommendationDraft:
        """A recommendation that is not shown yet: `publish` its draft, or let it go."""
        found = self.recommender(request.ranker)
        try:
            return recommended(found, request, partial(self.prepare, fresh=fresh))
        except (RequestError, StoreError):
            raise
        except Exception as error:  # whatever it is, the caller gets a list
            reason = f"{type(error).__name__}: {error}"[:200]
            return self.fall_back_recommendation(request, reason, fresh=fresh)

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

    def enter(self, events: Iterable[UserEvent | Mapping[str, Any]]) -> Future[list[tuple[str, Receipt]]]:
        """`record` without waiting: for each event its ranker, if it has one, and its receipt once durable.

        Then it is time to `learn`.
        """
        said = [understood(event) for event in events]
        if len(said) > MOST_EVENTS:
            raise RequestError(f"at most {MOST_EVENTS} events in one call, found {len(said)}: send fewer")
        at, known = self.clock(), self._known
        in_force = {name: ranker.view.in_force for name, ranker in self._rankers.items()}

        def job(transaction: Transaction) -> list[tuple[str, Receipt]]:
            now, receipts = transaction.time(at), []
            clear = [event for event in said if not isinstance(event, str)]
            transaction.look_up(
                event_ids=[each.event_id for each in clear], query_ids=[each.query_id for each in clear]
            )
            judge = Judge(transaction, in_force, known, now)
            for event in said:
                entry = unreadable(now, event) if isinstance(event, str) else judge.judge(event)
                transaction.append(entry)
                receipts.append((entry.ranker, Receipt(entry.event_id, entry.verdict, entry.detail)))
            return receipts

        return self.store.submit(job)

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
        self._discover()
        troubles = []
        for found in self._rankers.values():
            try:
                found.tick(patience)
            except Exception as error:  # one that is in trouble must not keep the others waiting
                troubles.append(error)
        if troubles:
            raise troubles[0]

    def model(self, ranker: str) -> Model:
        """What readers see now."""
        return self.ranker(ranker).view.model

    # trials

    def start_trial(self, ranker: str, settings: TrialSettings | None = None) -> int:
        """Compare a ranker with the caller's order, another ranker or another policy, live; its number.

        It runs until it is stopped, or until an arm is changed: by settings, mode, rollback or forget.
        """
        plan, found = settings or TrialSettings(), self.ranker(ranker)
        other = self.ranker(plan.ranker) if plan.ranker else None
        found.try_to_catch_up()
        return begin(found, self.store, self._known, plan, other)

    def stop_trial(self, ranker: str, trial: int, *, reason: str = "it was stopped") -> TrialReport:
        """End a trial, whenever you like; what has come of it."""
        check_text("the reason", reason)
        return stop(self.ranker(ranker), self.store, trial, reason=reason)

    def trials(self, ranker: str) -> list[TrialReport]:
        """The trials of a ranker and what has come of them so far, the newest first."""
        return reports(self.ranker(ranker), self.store)

    def trial(self, ranker: str) -> TrialReport | None:
        """The trial that runs, or the last one."""
        found = self.ranker(ranker)
        last = found.view.in_force.trial
        return None if last is None else report(found, self.store, last)

    def recent_trial(self, ranker: str) -> TrialReport | None:
        """The trial that runs as it was a minute ago or less: for those who ask all the time."""
        running, now = self.ranker(ranker).view.trial, self.clock()
        if running is None:
            return None
        at, kept = self._told.get(ranker, (float("-inf"), None))
        if abs(now - at) >= TRIAL_PATIENCE or kept is None or kept.trial != running.number:
            kept = report(self.ranker(ranker), self.store, running)
            self._told[ranker] = now, kept
        return kept

    # the past

    def versions(self, ranker: str) -> list[tuple[int, float]]:
        """Versions with a snapshot, and when each was made; any version between them can be rebuilt, too."""
        return [(int(seq), float(at)) for seq, at in self.store.snapshots(self.ranker(ranker).name)]

    def rollback(self, ranker: str, *, to: int | None = None, moment: float | None = None) -> int:
        """Go back to an earlier version, or to that of a moment; the new version's number.

        Nothing is deleted: going back is a decision in the log, and can be taken back by another.
        """
        return roll_back(self.ranker(ranker), to=to, moment=moment)

    def forget(self, ranker: str, event_ids: Iterable[str]) -> int:
        """Learn the whole log again as if these events had never been; the new version's number."""
        return forget_events(self.ranker(ranker), self.store, event_ids)

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
        if (policy is None) == (not other):
            raise RequestError("what if: name a policy, or another ranker, one of them")
        target = self.ranker(other) if policy is None else policy
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
        model, terms = found.history.model(shown.model), found.view.in_force
        names = list(terms.context if model.policy.features_of == "context" else terms.schema)
        return explain(shown, model, names, a, b, again=listed_again(shown, found.history))

    def settled(self, query_id: str) -> SettledPairs:
        """What was settled in a past list, and what was still open."""
        shown = self.audit(query_id).impression
        history = self.ranker(shown.ranker).history
        return settled_pairs(shown, history.model(shown.model), again=listed_again(shown, history))

    def lists(self, ranker: str, *, last: int = 20) -> list[Impression]:
        """The lists shown last, the newest first."""
        return list(self.store.impressions(self.ranker(ranker).name, last=last))

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

    def retain(self, ranker: str, *, since: float) -> Retained:
        """Discard what is older than a moment and not needed any more, and give the space back."""
        refuse_if_needed(self._rankers, ranker)
        return retain(self.ranker(ranker), self.store, since)

    # life

    def health(self) -> Health:
        """Whether everything keeps up."""
        error = self._thread.error if self._thread else ""
        return health(self._rankers, error=error, lag=self.store.lag(self.clock()))

    def close(self) -> None:
        """Stop learning and keep what was learned; the store stays open."""
        if self._thread:
            self._thread.stop()
        for found in self._rankers.values():
            found.try_to_catch_up()
            if not found.broken:
                found.keep()

    def _check_fresh(self, query_id: str | None) -> None:
        if query_id is not None and self.store.impression(query_id):
            raise RequestError(f"a list was shown under the query_id {query_id!r} before: ids must be unique")

    def _feed(self, ranker: str, found: ServedRecommender) -> None:
        if ranker not in self._rankers:
            self.create(ranker)
        self._recommenders[ranker] = found

    def _discover(self) -> None:
        """Open the rankers that are in the store and not yet here."""
        with self._naming:
            fresh = [name for name in self.store.rankers() if name not in self._rankers]
            if fresh:
                opened = {name: Ranker(name, self.store, self._known, self.clock) for name in fresh}
                self._rankers = {**self._rankers, **opened}


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise SettingError(f"no mode is called {mode!r}: {suggestion(str(mode), MODES)}")
