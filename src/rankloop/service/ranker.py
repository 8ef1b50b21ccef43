"""Ranker: a deployment. Readers see a view that is swapped as a whole, one learner folds the log."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from rankloop.service.account import AccountBook
from rankloop.service.errors import HistoryError, RequestError
from rankloop.service.gil import LESSON, LIST, Turns
from rankloop.service.learning.fold import Fold, entries_for
from rankloop.service.learning.history import History
from rankloop.service.learning.in_force import InForce, in_force
from rankloop.service.learning.model import Model
from rankloop.service.learning.opponent import opponent_of
from rankloop.service.learning.scaling import scale_of
from rankloop.service.learning.view import View
from rankloop.service.serving.request import RankRequest, context_by_column
from rankloop.service.serving.seeds import sticky_seed
from rankloop.service.serving.serve import NO_CONTEXT, Draft, serve
from rankloop.service.settings import RankerSettings, step_down
from rankloop.spelling import Catalogue
from rankloop.store import (
    Decision,
    ExposureSum,
    ImpressionBuffer,
    Store,
    StoreError,
    Transaction,
    write,
)
from rankloop.types import FloatArray

LEAPS = ("settings", "rollback", "forget")  # after which the state is worth keeping
LOGGER = logging.getLogger("rankloop.service")


class Ranker:
    """A name, its log in the store, and what follows from it.

    If its log cannot be folded, because its policy is not there or the store cannot be read, it is *broken*:
    lists are in the caller's order, events are taken in, and every `catch_up` tries again.
    """

    def __init__(self, name: str, store: Store, known: Catalogue, clock: Callable[[], float]) -> None:
        self.name, self.history = name, History(name, store, known)
        self.unlogged = 0  # lists that could not be written down
        self.trouble = ""  # why it cannot learn just now
        self._store, self._known, self._clock = store, known, clock
        self.account = AccountBook()
        self._buffer = ImpressionBuffer(store, lost=self._lost, left=self.account.leave)
        self._learning, self._viewing = threading.RLock(), threading.RLock()
        self._turns = Turns()
        self._fold: Fold | None = None
        self._unwatched = 0  # lists since the guards last looked
        self._reading_account = False  # a job that does is in the queue
        self._account_read = float("-inf")  # by the clock
        self._usual: tuple[Sequence[str], Mapping[str, int]] = (), {}  # names that are a schema's columns
        terms = in_force(store, name, known)
        self.account.begin(terms.account, store.exposures(name) if terms.account else ())
        self._view = self._with_opponent(View(in_force=terms, model=_unlearned(terms)))
        self.try_to_catch_up()

    @property
    def view(self) -> View:
        """What is in force, and what was learned."""
        return self._view

    @property
    def rules(self) -> RankerSettings:
        """The rules in force."""
        return self._view.in_force.rules

    @property
    def broken(self) -> bool:
        """Whether its log could not be folded so far, or its settings cannot be read."""
        return self._fold is None or bool(self._view.in_force.trouble)

    @property
    def fold(self) -> Fold:
        """The state of learning; only to look at."""
        if self._fold is None:
            raise HistoryError(f"ranker {self.name!r} is broken: {self.trouble}")
        return self._fold

    def now(self) -> float:
        """What the clock says."""
        return self._clock()

    # decisions

    def decide(self, kind: str, **body: Any) -> int:
        """Write a decision down; it is in force when this returns. Its number."""
        at = self._clock()

        def job(transaction: Transaction) -> int:
            decision = Decision(at=transaction.time(at), ranker=self.name, kind=kind, body=body)
            return transaction.append(decision)

        seq = write(self._store, job)
        self.refresh()
        return seq

    def refresh(self) -> View:
        """Take in what was decided since, by whatever process."""
        with self._viewing:
            before = self._view.in_force
            after = before.after_all(self._store.decisions(self.name, after=before.position), self._known)
            if after is not before:
                self.account.begin(after.account, ())  # what others wrote there is read with the next tick
                self._view = self._with_opponent(replace(self._view, in_force=after))
            return self._view

    def _with_opponent(self, view: View) -> View:
        """The view with arm B of the trial that runs; while it is not to be had, its lists fall back."""
        trial, opponent = view.trial, view.opponent
        if (trial.number if trial else 0) == (opponent.trial if opponent else 0):
            return view
        try:
            return replace(view, opponent=opponent_of(trial, self.history) if trial else None)
        except Exception as error:  # whatever it is, the caller gets lists
            LOGGER.warning("ranker %r: arm B of its trial is not to be had: %s", self.name, error)
            return replace(view, opponent=None)

    def extend(self, names: Mapping[Literal["schema", "context"], Sequence[str]]) -> View:
        """A view whose schemas, of candidates and of who asks, have these features; all are added or none."""
        at, start = self._clock(), self._view.in_force

        def job(transaction: Transaction) -> None:
            terms = start.within(transaction, self.name, self._known)
            known = {"schema": terms.schema, "context": terms.context}
            fresh = {kind: [each for each in names[kind] if each not in known[kind]] for kind in names}
            for kind, added in fresh.items():
                self._check_room(added, len(known[kind]), terms)
            for kind, body in ((kind, {"names": added}) for kind, added in fresh.items() if added):
                transaction.append(Decision(at=transaction.time(at), ranker=self.name, kind=kind, body=body))

        write(self._store, job)
        return self.refresh()

    def _check_room(self, fresh: Sequence[str], known: int, terms: InForce) -> None:
        total, limit = known + len(fresh), terms.rules.max_features
        if fresh and total > limit:
            raise RequestError(
                f"{fresh[0]!r} would be feature number {total} of {self.name!r}, which may have {limit}: "
                "check the names you send, or raise max_features"
            )

    # ranking

    def prepare(self, request: RankRequest, query_id: str) -> Draft:
        """Make a list; nothing is written down but new features."""
        self._check_size(request)
        view, raw = self._features(request)
        context = NO_CONTEXT
        if request.context or view.in_force.context:
            context = context_by_column(request.context, view.in_force.context)
        person = request.session_id or request.client_id
        words = (person, request.user_query) if person else (query_id,)
        seed, at = sticky_seed(self.name, *words), self._clock()
        reason = f"broken: {self.trouble or view.in_force.trouble}"[:200] if self.broken else ""
        since, key = at - view.in_force.rules.window, (person, request.user_query) if person else ("", "")
        number = view.in_force.account
        standing = self.account.ahead(number) if number else {}
        ahead = self.account.ahead(number, key, since) if number else {}
        make = partial(
            serve,
            view,
            request,
            raw,
            query_id=query_id,
            seed=seed,
            at=at,
            ahead=ahead,
            standing=standing,
            context=context,
        )
        with self._turns.take(LIST):
            try:
                made = make(fallback=reason)
            except Exception as error:  # whatever it is, the caller gets a list
                made = make(fallback=f"{type(error).__name__}: {error}"[:200])
        exposure = made.impression.exposure
        if person and exposure is not None and exposure.within is not None:
            self.account.remember(key, exposure, at=at, since=since)
        return made

    def fall_back(self, request: RankRequest, query_id: str, reason: str) -> Draft:
        """The caller's own order, when there is no time or no way to make a list; features have no part."""
        self._check_size(request)
        nothing, seed = np.empty((request.n, 0)), sticky_seed(self.name, query_id)
        view, at = self._view, self._clock()
        ahead = self.account.ahead(view.in_force.account)
        return serve(
            view, request, nothing, query_id=query_id, seed=seed, at=at, fallback=reason, ahead=ahead
        )

    def publish(self, made: Draft, *, urgent: bool = False) -> None:
        """Have a list written down, without waiting: it is no promise that anything is learned from it."""
        self.account.show(made.impression.exposure)
        self._buffer.put(made.impression, urgent=urgent)
        self._unwatched += 1

    def _check_size(self, request: RankRequest) -> None:
        if request.n > self.rules.max_candidates:
            raise RequestError(f"expected 1 to {self.rules.max_candidates} candidates, found {request.n}")

    def _lost(self, lists: int) -> None:
        """Some could not be written down, but were shown: a list is better than none."""
        self.unlogged += lists
        self.account.stale = True

    def refresh_account(self) -> None:
        """Take in what the log says of exposure, also what other processes wrote; without waiting."""
        number = self._view.in_force.account

        def done(future: Future[Sequence[ExposureSum]]) -> None:
            self._reading_account = False
            if not future.exception():  # otherwise next time; futures of earlier lists are done by now
                self.account.refresh(future.result())

        if number and not self._reading_account:
            with contextlib.suppress(StoreError):
                job = self._store.submit(lambda transaction: transaction.exposures(self.name), urgent=False)
                self._reading_account = True
                job.add_done_callback(done)

    def _features(self, request: RankRequest) -> tuple[View, FloatArray]:
        """The candidates' features, and the view whose columns they and those of who asks have."""
        view, candidates = self._view, request.candidates
        names, schema = self._usual
        usual = candidates.names is names and view.in_force.schema is schema  # nothing to look up
        unknown = [] if usual else candidates.new_names(view.in_force.schema)
        asking = [name for name in request.context if name not in view.in_force.context]
        if unknown or asking:
            view = self.extend({"schema": unknown, "context": asking})
        elif usual:
            return view, candidates.values
        raw = candidates.by_column(view.in_force.schema)
        if raw is candidates.values and isinstance(candidates.names, tuple):
            self._usual = candidates.names, view.in_force.schema
        return view, raw

    # learning

    def catch_up(self) -> None:
        """Fold what was written since, and let readers see it. What cannot be read now is tried again."""
        with self._learning:
            self.refresh()
            if self._fold is None:
                self._fold = self.history.head()
                self._keep_if_due()  # whoever crashes often must get on all the same
                self._show(self._fold)
            fold = self._fold
            before = fold.position
            try:
                for entry in entries_for(fold, self._store):
                    with self._turns.take(LESSON):
                        fold.apply(entry)
                    self._keep_if_due(leap=isinstance(entry, Decision) and entry.kind in LEAPS)
            finally:
                if fold.position != before:
                    self._show(fold)
            self.trouble = ""

    def try_to_catch_up(self) -> None:
        """`catch_up` for whoever can do nothing about an error: it is kept to be seen, and logged once."""
        try:
            self.catch_up()
        except Exception as error:  # whatever it is, other rankers go on
            trouble = f"{type(error).__name__}: {error}"
            if trouble != self.trouble:
                LOGGER.warning("ranker %r cannot learn just now: %s", self.name, trouble)
            self.trouble = trouble
        if self.account.stale:
            self.refresh_account()

    def keep(self) -> None:
        """Keep a snapshot of the state of learning."""
        with self._learning:
            snapshot = self.fold.snapshot()
            self._store.submit(lambda transaction: transaction.keep(snapshot))
            self.fold.unkept = 0

    def tick(self, patience: float = 0.0) -> None:
        """Learn, and let the log know the time if a list is to be closed and nothing else happens."""
        self.try_to_catch_up()
        now = self._clock()
        if abs(now - self._account_read) >= patience:  # others may have written; a clock may go back
            self._account_read = now
            self.refresh_account()
        if self._fold is None or self.trouble:
            return
        closes = self._fold.closes_next
        if closes < float("inf") and closes + patience <= self._store.time(self._clock()):
            self.decide("tick")
            self.try_to_catch_up()
        self.watch()

    def watch(self) -> None:
        """Step down the ladder of modes if a guard is breached."""
        terms = self._view.in_force
        if self._unwatched * 10 < terms.rules.guard_lists or terms.mode in ("passthrough", "shadow"):
            return
        self._unwatched = 0
        reason = self._breach(terms)
        if reason:
            self.decide("mode", mode=step_down(terms.mode), reason=reason)

    def _show(self, fold: Fold) -> None:
        with self._viewing:
            self._view = replace(self._view, model=fold.model)

    def _keep_if_due(self, *, leap: bool = False) -> None:
        if leap or self.fold.unkept >= self.fold.rules.snapshot_every:
            self.keep()

    def _breach(self, terms: InForce) -> str:
        n, rules = terms.rules.guard_lists, terms.rules
        closed = self._store.time(self._clock()) - rules.window
        lists = self._store.recent(self.name, lists=n, after=terms.mode_since, before=closed)
        if lists.lists >= n and lists.clicked < rules.ctr_floor * n:
            return f"{lists.clicked} of the last {n} lists got a click, the floor is {rules.ctr_floor:g}"
        lists = self._store.recent(self.name, lists=n, after=terms.mode_since, before=float("inf"))
        if lists.lists >= n and lists.fallbacks > rules.fallback_ceiling * n:
            return (
                f"{lists.fallbacks} of the last {n} lists failed, the ceiling is {rules.fallback_ceiling:g}"
            )
        return ""


def _unlearned(terms: InForce) -> Model:
    """What is there before anything was folded."""
    return Model(version=0, policy=terms.rules.policy, scale=scale_of(terms.rules.scaling))
