"""Ranker: a deployment. Readers see a view that is swapped as a whole, one learner folds the log."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from rankloop.service.account import AccountBook
from rankloop.service.errors import HistoryError, RequestError
from rankloop.service.gil import LESSON, LIST, Turns
from rankloop.service.learning.checkpoint import RefoldSpec
from rankloop.service.learning.fold import Fold, PastRewritten, entries_for, keep_if_true
from rankloop.service.learning.history import History, Passed
from rankloop.service.learning.in_force import InForce, in_force
from rankloop.service.learning.model import Model
from rankloop.service.learning.opponent import opponent_of
from rankloop.service.learning.pace import SnapshotPace
from rankloop.service.learning.scaling import scale_of
from rankloop.service.learning.searches import Standing
from rankloop.service.learning.view import View
from rankloop.service.promise_book import PromiseBook
from rankloop.service.serving.request import RankRequest, context_by_column
from rankloop.service.serving.seeds import sticky_seed
from rankloop.service.serving.serve import NO_CONTEXT, Draft, serve
from rankloop.service.settings import RankerSettings, step_down
from rankloop.service.trouble import log_trouble
from rankloop.spelling import Catalogue
from rankloop.store import (
    ConnectionLost,
    Decision,
    ExposureSum,
    Impression,
    ImpressionBuffer,
    ListEntry,
    Logged,
    Promised,
    Store,
    StoreError,
    Transaction,
    write,
)
from rankloop.store.election import ALONE, Election
from rankloop.types import FloatArray

OVERDUE = 5.0  # seconds after which a tick that the learner did not write is written by who follows
LEAPS = ("settings", "rollback", "forget", "retire")  # after which the state is worth keeping
LOGGER = logging.getLogger("rankloop.service")


class Ranker:
    """A name, its log in the store, and what follows from it.

    If its log cannot be folded, because its policy is not there or the store cannot be read, it is *broken*:
    lists are in the caller's order, events are taken in, and every `catch_up` tries again.
    """

    def __init__(
        self,
        name: str,
        store: Store,
        known: Catalogue,
        clock: Callable[[], float],
        election: Election = ALONE,
        *,
        begin: bool = True,
        holding: set[Ranker] | None = None,  # those whose lists wait, because the store is away
    ) -> None:
        self.name, self.history = name, History(name, store, known)
        self._election = election
        self.unlogged = 0  # lists that could not be written down
        self.losing = False  # the last of them could not
        self.trouble = ""  # why it cannot learn just now
        self._store, self._known, self._clock = store, known, clock
        self.account, self._budget = AccountBook(), PromiseBook()
        self._holding = set[Ranker]() if holding is None else holding
        held = partial(self._holding.add, self)
        self._buffer = ImpressionBuffer(store, lost=self._lost, left=self._left, held=held)
        self._learning, self._viewing = threading.RLock(), threading.RLock()
        self._turns = Turns()
        self._fold: Fold | None = None
        self._pace, self._kept = SnapshotPace(), 0  # the entry whose snapshot was last kept
        self._whole = 0  # the entry up to which it is known to have missed nothing
        self._unwatched = 0  # lists since the guards last looked
        self._reading_account = False  # a job that does is in the queue
        self._account_read = float("-inf")  # by the clock
        self._usual: tuple[Sequence[str], Mapping[str, int]] = (), {}  # names that are a schema's columns
        terms = in_force(store, name, known)
        self.account.begin(terms.account, store.exposures(name) if terms.account else ())
        self._view = self._with_opponent(View(in_force=terms, model=_unlearned(terms)))
        self.starting = not begin  # nobody has tried to fold its log yet
        self.trouble = "it is starting: its log is not folded yet" if self.starting else ""
        if begin:
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
    def leads(self) -> bool:
        """Whether this process is its learner, who writes ticks and snapshots; others follow."""
        return self._election.leads(self.name)

    @property
    def broken(self) -> bool:
        """Whether its log could not be folded so far, or its settings cannot be read."""
        return self._fold is None or bool(self._view.in_force.trouble)

    @property
    def restless(self) -> bool:
        """Whether it has something to do although nothing was written: wait, try again, look after guards."""
        waits = self._fold is None or self._fold.closes_next < float("inf")
        unwatched = self._unwatched * 10 >= self._view.in_force.rules.guard_lists
        late = waits or unwatched or self._buffer.held_up
        return bool(late or self.trouble or self._view.in_force.account)

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
        return self.decide_if(lambda _: (kind, body))

    def decide_if(self, choose: Callable[[InForce], tuple[str, Mapping[str, Any]] | int]) -> int:
        """Write down what is chosen by what is in force in that moment, before anybody else can decide.

        Its number, or the number that was chosen instead of a decision.
        """
        at = self._clock()

        def job(transaction: Transaction) -> int:
            chosen = choose(self.within(transaction))
            if isinstance(chosen, int):
                return chosen
            kind, body = chosen
            return transaction.append(
                Decision(at=transaction.time(at), ranker=self.name, kind=kind, body=body)
            )

        seq = write(self._store, job)
        self.refresh()
        return seq

    def within(self, transaction: Transaction) -> InForce:
        """What is in force inside a transaction."""
        return self._view.in_force.within(transaction, self.name, self._known)

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
            log_trouble(
                LOGGER,
                "arm B of a trial is not to be had: its lists are the caller's order",
                where=f"ranker {self.name!r}",
                why=error,
                do="give the service arm B's policy, or stop the trial",
            )
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
            promised=self._promised(view, request, query_id, at),
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

    def shown_elsewhere(self, request: RankRequest) -> Draft:
        """A list that was shown elsewhere as it came, for this ranker to learn from as far as it can."""
        self._check_size(request)
        view, raw = self._features(request)
        name = request.query_id or ""
        shadow = View(in_force=replace(view.in_force, mode="shadow", trial=None), model=view.model)
        seed = sticky_seed(self.name, name)
        return serve(shadow, request, raw, query_id=name, seed=seed, at=self._clock())

    def fall_back(self, request: RankRequest, query_id: str, reason: str) -> Draft:
        """The caller's own order, when there is no time or no way to make a list; features have no part."""
        self._check_size(request)
        nothing, seed = np.empty((request.n, 0)), sticky_seed(self.name, query_id)
        view, at = self._view, self._clock()
        return serve(
            view,
            request,
            nothing,
            query_id=query_id,
            seed=seed,
            at=at,
            fallback=reason,
            ahead=self.account.ahead(view.in_force.account),
            promised=self._promised(view, request, query_id, at),
        )

    def publish(self, made: Draft, *, urgent: bool = False) -> Draft:
        """Have a list written down, without waiting: it is no promise that anything is learned from it.

        If nothing can be written just now, nothing is queued, and the list that is given back says so.
        """
        if away := self._store.away():
            return self._unwritten(made, away)
        self._showing(made.impression)
        self._buffer.put(made.impression, urgent=urgent)
        self._unwatched += 1
        return made

    def write_down(self, made: Draft) -> Future[None]:
        """The same for someone who waits until the list is durable."""
        if away := self._store.away():
            self._unwritten(made, away)
            raise ConnectionLost(away)
        self._showing(made.impression)
        self._unwatched += 1
        return self._buffer.put_durably(made.impression)

    def resume_lists(self) -> None:
        """Have lists written that were held up when the connection to the store was lost."""
        self._holding.discard(self)  # first: should they be held up again, it is there again
        self._buffer.resume()

    def _showing(self, shown: Impression) -> None:
        """Count a list that is shown now, before it is written."""
        self.account.show(shown.exposure)
        if shown.promised is not None:
            self._budget.show(shown, _asking(shown), at=shown.at)

    def _unwritten(self, made: Draft, reason: str) -> Draft:
        self._lost(1)
        self._budget.lose([made.impression])
        return made.unlogged(reason[:200])

    def _check_size(self, request: RankRequest) -> None:
        if request.n > self.rules.max_candidates:
            raise RequestError(f"expected 1 to {self.rules.max_candidates} candidates, found {request.n}")

    @property
    def standing(self) -> Standing | None:
        """How a promise of clicks stands, with lists that are not in the log yet; `None`: there is none."""
        terms = self._view.in_force
        settings = terms.rules.promise
        return None if settings is None else self._budget.standing(terms.promise, settings)

    def _promised(self, view: View, request: RankRequest, query_id: str, at: float) -> Promised | None:
        terms = view.in_force
        if terms.rules.promise is None:
            return None
        key, window = _asking(request), terms.rules.window
        return self._budget.assign(terms.promise, terms.rules.promise, query_id, key, at=at, window=window)

    def _left(self, lists: Sequence[Impression], written: bool) -> None:
        """Lists do not wait any more; one that was written down says that it can be done again."""
        self.losing = self.losing and not (written and lists)
        self.account.leave(lists, written)
        (self._budget.wrote if written else self._budget.lose)(lists)

    def _lost(self, lists: int) -> None:
        """Some could not be written down, but were shown: a list is better than none."""
        if not self.losing:
            log_trouble(
                LOGGER,
                "lists are shown and cannot be written down: clicks on them will be orphans",
                where=f"ranker {self.name!r}",
                why="the store refuses them, or takes no more",
                do="look at the disk or the database, and at rankloop_jobs_waiting",
            )
        self.unlogged, self.losing = self.unlogged + lists, True
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
        raw = candidates.by_column(view.in_force.schema, len(view.in_force.names))
        if raw is candidates.values and isinstance(candidates.names, tuple):
            self._usual = candidates.names, view.in_force.schema
        return view, raw

    # learning

    def catch_up(self) -> None:
        """Fold what was written since, and let readers see it. What cannot be read now is tried again."""
        with self._learning:
            self.refresh()
            if self._fold is None:
                self._pace.begin()
                self._fold = self.history.head(self._keep_in_time)  # whoever crashes often must get on, too
                self._whole = self._fold.position
                self._keep_if_due()
                self._show(self._fold, self._known_lists(self._fold))
            fold, folded = self._fold, list[str]()
            self._pace.begin()
            try:
                for entry in entries_for(fold, self._store):
                    with self._turns.take(LESSON):
                        fold.apply(entry)
                    if isinstance(entry, ListEntry):
                        folded.append(entry.query_id)
                    elif isinstance(entry, Decision) and entry.kind == "delete":
                        folded.extend(self._known_lists(fold))
                    self._keep_if_due(leap=isinstance(entry, Decision) and entry.kind in LEAPS)
            except PastRewritten:
                self._begin_anew()
            finally:
                if self._fold is fold and fold.position != self._whole:
                    self._show_if_whole(fold, folded)
            self.trouble = ""

    def _begin_anew(self) -> None:
        """Fold a log from which entries were deleted; readers see the model of before until it is done."""
        self.history.reset()
        self._pace.begin()
        self._fold = self.history.head(self._keep_in_time)
        self._whole = self._fold.position
        self.keep()
        with self._viewing:
            self._view = self._with_opponent(replace(self._view, opponent=None))
            self._show(self._fold, self._known_lists(self._fold))

    def _known_lists(self, fold: Fold) -> list[str]:
        """Lists that wait in the budget of a promise and are in a fold, or were deleted since."""
        found = {name: (self._store.impression(name), told) for name, told in self._budget.waiting.items()}
        return [
            name
            for name, (shown, told) in found.items()
            if (told if shown is None else shown.seq <= fold.position)
        ]

    def paced(self, before: Callable[[Fold], None], passed: Passed) -> History:
        """A history to learn the log again with, beside all else: between two entries lists come first.

        `before` is called before each entry, and may raise; `passed` after it.
        """

        def apply(fold: Fold, entry: Logged) -> None:
            before(fold)
            with self._turns.take(LESSON):
                fold.apply(entry)

        return History(self.name, self._store, self._known, apply=apply, passed=passed)

    def try_to_catch_up(self) -> None:
        """`catch_up` for whoever can do nothing about an error: it is kept to be seen, and logged once."""
        try:
            self.catch_up()
        except Exception as error:  # whatever it is, other rankers go on
            trouble = f"{type(error).__name__}: {error}"
            if trouble != self.trouble:
                log_trouble(
                    LOGGER,
                    "a ranker cannot learn just now, and tries again",
                    where=f"ranker {self.name!r}",
                    why=error,
                    do="its lists and events go on; mend the store, or give the service its policy",
                )
            self.trouble = trouble
        self.starting = False
        if self.account.stale:
            self.refresh_account()

    def keep(self) -> None:
        """Keep a snapshot of the state of learning, unless there is one."""
        with self._learning:
            missing = self.history.base() > self._whole  # entries may be missing in it
            if self.fold.position != self._kept and not missing:
                self._keep(self.fold)

    def _keep(self, fold: Fold) -> None:
        began, snapshot = time.perf_counter(), fold.snapshot()
        self._store.submit(partial(keep_if_true, snapshot, self.name))
        fold.unkept, self._kept = 0, fold.position
        self._pace.kept(time.perf_counter() - began)

    def tick(self, patience: float = 0.0) -> None:
        """Learn, and let the log know the time if a list is to be closed and nothing else happens.

        That is the learner's work; others do it when it is overdue, as when the learner stands still.
        """
        self.resume_lists()
        self.try_to_catch_up()
        now = self._clock()
        if abs(now - self._account_read) >= patience:  # others may have written; a clock may go back
            self._account_read = now
            self.refresh_account()
        if self._fold is None or self.trouble:
            return
        closes, patience = self._fold.closes_next, patience if self.leads else max(patience, OVERDUE)
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
            self._step_down(terms, reason)

    def _step_down(self, terms: InForce, reason: str) -> None:
        """Step down, unless another process has just done so."""
        at, body = self._clock(), {"mode": step_down(terms.mode), "reason": reason}

        def job(transaction: Transaction) -> None:
            if terms.within(transaction, self.name, self._known).mode_since == terms.mode_since:
                now = transaction.time(at)
                transaction.append(Decision(at=now, ranker=self.name, kind="mode", body=body))

        write(self._store, job)
        self.refresh()

    def _show_if_whole(self, fold: Fold, folded: Iterable[str]) -> None:
        """Let readers see it, unless another process discarded entries that it had still to fold."""
        if self.history.base() <= self._whole:
            self._whole = fold.position
            self._show(fold, folded)
        else:
            self._fold = None  # the next time it begins with what is kept

    def _show(self, fold: Fold, folded: Iterable[str] = ()) -> None:
        with self._viewing:
            self._view = replace(self._view, model=fold.model)
        self._budget.refresh(fold.searches.standing if fold.searches else None, folded)

    def _keep_if_due(self, *, leap: bool = False) -> None:
        late = self._pace.due()
        if (leap or late or self.fold.unkept >= self.fold.rules.snapshot_every) and self.leads:
            self.keep()

    def _keep_in_time(self, fold: Fold, began: int, spec: RefoldSpec) -> None:
        """Keep a snapshot on the way, so that a start that is interrupted is not begun anew.

        If events were forgotten later, it is none of what was known then: a checkpoint of the way.
        """
        if not self._pace.due():
            return
        if self.starting:
            newest, _ = self._store.changed(after=2**62)
            self.trouble = f"it is starting: its log is folded up to entry {fold.position:,} of {newest:,}"
            LOGGER.info("ranker %r: %s", self.name, self.trouble)
        whole, since = self.history.base() <= began, time.perf_counter()
        if whole and self.leads and self.history.exact(fold):
            self._keep(fold)
        elif whole and self.leads:
            self.history.keep_checkpoint(fold, spec)
        self._pace.kept(time.perf_counter() - since)

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


class InForceByRanker(Mapping[str, InForce]):
    """What is in force for each ranker, looked up when it is asked for: there may be thousands."""

    def __init__(self, rankers: Mapping[str, Ranker]) -> None:
        self._rankers = rankers

    def __getitem__(self, name: str) -> InForce:
        return self._rankers[name].view.in_force

    def __iter__(self) -> Iterator[str]:
        return iter(self._rankers)

    def __len__(self) -> int:
        return len(self._rankers)


def _asking(asked: RankRequest | Impression) -> tuple[str, ...]:
    """Who asks what; nobody that could ask again, if there is neither a session nor a client."""
    person = asked.session_id or asked.client_id
    return (person, asked.user_query) if person else ()


def _unlearned(terms: InForce) -> Model:
    """What is there before anything was folded."""
    return Model(version=0, policy=terms.rules.policy, scale=scale_of(terms.rules.scaling))
