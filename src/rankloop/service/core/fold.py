"""Fold of a ranker's log: a position, the configuration there, and what its parts made of every entry.

Entries are applied in order, and nothing else matters: not when, not by whom, not from which snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol, Self

from rankloop.errors import RankloopError
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.configuration import Configuration, DecidesExtensions
from rankloop.service.core.fold_part import FoldPart, PartState
from rankloop.service.core.learned_part import FindImpression, LearnedPart
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.rebuild import RebuildSpec
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Decision, Event, ImpressionHead, Logged, Snapshot, Store, Transaction
from rankloop.types import Array

TOGETHER = 500  # entries, and lists, that are read at once


class EntriesDeleted(RankloopError):
    """A fold has taken in entries that were deleted since: the log is to be folded again without them."""


class BringsParts(DecidesExtensions, Protocol):
    """A registry of extensions, as far as a fold asks it."""

    def fold_parts(self, configuration: Configuration) -> Mapping[str, FoldPart]:
        """Return the parts that extensions bring under a configuration, as they begin, by their names."""
        ...


class Fold:
    """The state of a ranker after some entry of its log.

    `spec` is what it depends on beside the log. A fold never redefines itself: the caller asks whether an
    entry redefines it (`is_redefined_by`), and goes on with another fold. A rollback returns to one of the
    `models`, which the caller has put there. An extension's part begins with the decision that asks for it,
    and only follows the log's own settings.
    """

    def __init__(
        self,
        ranker: str,
        find_impression: FindImpression,
        spec: RebuildSpec,
        registry: BringsParts,
        policy_kinds: PolicyKinds,
    ) -> None:
        self.ranker, self.spec = ranker, spec
        self.registry, self.policy_kinds = registry, policy_kinds
        self.position, self.at = 0, float("-inf")
        self.logged_configuration = Configuration()
        self.configuration = spec.configure(self.logged_configuration)
        self.models: dict[int, Model] = {}  # by entry: to which the log later returns
        self.learned = LearnedPart(ranker, find_impression, spec, self.configuration, self.models)
        self.extension_parts: Mapping[str, FoldPart] = {}
        self.began = 0  # the entry at which it began to read
        self.cleared = 0  # the newest `delete` decision when it began to read: it never saw those entries

    @property
    def settings(self) -> BaseRankerSettings:
        """The settings under which it learns, after the last entry."""
        return self.configuration.settings

    @property
    def model(self) -> Model:
        """What readers may see."""
        return self.learned.value()

    @property
    def values(self) -> Mapping[str, object]:
        """The values of the extensions' parts, by name."""
        return {name: part.value() for name, part in self.extension_parts.items()}

    @property
    def parts(self) -> tuple[FoldPart, ...]:
        """What is learned, then the parts of extensions."""
        return self.learned, *self.extension_parts.values()

    @property
    def closes_next(self) -> float:
        """When something falls due without a new entry; infinite if nothing waits."""
        return min(part.closes_next for part in self.parts)

    @property
    def needs_lists(self) -> bool:
        """Whether all lists are entries for it."""
        return any(part.needs_lists for part in self.parts)

    def apply(self, entry: Logged) -> None:
        """Take in the next entry. If it raises, the entry is not passed, and can be applied again."""
        logged, after = self.logged_configuration, self.configuration
        if isinstance(entry, Decision):
            self._check_deleted(entry)
            logged = logged.after(entry, self.registry, self.policy_kinds)
            if logged.problem and self.spec.settings is None:
                raise HistoryError(logged.problem)
            after = self.spec.configure(logged)  # once per decision: a copy takes microseconds
        for part in self.parts:
            if part.position < entry.seq:
                seen = self._is_for(part, entry)
                if seen and part is self.learned:
                    part.apply(entry, self.configuration, after)
                elif seen:
                    part.apply(entry, self.logged_configuration, logged)
                part.position = entry.seq
        if logged is not self.logged_configuration:
            self._renew_parts(logged, entry.seq)
        self.logged_configuration, self.configuration = logged, after
        self.position, self.at = entry.seq, entry.at

    def _is_for(self, part: FoldPart, entry: Logged) -> bool:
        """Whether a part is to see an entry.

        Under given settings, a list that only extensions need closes no window of another list: what is
        learned again is the same whatever extensions there are.
        """
        if isinstance(entry, Event):
            return entry.event_id not in self.spec.without
        if isinstance(entry, ImpressionHead) and part is self.learned and self.spec.settings is not None:
            return part.needs_lists
        return True

    def is_redefined_by(self, entry: Logged) -> bool:
        """Whether what was learned so far is to be replaced: by an entry that changes what came before it."""
        if not isinstance(entry, Decision):
            return False
        if entry.kind == "forget":
            return not self.spec.without.issuperset(entry.body["events"])
        if entry.kind == "retire":
            return not self.spec.retired.issuperset(entry.body["columns"])
        relearns = entry.kind == "settings" and bool(entry.body.get("relearn"))
        return relearns and self.position > 0 and self.spec.settings is None

    def continue_under_log(self, decision: Decision, spec: RebuildSpec) -> Self:
        """Go on by the log's own settings from the decision that puts those into force that it was given."""
        logged = self.logged_configuration.after(decision, self.registry, self.policy_kinds)
        if logged.problem:
            raise HistoryError(logged.problem)
        for part in self.extension_parts.values():
            part.apply(decision, self.logged_configuration, logged)
            part.position = decision.seq
        self.learned.continue_under_log(decision, spec, self.logged_configuration, logged)
        self.spec = spec
        self.models.clear()  # the log returns to what was learned under its own settings
        self._renew_parts(logged, decision.seq)
        self.logged_configuration = self.configuration = logged
        self.position, self.at = decision.seq, decision.at
        return self

    def _check_deleted(self, decision: Decision) -> None:
        """Refuse to go on if entries are gone, from `first` on, that this fold may have taken in."""
        if decision.kind == "delete" and decision.seq > self.cleared:
            first = int(decision.body["first"])
            if self.position >= first:
                raise EntriesDeleted(f"entries from {first} on are gone: fold the log again")

    def _renew_parts(self, after: Configuration, seq: int) -> None:
        """Begin the parts whose extension decided something else, and end those that nothing asks for."""
        states, former = after.extension_states, self.logged_configuration.extension_states
        fresh = dict(self.registry.fold_parts(after))
        for name, part in fresh.items():
            part.position = seq
            if name in self.extension_parts and states.get(name) == former.get(name):
                fresh[name] = self.extension_parts[name]
        self.extension_parts = fresh

    # snapshots

    def snapshot(self) -> Snapshot:
        """Return everything that does not follow from the decisions alone, as JSON and named arrays."""
        body: dict[str, Any] = {
            "without": sorted(self.spec.without),
            "retired": sorted(self.spec.retired),
        }
        arrays: dict[str, Array] = {}
        for part in self.parts:
            state = part.snapshot()
            body[part.name] = state.body
            arrays |= {f"{part.name}/{name}": value for name, value in state.arrays.items()}
        return Snapshot(seq=self.position, at=self.at, ranker=self.ranker, body=body, arrays=arrays)

    @classmethod
    def restore(
        cls,
        snapshot: Snapshot,
        logged: Configuration,
        find_impression: FindImpression,
        spec: RebuildSpec,
        registry: BringsParts,
        policy_kinds: PolicyKinds,
        *,
        relearns: bool = False,
    ) -> Self:
        """Go on from a snapshot; `logged` is the log's configuration there.

        If it `relearns`, nothing of the snapshot was learned yet under the spec's settings, and only the
        lists that were open are taken over.
        """
        spec = replace(
            spec,
            without=spec.without.union(snapshot.body["without"]),
            retired=spec.retired.union(snapshot.body["retired"]),
        )
        if logged.problem and spec.settings is None:
            raise HistoryError(logged.problem)
        fold = cls(snapshot.ranker, find_impression, spec, registry, policy_kinds)
        fold.position, fold.at, fold.began = snapshot.seq, snapshot.at, snapshot.seq
        fold.logged_configuration, fold.configuration = logged, spec.configure(logged)
        fold._renew_parts(logged, snapshot.seq)
        for part in fold.extension_parts.values():
            part.restore(_state_of(part.name, snapshot), logged)
        fold.learned.position = snapshot.seq
        learned = _state_of(fold.learned.name, snapshot)
        fold.learned.restore(learned, fold.configuration, relearns=relearns)
        return fold


