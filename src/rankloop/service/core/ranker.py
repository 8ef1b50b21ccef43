"""Ranker: a deployment. Readers see a view that is swapped as a whole, one learner folds the log."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rankloop.errors import RequestError
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.compute_turns import LESSON, Turns
from rankloop.service.core.configuration import Configuration, configuration_at
from rankloop.service.core.extension import Registry
from rankloop.service.core.fold import EntriesDeleted, Fold, save_unless_deleted
from rankloop.service.core.history import History, OnEntry
from rankloop.service.core.lists.ranked_lists import NewNames, RankedLists
from rankloop.service.core.model import Model
from rankloop.service.core.past_decisions import END
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.scaling import scale_of
from rankloop.service.core.snapshot_timing import SnapshotPace, has_learned_enough
from rankloop.service.core.view import View
from rankloop.service.operator_log import warn_operator
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Decision, ImpressionHead, Logged, Store, Transaction, write
from rankloop.service.store.learner_election import ALONE, Election

OVERDUE = 5.0  # seconds after which a tick that the learner did not write is written by who follows
LEAPS = ("settings", "rollback", "forget", "retire")  # after which the state is worth keeping
STARTING = "it is starting: its log is not folded yet"
UNLEARNING = "its log is being learned again without deleted data"
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
        registry: Registry,
        policy_kinds: PolicyKinds,
        clock: Callable[[], float],
        election: Election = ALONE,
        *,
        begin: bool = True,
        holding: set[RankedLists] | None = None,  # those that wait, because the store is away
    ) -> None:
        self.name, self.history = name, History(name, store, registry, policy_kinds)
        given = name, store, registry, policy_kinds
        self._past = History(*given, apply=self._apply_in_turn, on_entry=self._save_in_time)
        self._election = election
        self.problem = ""  # why it cannot learn just now
        self._store, self._clock = store, clock
        self._registry, self._policy_kinds = registry, policy_kinds
        self._learning, self._viewing = threading.RLock(), threading.RLock()
        self._turns = Turns()
        held = set[RankedLists]() if holding is None else holding
        self.lists = RankedLists(self, store, clock, self._turns, registry.extensions, held)
        self._values: dict[
            str, tuple[object, Any]
        ] = {}  # of extensions for the view, and what they follow from
        self._fold: Fold | None = None
        self._pace, self._kept = SnapshotPace(), 0  # the entry whose snapshot was last kept
        self._whole = 0  # the entry up to which it is known to have missed nothing
        self.seen = 0  # the entry up to which readers see what was learned
        self._ticked_at = float("-inf")  # by the clock
        configuration = configuration_at(store, name, registry, policy_kinds)
        view = View(configuration=configuration, model=_unlearned(configuration), fault=STARTING)
        self._view = self._with_values(view)
        self._refresh_extensions()
        self.starting = not begin  # nobody has tried to fold its log yet
        self.problem = STARTING if self.starting else ""
        if begin:
            self.try_to_catch_up()

    @property
    def view(self) -> View:
        """What is in force, and what was learned."""
        return self._view

    @property
    def settings(self) -> BaseRankerSettings:
        """The settings in force."""
        return self._view.configuration.settings

    @property
    def leads(self) -> bool:
        """Whether this process is its learner, who writes ticks and snapshots; others follow."""
        return self._election.leads(self.name)

    @property
    def broken(self) -> bool:
        """Whether its log could not be folded so far, or its settings cannot be read."""
        return self._fold is None or bool(self._view.configuration.problem)

    def find_fault(self) -> str:
        """Why its lists are in the caller's order, if they are."""
        return f"broken: {self.problem or self._view.configuration.problem}"[:200] if self.broken else ""

    @property
    def restless(self) -> bool:
        """Whether it has something to do although nothing was written: wait, or try again."""
        waits = self._fold is None or self._fold.closes_next < float("inf")
        late = waits or self.lists.buffer.held_up
        return bool(late or self.problem) or any(each.needs_ticks for each in self.lists.live_states.values())

    @property
    def fold(self) -> Fold:
        """The state of learning; only to look at."""
        if self._fold is None:
            raise HistoryError(f"ranker {self.name!r} is broken: {self.problem}")
        return self._fold

    def now(self) -> float:
        """What the clock says."""
        return self._clock()

    # decisions

    def decide(self, kind: str, **body: Any) -> int:
        """Write a decision down; it is in force when this returns. Its number."""
        return self.decide_if(lambda _: (kind, body))

    def decide_if(self, choose: Callable[[Configuration], tuple[str, Mapping[str, Any]] | int]) -> int:
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

    def within(self, transaction: Transaction) -> Configuration:
        """What is in force inside a transaction."""
        return self._view.configuration.within(transaction, self.name, self._registry, self._policy_kinds)

    def refresh(self) -> View:
        """Take in what was decided since, by whatever process."""
        with self._viewing:
            before = self._view.configuration
            decided = self._store.read_decisions(self.name, after=before.position)
            after = before.after_all(decided, self._registry, self._policy_kinds)
            if after is not before:
                view = replace(self._view, configuration=after)
                erased = [int(each.body["first"]) for each in decided if each.kind == "delete"]
                self._view = self._without_erased(view, min(erased)) if erased else self._with_values(view)
                self._refresh_extensions()
            return self._view

    def _without_erased(self, view: View, first: int) -> View:
        """The view without a model that may know erased entries, until the log is folded without them.

        Lists are made by the newest model that was kept before the first of these entries: it can be rebuilt.
        Without one, they are in the caller's order.
        """
        self._clear_past()
        self._values.clear()
        view = self._with_values(view, asks_history=False)
        if view.model.version < first:
            return view
        kept = self.history.model_of_snapshot(first)
        if kept is None:
            return replace(view, model=_unlearned(view.configuration), fault=UNLEARNING)
        return replace(view, model=kept)

    def _with_values(self, view: View, *, asks_history: bool = True) -> View:
        """The view with what extensions keep ready for lists, each asked again only if that may differ."""
        configuration, learned = view.configuration, {} if self._fold is None else self._fold.values
        for each in self._registry.extensions:
            state = configuration.extension_states.get(each.name)
            key = state, configuration.settings_version, learned.get(each.name), asks_history
            if each.name not in self._values or self._values[each.name][0] != key:
                history = self.history if asks_history else None
                value = each.view_value(configuration, learned.get(each.name), history)
                self._values[each.name] = key, value
        return replace(view, extension_values={name: value for name, (_, value) in self._values.items()})

    def _refresh_extensions(self, folded: Iterable[str] = ()) -> None:
        for each in self.lists.live_states.values():
            each.refresh(self._view, folded)

    def extend(self, names: NewNames) -> View:
        """A view whose schemas, of candidates and of who asks, have these features; all are added or none."""
        at, start = self._clock(), self._view.configuration

        def job(transaction: Transaction) -> None:
            configuration = start.within(transaction, self.name, self._registry, self._policy_kinds)
            known = {"schema": configuration.schema, "context": configuration.context_schema}
            fresh = {kind: known[kind].missing(names[kind]) for kind in names}
            for kind, added in fresh.items():
                self._check_room(added, len(known[kind].columns), configuration)
            for kind, body in ((kind, {"names": added}) for kind, added in fresh.items() if added):
                transaction.append(Decision(at=transaction.time(at), ranker=self.name, kind=kind, body=body))

        write(self._store, job)
        return self.refresh()

    def _check_room(self, fresh: Sequence[str], known: int, configuration: Configuration) -> None:
        total, limit = known + len(fresh), configuration.settings.max_features
        if fresh and total > limit:
            raise RequestError(
                f"{fresh[0]!r} would be feature number {total} of {self.name!r}, which may have {limit}: "
                "check the names you send, or raise max_features"
            )

    # learning

    def catch_up(self) -> None:
        """Fold what was written since, and let readers see it. What cannot be read now is tried again."""
        with self._learning:
            self.refresh()
            self._pace.begin()
            if self._fold is None:
                self._begin_anew()
            folded = list[str]()
            try:
                self._fold = self._past.fold_until(self.fold, on_entry=partial(self._folded, folded))
            except EntriesDeleted:
                self._clear_past()
                self._begin_anew()
            finally:
                if self._fold is not None and self._fold.position != self._whole:
                    self._show_if_whole(self._fold, folded)
            self.problem = ""

    def _folded(self, folded: list[str], fold: Fold, entry: Logged) -> None:
        """Note what was folded, and save a snapshot if one is due; `fold` may have taken another's place."""
        self._fold = fold
        if isinstance(entry, ImpressionHead):
            folded.append(entry.query_id)
        elif isinstance(entry, Decision) and entry.kind == "delete":
            folded.extend(self._known_lists(fold))
        self._keep_if_due(leap=isinstance(entry, Decision) and entry.kind in LEAPS)

    def _begin_anew(self) -> None:
        """Fold the log from what is kept; until it is done, readers see what they saw before."""
        fold, deleted = self._past.newest(), self._fold is not None
        self._fold, self._whole = fold, fold.position
        if deleted:
            self.keep()
        else:
            self._keep_if_due()
        with self._viewing:
            if deleted:
                self._values.clear()
            self._show(fold, self._known_lists(fold))

    def swap_in(self, fold: Fold, decide: Callable[[], int]) -> int:
        """Make a fold that was prepared beside this one the ranker's own, by a decision; 0 without one."""
        with self._learning:
            seq = decide()
            if seq:
                fold = self._past.fold_until(fold, seq - 1)
                if fold.spec.settings is not None:
                    decision = self._past.decisions().find("settings", seq)
                    fold = fold.continue_under_log(decision, self._past.spec(seq))
                fold = self._past.fold_until(fold, seq)
                self._fold = fold
                self._show_if_whole(fold, self._known_lists(fold))
                self._keep_if_due(leap=True)
            return seq

    def prepare_rollback(self, version: int, model: Model) -> None:
        """Have the model ready that a rollback is about to return to."""
        self._past.remember(version, self.fold.spec, model)

    def background_history(
        self, before: Callable[[Fold], None], on_entry: OnEntry, on_target: Callable[[Fold], None]
    ) -> History:
        """A history to learn the log again with, beside all else: between two entries lists come first.

        `before` is called before each entry, and may raise; `on_entry` after it.
        """

        def apply(fold: Fold, entry: Logged) -> None:
            before(fold)
            self._apply_in_turn(fold, entry)

        given = self.name, self._store, self._registry, self._policy_kinds
        return History(*given, apply=apply, on_entry=on_entry, on_target=on_target)

    def _apply_in_turn(self, fold: Fold, entry: Logged) -> None:
        with self._turns.take(LESSON):
            fold.apply(entry)

    def _clear_past(self) -> None:
        """Let go of past models: entries that they were learned from are gone."""
        self._past.clear()
        self.history.clear()

    def _known_lists(self, fold: Fold) -> list[str]:
        """Lists that extensions wait for and that are in a fold, or were deleted since."""
        waiting = [pair for each in self.lists.live_states.values() for pair in each.waiting.items()]
        found = {name: (self._store.find_impression(name), told) for name, told in waiting}
        return [
            name
            for name, (shown, told) in found.items()
            if (told if shown is None else shown.seq <= fold.position)
        ]

    def try_to_catch_up(self) -> None:
        """`catch_up` for whoever can do nothing about an error: it is kept to be seen, and logged once."""
        try:
            self.catch_up()
        except Exception as error:  # whatever it is, other rankers go on
            problem = f"{type(error).__name__}: {error}"
            if problem != self.problem:
                warn_operator(
                    LOGGER,
                    "a ranker cannot learn just now, and tries again",
                    where=f"ranker {self.name!r}",
                    why=error,
                    do="its lists and events go on; mend the store, or give the service its policy",
                )
            self.problem = problem
        self.starting = False
        self._refresh_extensions()

    def keep(self) -> None:
        """Keep a snapshot of the state of learning, unless there is one."""
        with self._learning:
            missing = self._past.first_entry() > self._whole  # entries may be missing in it
            if self.fold.position != self._kept and not missing:
                self._keep(self.fold)

    def _keep(self, fold: Fold) -> None:
        began, snapshot = time.perf_counter(), fold.snapshot()
        self._store.submit(partial(save_unless_deleted, snapshot, self.name))
        fold.learned.note_snapshot()
        self._kept = fold.position
        self._pace.kept(time.perf_counter() - began)

    def tick(self, patience: float = 0.0) -> None:
        """Learn, and let the log know the time if a list is to be closed and nothing else happens.

        That is the learner's work; others do it when it is overdue, as when the learner stands still.
        """
        self.lists.resume()
        self.try_to_catch_up()
        now = self._clock()
        if abs(now - self._ticked_at) >= patience:  # others may have written; a clock may go back
            self._ticked_at = now
            for each in self.lists.live_states.values():
                each.tick()
        if self._fold is None or self.problem:
            return
        closes, patience = self._fold.closes_next, patience if self.leads else max(patience, OVERDUE)
        if closes < float("inf") and closes + patience <= self._store.time(self._clock()):
            self.decide("tick")
            self.try_to_catch_up()

    def _show_if_whole(self, fold: Fold, folded: Iterable[str]) -> None:
        """Let readers see it, unless another process discarded entries that it had still to fold."""
        if self._past.first_entry() <= self._whole:
            self._whole = fold.position
            self._show(fold, folded)
        else:
            self._fold = None  # the next time it begins with what is kept

    def _show(self, fold: Fold, folded: Iterable[str] = ()) -> None:
        with self._viewing:
            erased = self._view.configuration.deleted
            if max(fold.position, fold.cleared) < erased:  # it may know what was erased since
                return
            self._view = self._with_values(replace(self._view, model=fold.model, fault=""))
        self._refresh_extensions(folded)
        self.seen = fold.position

    def _keep_if_due(self, *, leap: bool = False) -> None:
        learned = self.fold.learned
        much = has_learned_enough(learned.versions_since_snapshot, learned.lists, learned.lists_in_snapshot)
        if (self._pace.due() or leap or much) and self.leads:
            self.keep()

    def _save_in_time(self, fold: Fold, __: Logged) -> None:
        """Save a snapshot on the way, so that a start that is interrupted is not begun anew.

        If events were forgotten later, it is none of what was known then: a checkpoint of the way.
        """
        if not self._pace.due():
            return
        if self.starting:
            newest, _ = self._store.list_changed_rankers(after=END)
            self.problem = f"it is starting: its log is folded up to entry {fold.position:,} of {newest:,}"
            LOGGER.info("ranker %r: %s", self.name, self.problem)
        began = time.perf_counter()
        if self._past.first_entry() <= fold.began and self.leads:
            if fold.spec.settings is None and self._past.matches_log(fold):
                self._keep(fold)
            else:
                self._past.save_checkpoint(fold)
        self._pace.kept(time.perf_counter() - began)


def _unlearned(configuration: Configuration) -> Model:
    """What is there before anything was folded."""
    return Model(version=0, policy=configuration.policy, scale=scale_of(configuration.settings.scaling))
