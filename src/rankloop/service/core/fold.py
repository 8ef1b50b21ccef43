"""Fold of a ranker's log: what was learned, and what is in force, after each entry.

Entries are applied in order, and nothing else matters: not when, not by whom, not from which snapshot. A list
that got clicks, or grades, is *open* until its window closes, by the log's time; then all of them are learned
at once, as one feedback. The version of a model is the number of the entry that last changed it.

Applying an entry either succeeds or raises before the entry is passed: a store that cannot be read just now
is asked again later, and nothing is skipped. A list that nobody can learn from, today or ever, is refused:
counted, with the reason.
"""

from __future__ import annotations

import copy
import heapq
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from rankloop.errors import DataError, RankloopError
from rankloop.naming import write_name
from rankloop.policies import Policy
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.configuration import Configuration, DecidesExtensions
from rankloop.service.core.feedback import Reaction, lesson, reaction
from rankloop.service.core.model import Model, width_of
from rankloop.service.core.ranker_settings import LEARNS, RankerSettings
from rankloop.service.core.scaling import Scale, scale_of
from rankloop.service.extensions.promise.fold_part import Searches
from rankloop.service.operator_log import warn_operator
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import (
    Decision,
    Event,
    Impression,
    ListEntry,
    Logged,
    Snapshot,
    Store,
    Transaction,
)

LOGGER = logging.getLogger("rankloop.service")


class PastRewritten(RankloopError):
    """A fold has taken in entries that were deleted since: the log is to be folded again without them."""


class Past(Protocol):
    """What a fold may ask about the log before it."""

    def impression(self, query_id: str) -> Impression | None:
        """A list that was shown."""
        ...

    def model(self, seq: int, *, without: frozenset[str], retired: frozenset[int] = frozenset()) -> Model:
        """The model after an entry, as if some events had never been."""
        ...

    def again(
        self,
        until: int,
        *,
        without: frozenset[str],
        settings: RankerSettings | None,
        retired: frozenset[int] = frozenset(),
    ) -> Fold:
        """The fold of everything before an entry, without some events or features, or by other settings."""
        ...


@dataclass(slots=True)
class OpenList:
    """A list that got clicks or grades and still takes more."""

    closes_at: float
    shown_at: float
    done: dict[int, dict[str, float | None]] = field(
        default_factory=dict
    )  # by position and action: its value


