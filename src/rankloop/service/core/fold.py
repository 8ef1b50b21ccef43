"""Fold of a ranker's log: a position, the configuration there, and what its parts made of every entry.

Entries are applied in order, and nothing else matters: not when, not by whom, not from which snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol, Self

from rankloop.errors import RankloopError
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.configuration import Configuration, DecidesExtensions
from rankloop.service.core.fold_part import FoldPart, PartState
from rankloop.service.core.learned_part import LearnedPart, Past
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.core.rebuild import RebuildSpec
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Decision, Event, Logged, Snapshot, Store, Transaction
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

    `spec` is what it depends on beside the log; `targets` are the entries to which the log later rolls back:
    `models` keeps the models there on the way. An extension's part begins with the decision that asks for it,
    and only follows the log's own settings.
    """

    def __init__(
        self,
        ranker: str,
        past: Past,
        spec: RebuildSpec,
        registry: BringsParts,
        policy_kinds: PolicyKinds,
        *,
        targets: Iterable[int] = (),
    ) -> None:
        self.ranker, self.past, self.spec = ranker, past, spec
        self.registry, self.policy_kinds = registry, policy_kinds
        self.position, self.at = 0, float("-inf")
        self.logged_configuration = Configuration()
        self.configuration = spec.configure(self.logged_configuration)
        self.models: dict[int, Model] = {}
        self.learned = LearnedPart(ranker, past, spec, self.configuration, self.models)
        self.extension_parts: Mapping[str, FoldPart] = {}
        self.cleared = 0  # the newest `delete` decision when it began to read: it never saw those entries
        self._targets = sorted(set(targets))

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
        self._save_model(entry.seq)
        logged, after = self.logged_configuration, self.configuration
        if isinstance(entry, Decision):
            self._check_deleted(entry)
            logged = logged.after(entry, self.registry, self.policy_kinds)
            if logged.problem and self.spec.settings is None:
                raise HistoryError(logged.problem)
            after = self.spec.configure(logged)  # once per decision: a copy takes microseconds
            if self.is_redefined_by(entry):
                self._redefine(entry)
        skipped = isinstance(entry, Event) and entry.event_id in self.spec.without
        for part in self.parts:
            if part.position < entry.seq:
                if not skipped:
                    part.apply(entry, self.configuration, after)
                part.position = entry.seq
        if logged is not self.logged_configuration:
            self._renew_parts(logged, entry.seq)
        self.logged_configuration, self.configuration = logged, after
        self.position, self.at = entry.seq, entry.at

    def is_redefined_by(self, entry: Logged) -> bool:
        """Whether an entry says that the fold should never have known some events or features."""
        if not isinstance(entry, Decision):
            return False
        if entry.kind == "forget":
            return not self.spec.without.issuperset(entry.body["events"])
        return entry.kind == "retire" and not self.spec.retired.issuperset(entry.body["columns"])

    def _redefine(self, decision: Decision) -> None:
        """Stand where a fold stands that never knew these events and features."""
        spec = replace(
            self.spec,
            without=self.spec.without.union(decision.body.get("events", ())),
            retired=self.spec.retired.union(decision.body.get("columns", ())),
        )
        other = self.past.again(
            decision.seq, without=spec.without, settings=spec.settings, retired=spec.retired
        )
        unsaved = self.learned.versions_since_snapshot
        self.spec, self.learned, self.extension_parts = spec, other.learned, other.extension_parts
        self.models.clear()  # they still knew what is gone
        self.learned.models, self.learned.versions_since_snapshot = self.models, unsaved

    def _check_deleted(self, decision: Decision) -> None:
        """Refuse to go on if entries are gone, from `first` on, that this fold may have taken in."""
        if decision.kind == "delete" and decision.seq > self.cleared:
            first = int(decision.body["first"])
            if self.position >= first:
                raise EntriesDeleted(f"entries from {first} on are gone: fold the log again")

    def _renew_parts(self, after: Configuration, seq: int) -> None:
        """Begin the parts whose extension decided something else, and end those that nothing asks for."""
        states, former = after.extension_states, self.logged_configuration.extension_states
        fresh = {} if self.spec.settings else dict(self.registry.fold_parts(after))
        for name, part in fresh.items():
            part.position = seq
            if name in self.extension_parts and states.get(name) == former.get(name):
                fresh[name] = self.extension_parts[name]
        self.extension_parts = fresh

    def _save_model(self, seq: int) -> None:
        """Keep the model at entries that will be returned to, before going beyond them."""
        while self._targets and self._targets[0] < seq and not self.learned.idle:
            self.models[self._targets.pop(0)] = self.model.apart()

    # ways around what is about to be replaced

    def leap(self, seq: int, logged: Configuration) -> None:
        """Stand just before an entry with which all that was learned will be replaced, in its configuration.

        What waits for clicks is replaced there, too; parts of extensions are not.
        """
        self.position, self.logged_configuration = seq - 1, logged
        self.configuration = self.spec.configure(logged)
        self.learned = LearnedPart(self.ranker, self.past, self.spec, self.configuration, self.models)
        self.extension_parts = {}
        self._renew_parts(logged, self.position)
        self.learned.position = self.position

    def expect(self, targets: Iterable[int]) -> None:
        """Keep the models of these entries from now on, instead of those that were asked for before."""
        self._targets = sorted(set(targets))

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
        past: Past,
        spec: RebuildSpec,
        registry: BringsParts,
        policy_kinds: PolicyKinds,
        *,
        targets: Iterable[int] = (),
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
        fold = cls(snapshot.ranker, past, spec, registry, policy_kinds, targets=targets)
        fold.position, fold.at = snapshot.seq, snapshot.at
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