def _state_of(name: str, snapshot: Snapshot) -> PartState:
    """What a snapshot keeps of a part."""
    prefix = f"{name}/"
    arrays = {
        key.removeprefix(prefix): each for key, each in snapshot.arrays.items() if key.startswith(prefix)
    }
    return PartState(snapshot.body[name], arrays)


def save_unless_deleted(snapshot: Snapshot, ranker: str, transaction: Transaction) -> None:
    """Save a snapshot, unless entries that it knows were deleted meanwhile."""
    later = transaction.read_decisions(ranker, after=snapshot.seq)
    if not any(each.kind == "delete" and int(each.body["first"]) <= snapshot.seq for each in later):
        transaction.save_snapshot(snapshot)


def read_unfolded(fold: Fold, store: Store, *, until: int | None = None) -> Iterator[Logged]:
    """Yield what a fold is to take in next; with all lists as long as it needs them."""
    while True:
        needed = fold.needs_lists
        entries = store.read_entries(fold.ranker, after=fold.position, until=until, with_lists=needed)
        for entry in _read_ahead(fold, store, entries):
            yield entry
            if fold.needs_lists != needed:  # a decision has changed that: go on from here
                break
        else:
            return


def _read_ahead(fold: Fold, store: Store, entries: Iterator[Logged]) -> Iterator[Logged]:
    """Yield entries; the lists that are due with the next few hundred are read together before these."""
    try:
        while page := list(islice(entries, TOGETHER)):
            due = fold.learned.find_due(page, fold.configuration)[:TOGETHER]
            fold.learned.impressions_ahead = store.find_impressions(due) if len(due) > 1 else {}
            yield from page
    finally:
        fold.learned.impressions_ahead = {}