class Fold:
    """The state of a ranker after some entry of its log.

    `without` are events to pass over as if they had never been; `settings` are given when the log is folded
    as if they had held all along; `retired` are columns to pass over, of retired features; `targets` are
    the entries to which the log later rolls back: the models there are kept on the way.
    """

    def __init__(
        self,
        ranker: str,
        past: Past,
        registry: DecidesExtensions,
        policy_kinds: PolicyKinds,
        *,
        without: frozenset[str] = frozenset(),
        settings: RankerSettings | None = None,
        targets: Iterable[int] = (),
        retired: frozenset[int] = frozenset(),
    ) -> None:
        self.ranker, self.past = ranker, past
        self.registry, self.policy_kinds = registry, policy_kinds
        self.without, self.retired = without, retired
        self.position, self.at, self.version = 0, float("-inf"), 0
        self.configuration = Configuration(settings=settings or RankerSettings())
        self.policy: Policy = self.settings.policy
        self.scale: Scale = scale_of(self.settings.scaling)
        self.lists = self.width = 0
        self.refused = 0  # lists nobody could learn from
        self.problem = ""  # why the last of them was refused
        self.early = 0  # lists closed before their window, because too many were open
        self.unkept = 0  # versions since the snapshot it came from, or since the last one it gave
        self.open: dict[str, OpenList] = {}
        self._closing: list[tuple[float, int, str]] = []  # a heap: closes_at, number of the list, its id
        self.searches: Searches | None = None  # under a promise, if one is in force
        self._changed = False  # by the entry that is being applied
        self._counted = 0  # the last entry that the searches were told of
        self._given = settings
        self.judged_by = self.settings.window  # by which events got their verdicts, whatever is given
        self.heard_since = 0 if self.hears_silence else None  # later lists are learned also without a click
        self.cleared = 0  # the newest `delete` decision when it began to read: it never saw those entries
        self._targets = sorted(set(targets))
        self.marks: dict[int, Model] = {}
        self.idle = False  # entries pass, and nothing is learned: what was is about to be replaced

    @property
    def settings(self) -> RankerSettings:
        """The settings after the last entry."""
        return self.configuration.settings

    @property
    def model(self) -> Model:
        """What readers may see."""
        return Model(
            version=self.version,
            policy=self.policy,
            scale=self.scale,
            lists=self.lists,
            width=self.width,
            retired=tuple(sorted(self.retired)),
        )

    @property
    def closes_next(self) -> float:
        """When the next open list closes; infinite if none is open."""
        closing = self._closing[0][0] if self._closing else float("inf")
        return min(closing, self.searches.closes_next) if self.searches else closing

    @property
    def hears_silence(self) -> bool:
        """Whether lists that nobody clicked teach, so that all lists are entries for it."""
        return self.settings.signal == "clicks" and self.policy.learns_without_clicks

    @property
    def hears_lists(self) -> bool:
        """Whether all lists are entries for it: silence teaches, or searches are counted."""
        return self.hears_silence or self.searches is not None

    def apply(self, entry: Logged) -> None:
        """Take in the next entry. If it raises, the entry is not passed, and can be applied again."""
        self._mark(entry.seq)
        if isinstance(entry, Event) and entry.event_id in self.without:
            return
        self._close(until=entry.at)
        self._count(entry)
        if isinstance(entry, Event):
            self._note(entry)
        elif isinstance(entry, Decision):
            self._decide(entry)
        elif self.hears_silence and entry.teaches:  # a list
            if entry.query_id not in self.open:  # it is, if making room for it has failed before
                self._open(entry.query_id, entry.at + self.settings.window, entry.seq, shown_at=entry.at)
            self._make_room(entry.at)
        self.position, self.at = entry.seq, entry.at
        if self._changed:
            self.version, self._changed = entry.seq, False
            self.unkept += 1

    def leap(self, seq: int, configuration: Configuration) -> None:
        """Stand just before an entry with which all that was learned will be replaced, in its configuration.

        What waits for clicks is replaced there, too; searches under a promise are not.
        """
        self.position, self.configuration, self.judged_by = (
            seq - 1,
            configuration,
            configuration.settings.window,
        )
        self.policy, self.open, self._closing = configuration.settings.policy, {}, []

    def expect(self, targets: Iterable[int]) -> None:
        """Keep the models of these entries from now on, instead of those that were asked for before."""
        self._targets = sorted(set(targets))

    # searches under a promise

    def _count(self, entry: Logged) -> None:
        if self.searches is None or entry.seq == self._counted:  # it may be applied again, if it has failed
            return
        self.searches.close(entry.at, self.settings.clicked)
        if isinstance(entry, Event):
            self.searches.note(entry)
        elif isinstance(entry, ListEntry) and entry.promised is not None:
            self.searches.shown(entry.query_id, entry.promised, entry.at + self.settings.window)
        self._counted = entry.seq

    def _promise(self, after: Configuration) -> None:
        """A promise begins with the settings that make it, and ends with those that do not."""
        promise, began = after.settings.promise, after.extension_states.get("promise")
        if promise is None or self._given:
            self.searches = None
        elif self.searches is None or self.searches.promise != began:
            self.searches = Searches(began or 0, promise)

    # clicks

    def _note(self, event: Event) -> None:
        """A click or a grade opens its list or joins those there are; of an action, the last value counts."""
        if event.position is None or event.list_seq is None or event.closes_at is None:
            return
        if event.query_id not in self.open:
            if self.heard_since is not None and event.list_seq > self.heard_since:  # it is learned once
                return
            if event.verdict == "late" and not self.settings.learn_late:
                return
            shown_at = event.closes_at - self.judged_by
            self._open(event.query_id, event.closes_at, event.list_seq, shown_at=shown_at)
        elif event.verdict == "late" and not self.settings.learn_late:
            return
        self.open[event.query_id].done.setdefault(event.position, {})[event.action] = event.value
        self._make_room(event.at)

    def _open(self, query_id: str, closes_at: float, number: int, *, shown_at: float) -> None:
        self.open[query_id] = OpenList(closes_at, shown_at)
        heapq.heappush(self._closing, (closes_at, number, query_id))

    def _make_room(self, now: float) -> None:
        if len(self.open) > self.settings.max_open:
            early = self.closes_next > now  # what came late closes at once
            self._close_next()
            self.early += early

    def _lengthen(self, window: float) -> None:
        """Open lists take clicks as long as the new window says; a shorter one leaves them as they are."""
        for each in self.open.values():
            each.closes_at = max(each.closes_at, each.shown_at + window)
        self._closing = [(self.open[name].closes_at, number, name) for _, number, name in self._closing]
        heapq.heapify(self._closing)

    def _close(self, *, until: float) -> None:
        while self._closing and self._closing[0][0] <= until:
            self._close_next()

    def _close_next(self) -> None:
        """Learn the list whose window closes first; it stays open if it cannot be read just now."""
        _, _, query_id = self._closing[0]
        found = reaction(self.settings, self.open[query_id].done, silence=self.hears_silence)
        if found and self.configuration.mode in LEARNS and not self.idle:
            try:
                impression = self.past.impression(query_id)
            except DataError as error:  # damaged for good; everything else may pass, and is raised
                self._refuse(query_id, error)
            else:
                if impression is not None:
                    self._learn(impression, found)
        heapq.heappop(self._closing)
        del self.open[query_id]

    def _learn(self, impression: Impression, found: Reaction) -> None:
        scale = self._scale_after(impression)
        try:
            model = replace(self.model, scale=scale)
            taught = lesson(model, impression, found, retired=self.configuration.schema.retired)
            if taught is None:
                return
            pupil = copy.copy(taught.policy)  # a twin: learn replaces arrays and changes none
            pupil.learn(taught.feedback)
        except MemoryError:  # says something about this moment, nothing about the list
            raise
        except Exception as error:  # whatever it is: it would be the same each time
            self._refuse(impression.query_id, error)
            return
        self.policy, self.scale, self.lists = pupil, scale, self.lists + 1
        self.width = width_of(pupil, taught.feedback.ranking.query)
        self._changed = True

    def _scale_after(self, impression: Impression) -> Scale:
        if self.policy.reads != "context":
            return self.scale.after(self.model.seen(impression.features))
        return self.scale.after(impression.context[None]) if impression.context.size else self.scale

    def _refuse(self, query_id: str, error: Exception) -> None:
        self.refused += 1
        self.problem = f"list {query_id!r} could not be learned from: {type(error).__name__}: {error}"[:500]
        warn_operator(
            LOGGER,
            "a list could not be learned from, and never will be",
            where=f"ranker {self.ranker!r}",
            why=self.problem,
            do="mend its policy, then configure it with relearn",
        )

    # decisions

    def _decide(self, decision: Decision) -> None:
        acts: Mapping[str, Callable[[Decision, Configuration], None]] = {
            "settings": self._settings,
            "rollback": self._rollback,
            "forget": self._forget,
            "retire": self._retire,
            "flush": self._flush,
            "delete": self._delete,
        }
        after = self.configuration.after(decision, self.registry, self.policy_kinds)
        if after.problem and not self._given:
            raise HistoryError(after.problem)
        window = after.settings.window
        if self._given:
            after = replace(after, settings=self._given, problem="")
        act = acts.get(decision.kind)  # others change only what is in force
        if act is not None:
            act(decision, after)
        if after.settings.window > self.settings.window:
            self._lengthen(after.settings.window)
        self.configuration, self.judged_by = after, window
        self._promise(after)
        self._hear_from(decision.seq)

    def _hear_from(self, seq: int) -> None:
        """Lists after an entry are heard, if silence is; if it was before, earlier ones were, too."""
        if not self.hears_silence:
            self.heard_since = None
        elif self.heard_since is None:
            self.heard_since = seq

    def _settings(self, decision: Decision, after: Configuration) -> None:
        before, settings, first = self.settings, after.settings, self.position == 0
        again = decision.body.get("relearn") and not self.idle
        if again and not first and not self._given:
            past, gone = self.past, self.retired
            self._take_over(past.again(decision.seq, without=self.without, settings=settings, retired=gone))
        elif first or not settings.policy.continues(before.policy) or settings.scaling != before.scaling:
            if not (self._given and self.lists == 0):  # a relearned model starts as wide as it will be
                self.width = 0
            self.policy, self.scale, self.lists = settings.policy, scale_of(settings.scaling), 0
            self._changed = True
        else:
            self.policy = settings.policy.from_state(self.policy.state())  # other settings, same knowledge
            self._changed |= write_name(settings.policy) != write_name(before.policy)

    def _rollback(self, decision: Decision, after: Configuration) -> None:
        if self.idle:
            return
        target = int(decision.body["to"])
        past, gone = self.past, self.retired
        model = self.marks.get(target) or past.model(target, without=self.without, retired=gone)
        same = after.settings.policy.continues(model.policy) and self.retired == frozenset(model.retired)
        if not same:  # nobody may decide that any more
            return
        self.policy = after.settings.policy.from_state(model.policy.state())
        self.scale, self.lists, self.width = model.scale, model.lists, model.width
        self._changed = True

    def _forget(self, decision: Decision, _: Configuration) -> None:
        ids = frozenset(decision.body["events"])
        if not ids <= self.without:  # otherwise this fold never knew them
            self._redefine(decision, self.without | ids, self.retired)
        self._changed = True

    def _retire(self, decision: Decision, _: Configuration) -> None:
        columns = frozenset(decision.body["columns"])
        if not columns <= self.retired:  # otherwise this fold never knew them
            self._redefine(decision, self.without, self.retired | columns)
        self._changed = True

    def _redefine(self, decision: Decision, without: frozenset[str], retired: frozenset[int]) -> None:
        """Stand where a fold stands that never knew these events and features, and has met the decision."""
        other = self.past.again(decision.seq, without=without, settings=self._given, retired=retired)
        self._take_over(other)
        self.without, self.retired = without, retired
        self.marks.clear()  # they still knew what is gone
        self.searches = other.searches  # of other settings they are the same, whatever was learned
        if self.searches is not None:
            self.searches.close(decision.at, self.settings.clicked)
        self._close(until=decision.at)  # the other fold ended before the decision

    def _flush(self, _: Decision, __: Configuration) -> None:
        self._close(until=float("inf"))
        if self.searches is not None:
            self.searches.close(float("inf"), self.settings.clicked)

    def _delete(self, decision: Decision, _: Configuration) -> None:
        """Entries are gone, from `first` on: what was learned without them is another version."""
        if decision.seq > self.cleared and self.position >= int(decision.body["first"]):
            raise PastRewritten(f"entries from {decision.body['first']} on are gone: fold the log again")
        self._changed = True

    def _take_over(self, other: Fold) -> None:
        """Go on from another past."""
        self.policy, self.scale = other.policy, other.scale
        self.lists, self.width = other.lists, other.width
        self.open, self._closing = other.open, other._closing
        self.refused, self.problem, self.early = other.refused, other.problem, other.early
        self.heard_since = other.heard_since
        self._changed = True

    def _mark(self, seq: int) -> None:
        """Keep the model at entries that will be returned to, before going beyond them."""
        while self._targets and self._targets[0] < seq and not self.idle:
            self.marks[self._targets.pop(0)] = self.model.apart()

    # snapshots

    def snapshot(self) -> Snapshot:
        """Everything that does not follow from the decisions alone, as JSON and named arrays."""
        closing = {query_id: (closes_at, number) for closes_at, number, query_id in self._closing}
        body: dict[str, Any] = {
            "version": self.version,
            "lists": self.lists,
            "width": self.width,
            "refused": self.refused,
            "problem": self.problem,
            "early": self.early,
            "heard_since": self.heard_since,
            "without": sorted(self.without),
            "shown_at": {query_id: each.shown_at for query_id, each in self.open.items()},
            "open": {
                query_id: [
                    *closing[query_id],
                    [[at, dict(sorted(did.items()))] for at, did in each.done.items()],
                ]
                for query_id, each in self.open.items()
            },
        }
        if self.retired:
            body["retired"] = sorted(self.retired)
        if self.searches is not None:
            body["promise"] = self.searches.to_json()
        arrays = {f"policy.{name}": value for name, value in self.policy.state().items()}
        arrays |= {f"scale.{name}": value for name, value in self.scale.state().items()}
        return Snapshot(seq=self.position, at=self.at, ranker=self.ranker, body=body, arrays=arrays)

    @classmethod
    def resume(
        cls,
        snapshot: Snapshot,
        configuration: Configuration,
        past: Past,
        registry: DecidesExtensions,
        policy_kinds: PolicyKinds,
        *,
        without: frozenset[str] = frozenset(),
        settings: RankerSettings | None = None,
        given: bool = False,
        targets: Iterable[int] = (),
        retired: frozenset[int] = frozenset(),
    ) -> Self:
        """Go on from a snapshot; `configuration` is what was in force there.

        Under other `settings` nothing of it was learned yet; it was if those in force were `given` before.
        """
        body = snapshot.body
        forgotten = frozenset(body["without"]) | without
        held = configuration.settings if given else settings
        gone = frozenset(body.get("retired", ())) | retired
        fold = cls(
            snapshot.ranker,
            past,
            registry,
            policy_kinds,
            without=forgotten,
            settings=held,
            targets=targets,
            retired=gone,
        )
        fold.position, fold.at, fold.version = snapshot.seq, snapshot.at, body["version"]
        fold.judged_by = configuration.settings.window
        for query_id, (closes_at, number, done) in body["open"].items():
            done_at = {at: dict(did) for at, did in done}
            fold.open[query_id] = OpenList(closes_at, body["shown_at"][query_id], done_at)
            heapq.heappush(fold._closing, (closes_at, number, query_id))
        fold.heard_since = body["heard_since"]
        if settings is not None:  # nothing was learned yet under these settings
            fold.configuration = replace(configuration, settings=settings, problem="")
            fold._hear_from(snapshot.seq)
            return fold
        if configuration.problem:
            raise HistoryError(configuration.problem)
        fold.configuration = configuration
        if (promise := configuration.settings.promise) is not None and not given:
            fold.searches = Searches.from_json(body["promise"], promise)
        fold.lists, fold.width, fold.refused = body["lists"], body["width"], body["refused"]
        fold.problem, fold.early = body.get("problem", ""), body["early"]
        fold.policy = fold.settings.policy.from_state(_part("policy.", snapshot))
        fold.scale = scale_of(fold.settings.scaling, _part("scale.", snapshot))
        fold._hear_from(snapshot.seq)
        return fold


def keep_if_true(snapshot: Snapshot, ranker: str, transaction: Transaction) -> None:
    """Keep a snapshot, unless entries that it knows were deleted meanwhile."""
    later = transaction.read_decisions(ranker, after=snapshot.seq)
    if not any(each.kind == "delete" and int(each.body["first"]) <= snapshot.seq for each in later):
        transaction.save_snapshot(snapshot)


def entries_for(fold: Fold, store: Store, *, until: int | None = None) -> Iterator[Logged]:
    """What a fold is to take in next; with all lists as long as it hears them."""
    while True:
        heard = fold.hears_lists
        for entry in store.read_entries(fold.ranker, after=fold.position, until=until, with_lists=heard):
            yield entry
            if fold.hears_lists != heard:  # a decision has changed that: go on from here
                break
        else:
            return


def _part(prefix: str, snapshot: Snapshot) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): value for name, value in snapshot.arrays.items() if name.startswith(prefix)
    }
