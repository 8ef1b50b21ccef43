"""One ranker: readers see a value that is swapped as a whole, one learner folds the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankloop.service.answer import Made, RankedList, answer
from rankloop.service.features import RequestError
from rankloop.service.fold import Fold
from rankloop.service.history import History
from rankloop.service.model import Model
from rankloop.service.request import Draft, check_request, draft
from rankloop.service.seeds import sticky_seed
from rankloop.service.settings import Mode, RankerSettings, step_down
from rankloop.service.show import Request, Showing, fall_back, show
from rankloop.service.table import Table
from rankloop.service.turns import LESSON, LIST, Turns
from rankloop.spelling import Catalogue
from rankloop.store import Decision, ImpressionBuffer, Store, Transaction, write
from rankloop.types import FloatArray

LEAPS = ("settings", "rollback", "forget")  # after which the state is worth keeping


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class View:
    """All that ranking needs, as of one moment."""

    model: Model
    rules: RankerSettings
    settings: int  # their version
    mode: Mode
    since: int = 0  # the entry that set the mode
    schema: Mapping[str, int] = field(default_factory=dict)  # features by name: their column


class Ranker:
    """A name, its log in the store, and what follows from it."""

    def __init__(self, name: str, store: Store, known: Catalogue, clock: Callable[[], float]) -> None:
        self.name, self.history = name, History(name, store, known)
        self.unlogged = 0  # lists that could not be written down
        self._store, self._clock = store, clock
        self._impressions = ImpressionBuffer(store, lost=self._lost)
        self._learning, self._viewing = threading.RLock(), threading.RLock()
        self._turns = Turns()
        self._fold: Fold = self.history.head()
        self._unwatched = 0  # lists since the guards last looked
        self._usual: tuple[Sequence[str], Mapping[str, int]] = (), {}  # names that are a schema's columns
        decisions = store.decisions(name)
        self.flushed = max((each.seq for each in decisions if each.kind == "flush"), default=0)
        self._view = _view(self._fold, decisions, known)
        self._keep_if_due()  # whoever crashes often must get on all the same

    @property
    def view(self) -> View:
        """What is in force now."""
        return self._view

    @property
    def rules(self) -> RankerSettings:
        """The rules in force."""
        return self._view.rules

    @property
    def fold(self) -> Fold:
        """The state of learning; only to look at."""
        return self._fold

    def decide(self, kind: str, **body: Any) -> int:
        """Write a decision down; when it is durable, act by it. Returns its number."""

        def job(transaction: Transaction) -> Decision:
            decision = Decision(at=transaction.time(at), ranker=self.name, kind=kind, body=body)
            seq = transaction.append(decision)
            if kind == "flush":
                self.flushed = seq  # before the next event is judged
            return replace(decision, seq=seq)

        with self._viewing:
            at = self._clock()
            decision = write(self._store, job)
            self._view = _after(self._view, decision, self.history.known)
        return decision.seq

    def extend(self, names: list[str]) -> View:
        """A view whose schema has these features."""
        with self._viewing:
            fresh = [name for name in names if name not in self._view.schema]
            total, limit = len(self._view.schema) + len(fresh), self.rules.max_features
            if total > limit:
                raise RequestError(
                    f"{fresh[0]!r} would be feature number {total} of {self.name!r}, which may have {limit}: "
                    "check the names you send, or raise max_features"
                )
            if fresh:
                self.decide("schema", names=fresh)
            return self._view

    def prepare(self, table: Table, *, k: int, query_id: str, user_query: str = "", **who: str) -> Draft:
        """Make a list; nothing is written down but new features."""
        check_request(table, k, self.rules, query_id=query_id, user_query=user_query, **who)
        view, raw = self._features(table)
        person = who.get("session_id") or who.get("client_id")
        seed = sticky_seed(self.name, person, user_query) if person else sticky_seed(self.name, query_id)
        n = len(table.object_ids)
        request = Request(
            query_id=query_id,
            raw=raw,
            pinned_at=np.array(table.pinned_at, np.int64) if table.pinned_at else np.zeros(n, np.int64),
            k=min(k, n),
            seed=seed,
            mode=view.mode,
        )
        with self._turns.take(LIST):
            ranked, showing = self._make(view, request, table.object_ids)
        return draft(self._clock(), table, request, showing, ranked, user_query=user_query, **who)

    def publish(self, made: Draft, *, urgent: bool = False) -> None:
        """Have a list written down, without waiting: it is no promise that anything is learned from it."""
        self._impressions.put(made.impression, urgent=urgent)
        self._unwatched += 1

    def _lost(self, lists: int) -> None:
        """Some could not be written down, but were shown: a list is better than none."""
        self.unlogged += lists

    def _features(self, table: Table) -> tuple[View, FloatArray]:
        """The candidates' features, and the view whose columns they have."""
        view = self._view
        names, schema = self._usual
        if table.names is names and view.schema is schema:  # nothing to look up
            return view, table.values
        unknown = table.new_names(view.schema)
        if unknown:
            view = self.extend(unknown)
        raw = table.by_column(view.schema)
        if raw is table.values and isinstance(table.names, tuple):
            self._usual = table.names, view.schema
        return view, raw

    def _make(self, view: View, request: Request, object_ids: Sequence[str]) -> tuple[RankedList, Showing]:
        """A list under a view; the caller's own order if anything is broken."""
        fallback = None
        try:
            showing = show(view.model, request, view.rules)
        except Exception as error:  # whatever it is, the caller gets a list
            showing, fallback = fall_back(request), f"{type(error).__name__}: {error}"[:200]
        made = Made(
            ranker=self.name,
            model=view.model.version,
            settings=view.settings,
            policy=view.model.policy.name,
            mode=request.mode,
            seed=request.seed,
            explored_pairs=showing.explored,
            fallback=fallback,
        )
        return answer(request, showing, object_ids, made), showing

    def catch_up(self) -> None:
        """Fold what was written since, and let readers see it."""
        with self._learning:
            fold = self._fold
            before = fold.position
            for entry in self._store.entries(self.name, after=fold.position):
                with self._turns.take(LESSON):
                    fold.apply(entry)
                self._keep_if_due(leap=isinstance(entry, Decision) and entry.kind in LEAPS)
            if fold.position != before:
                with self._viewing:
                    self._view = replace(self._view, model=fold.model)

    def keep(self) -> None:
        """Keep a snapshot of the state of learning."""
        with self._learning:
            snapshot = self._fold.snapshot()
            self._store.submit(lambda transaction: transaction.keep(snapshot))
            self._fold.unkept = 0

    def _keep_if_due(self, *, leap: bool = False) -> None:
        if leap or self._fold.unkept >= self._fold.rules.snapshot_every:
            self.keep()

    def tick(self, patience: float = 0.0) -> None:
        """Learn, and let the log know the time if a list is to be closed and nothing else happens."""
        self.catch_up()
        if self._fold.closes_next + patience <= self._clock():
            self.decide("tick")
            self.catch_up()
        self.watch()

    def watch(self) -> None:
        """Step down the ladder of modes if a guard is breached."""
        view, rules = self._view, self.rules
        if self._unwatched * 10 < rules.guard_lists or view.mode in ("passthrough", "shadow"):
            return
        self._unwatched = 0
        reason = self._breach(view, rules)
        if reason:
            self.decide("mode", mode=step_down(view.mode), reason=reason)

    def _breach(self, view: View, rules: RankerSettings) -> str:
        n = rules.guard_lists
        closed = self._clock() - rules.window
        lists = self._store.recent(self.name, lists=n, after=view.since, before=closed)
        if lists.lists >= n and lists.clicked < rules.ctr_floor * n:
            return f"{lists.clicked} of the last {n} lists got a click, the floor is {rules.ctr_floor:g}"
        lists = self._store.recent(self.name, lists=n, after=view.since, before=float("inf"))
        if lists.lists >= n and lists.fallbacks > rules.fallback_ceiling * n:
            return (
                f"{lists.fallbacks} of the last {n} lists failed, the ceiling is {rules.fallback_ceiling:g}"
            )
        return ""


def _view(fold: Fold, decisions: Sequence[Decision], known: Catalogue) -> View:
    """What is in force after all that was decided."""
    view = View(model=fold.model, rules=fold.rules, settings=0, mode="explore")
    for decision in decisions:
        view = _after(view, decision, known)
    return view


def _after(view: View, decision: Decision, known: Catalogue) -> View:
    """What is in force after a decision."""
    body, seq = decision.body, decision.seq
    if decision.kind == "settings":
        return replace(view, rules=RankerSettings.from_json(body["settings"], known), settings=seq)
    if decision.kind == "mode":
        return replace(view, mode=body["mode"], since=seq)
    if decision.kind == "schema":
        return replace(view, schema={**view.schema, **_columns(view, body["names"])})
    return view


def _columns(view: View, names: Sequence[str]) -> dict[str, int]:
    """New features get the next columns."""
    return {name: number for number, name in enumerate(names, start=len(view.schema))}
