"""History: any past model of a ranker, from the nearest snapshot and the fold of the log from there.

A snapshot only saves time. One that cannot be read is passed over for an older one, and in the end for the
log itself; only where the log's beginning was discarded is there nothing left to begin with.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import TypeAlias

from rankloop.policies import Policy
from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.checkpoint import (
    checkpoint,
    checkpoint_name,
    drop_checkpoint,
    restored,
)
from rankloop.service.core.configuration import Configuration, configuration_at
from rankloop.service.core.extension import Registry
from rankloop.service.core.fold import EntriesDeleted, Fold, read_unfolded, save_unless_deleted
from rankloop.service.core.model import Model
from rankloop.service.core.ranker_settings import BaseRankerSettings, build_policy
from rankloop.service.core.rebuild import RebuildSpec
from rankloop.service.core.settings_record import read_settings
from rankloop.service.operator_log import warn_operator
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import (
    Impression,
    Logged,
    Snapshot,
    SnapshotDamaged,
    Store,
    StoreError,
    Transaction,
    write,
)

REMEMBERED = 16  # models
END = 2**62  # beyond every entry
REDEFINING = ("settings", "rollback", "forget", "retire")  # decisions that redefine what is learned
LOGGER = logging.getLogger("rankloop.service")
Passed: TypeAlias = Callable[[Fold, RebuildSpec], None]


class History:
    """Rebuilds what a ranker knew after any entry of its log.

    What is known after an entry is the fold of everything up to it, without the events that were forgotten
    and the features that were retired by then: so no decision that redefines the past is folded on the way,
    but for the last one to learn the log again, with which everything before it is replaced. A snapshot is a
    beginning, if none of these events and features is in it.

    Rebuilding goes on from where the last one ended, if that is nearer than a snapshot: so a walk through all
    versions costs one fold. `apply` is how an entry is folded: whoever has time may let others go first.
    `passed` sees a fold after each entry, and what it is a fold of. If `kept` is false, nothing that was
    kept is a beginning: everything is folded from the log.
    """

    def __init__(
        self,
        ranker: str,
        store: Store,
        registry: Registry,
        policy_kinds: PolicyKinds,
        *,
        apply: Callable[[Fold, Logged], None] = Fold.apply,
        passed: Passed = lambda _, __: None,
        kept: bool = True,
    ) -> None:
        self._ranker, self.store, self.apply = ranker, store, apply
        self.registry, self.policy_kinds = registry, policy_kinds
        self._passed, self._kept = passed, kept
        self._prepared: tuple[str, Fold] | None = None  # a refold that the next decision will ask for
        self._lock = threading.RLock()
        self._cursor: Fold | None = None
        self._models: OrderedDict[tuple[int, frozenset[str]], Model] = OrderedDict()
        self.frozen: dict[int, Model] = {}  # by trial: what another policy had learned when it began
        self._complained = False  # about snapshots that cannot be used

    def impression(self, query_id: str) -> Impression | None:
        """A list that was shown."""
        return self.store.find_impression(query_id)

    def head(self, passed: Callable[[Fold, int, RebuildSpec], None] = lambda _, __, ___: None) -> Fold:
        """The fold of everything there is, from the latest snapshot.

        `passed` sees it after each entry, with where it began, and what it is a fold of.
        """
        while True:
            try:
                spec = self.spec(END)
                fold = self.begun(spec, END)
                began = fold.position
                for entry in read_unfolded(fold, self.store):
                    self.apply(fold, entry)
                    passed(fold, began, spec)
            except EntriesDeleted:  # people's data were deleted on the way
                self.reset()
                continue
            if self.base() <= began:  # otherwise another process has just discarded some of these entries
                return fold

    def reset(self) -> None:
        """Let go of past models: entries that they were learned from are gone."""
        with self._lock:
            self._cursor = None
            self._models.clear()
            self.frozen.clear()
            self._prepared = None

    def model(
        self,
        seq: int,
        *,
        without: frozenset[str] = frozenset(),
        retired: frozenset[int] = frozenset(),
    ) -> Model:
        """The model after an entry; with `without`, as if these events had never been."""
        with self._lock:
            key, base = (seq, without), self.base()
            if seq < base:  # only the version that the base itself is at is still there
                return self._of_base(base, seq, without)
            configuration = self.configuration(seq) if retired else None
            if (
                configuration is not None and not retired <= configuration.schema.retired.keys()
            ):  # features that went later
                return self.again(seq + 1, without=without, retired=retired).model.apart()
            if key not in self._models:
                try:
                    found = self.again(seq + 1, without=without) if without else self._walk(seq)
                except EntriesDeleted:  # people's data were deleted on the way
                    self.reset()
                    return self.model(seq, without=without)
                self._models[key] = found.model.apart()
                while len(self._models) > REMEMBERED:
                    self._models.popitem(last=False)
            self._models.move_to_end(key)
            return self._models[key]

    def model_of_snapshot(self, before: int) -> Model | None:
        """The model of the newest snapshot before an entry; None if what is learned was redefined since."""
        seqs = [seq for seq, _ in self.store.list_snapshots(self._ranker) if seq < before]
        if not seqs:
            return None
        later = self.store.read_decisions(self._ranker, after=seqs[-1])
        if any(each.kind in REDEFINING for each in later):
            return None
        found = self._resumed(seqs[-1], self.spec(seqs[-1] + 1), set())
        return None if found is None else found.model

    def again(
        self,
        until: int,
        *,
        without: frozenset[str] = frozenset(),
        settings: BaseRankerSettings | None = None,
        retired: frozenset[int] = frozenset(),
    ) -> Fold:
        """The fold of everything before an entry, without some events or features, or under other settings.

        Under other settings, a policy that cannot take more features later begins with all there are by then.
        """
        spec = self.spec(until, without=without, settings=settings, retired=retired)
        return self.run(self._taken(spec, until) or self.begun(spec, until), spec, until=until - 1)

    def spec(
        self,
        until: int,
        *,
        without: frozenset[str] = frozenset(),
        settings: BaseRankerSettings | None = None,
        retired: frozenset[int] = frozenset(),
    ) -> RebuildSpec:
        """What the fold of everything before an entry depends on, beside the log.

        Events that were forgotten and features that were retired by then are passed over from the beginning,
        and so are those `without` and `retired`.
        """
        configuration = self.configuration(until - 1)
        gone = retired.union(configuration.schema.retired)
        known = sum(each not in gone for each in range(len(configuration.schema.names)))
        policy = None if settings is None else build_policy(settings.policy, self.policy_kinds)
        return RebuildSpec(
            without=without.union(self.forgotten(until)),
            settings=settings,
            first_entry=self.base(),
            policy=policy,
            width=0 if policy is None else first_width(policy, known),
            retired=gone,
        )

    def begun(self, spec: RebuildSpec, until: int, *, targets: Collection[int] = ()) -> Fold:
        """A refold as far as anything is kept of it, or at its beginning; nothing from an entry on is in it.

        `targets` are entries whose models are to be kept on the way, beside those that are returned to.
        """
        needed = {*targets, *self.returned_to(until)}
        fold = self._kept_refold(spec, until, needed) if self._kept else None
        if spec.settings is None and self._kept:
            fold = self._kept_state(spec, until, needed, after=fold.position if fold else 0) or fold
        if fold is None:
            fold = self._beginning(spec, needed)
        if spec.settings is None:
            self._leap(fold, spec, until, targets)
        return fold

    def _leap(self, fold: Fold, spec: RebuildSpec, until: int, targets: Collection[int]) -> None:
        """Have a fold stand before the last decision to learn the log again: all before it is replaced there.

        Models from before it that are returned to later are rebuilt, and searches under a promise counted.
        """
        settings = self.store.read_decisions(self._ranker, kinds=("settings",), after=fold.position)
        created = 0 if fold.position else 1  # with the first settings there is nothing to learn again
        again = [each.seq for each in settings[created:] if each.seq < until and each.body.get("relearn")]
        if not again:
            return
        last, began = again[-1], fold.position
        promised = self.configuration(last - 1).extension_states.get("promise")
        if (begins := promised or last) > began + 1:
            fold.leap(begins, self.configuration(begins - 1))
        fold.learned.idle = True
        for entry in read_unfolded(fold, self.store, until=last - 1):  # none, if nothing is promised
            self.apply(fold, entry)
        fold.learned.idle = False
        needed = {*targets, *self.returned_to(until, after=last)}
        fold.expect(each for each in needed if each >= last)
        earlier = {each for each in needed if began <= each < last} - fold.models.keys()
        if earlier:
            fold.models |= self._models_at(earlier, spec)

    def _models_at(self, seqs: Collection[int], spec: RebuildSpec) -> dict[int, Model]:
        """The models after some entries, by one fold."""
        newest = max(seqs)
        begun = self.begun(spec, newest + 1, targets=seqs)
        fold = self.run(begun, spec, until=newest)
        return {
            **{seq: model for seq, model in fold.models.items() if seq in seqs},
            newest: fold.model.apart(),
        }

    def run(self, fold: Fold, spec: RebuildSpec, *, until: int | None = None) -> Fold:
        """Fold on, up to an entry."""
        for entry in read_unfolded(fold, self.store, until=until):
            self.apply(fold, entry)
            self._passed(fold, spec)
        return fold

    def forgotten(self, until: int) -> dict[str, int]:
        """The events that were forgotten before an entry, each with the decision that did so first."""
        found = dict[str, int]()
        for each in self.store.read_decisions(self._ranker, kinds=("forget",)):
            if each.seq < until:
                found = {**dict.fromkeys(each.body["events"], each.seq), **found}
        return found

    def exact(self, fold: Fold) -> bool:
        """Whether a fold is what was known after its entry, and not what is known without events of late."""
        here = self.spec(fold.position + 1)
        return fold.spec.without == here.without and fold.spec.retired == here.retired

    def prepare(self, spec: RebuildSpec, fold: Fold) -> None:
        """Have a refold ready for the decision that asks for it; nobody else may go on with it."""
        with self._lock:
            self._prepared = spec.digest, fold

    def keep_checkpoint(self, fold: Fold, spec: RebuildSpec) -> None:
        """Leave word of how far a refold is, in place of what was left before."""
        kept = checkpoint(fold, spec, self.returned_to(END, after=fold.position))

        def job(transaction: Transaction) -> None:
            drop_checkpoint(transaction, fold.ranker)
            save_unless_deleted(kept, fold.ranker, transaction)

        write(self.store, job)

    def remember(self, seq: int, without: frozenset[str], model: Model) -> None:
        """Have a past model ready for the decision that asks for it."""
        with self._lock:
            self._models[seq, without] = model

    def returned_to(self, until: int, *, after: int = 0) -> set[int]:
        """The entries to which rollbacks between two others return."""
        rollbacks = self.store.read_decisions(self._ranker, kinds=("rollback",), after=after)
        return {int(each.body["to"]) for each in rollbacks if each.seq < until}

    def configuration(self, seq: int | None = None) -> Configuration:
        """Return the configuration after an entry; without one, the configuration now."""
        return configuration_at(self.store, self._ranker, self.registry, self.policy_kinds, seq=seq)

    def base(self) -> int:
        """The entry at which the log begins, if its beginning was discarded; otherwise 0."""
        kept = self.store.read_decisions(self._ranker, kinds=("retain",))
        return int(kept[-1].body["base"]) if kept else 0

    def settings(self, version: int) -> BaseRankerSettings:
        """The settings of a version."""
        decisions = self.store.read_decisions(self._ranker, kinds=("settings",))
        body = next(each.body for each in decisions if each.seq == version)
        return read_settings(self.registry.settings_type, body["settings"])

    def configuration_since(self, *, since: int) -> Configuration:
        """What is in force now, or was before features were first retired after an entry.

        Until then a schema only grows, so that its columns are those of any list since.
        """
        retired = self.store.read_decisions(self._ranker, kinds=("retire",), after=since)
        return self.configuration(retired[0].seq - 1 if retired else None)

    def at(self, moment: float) -> int:
        """The version that was in use at a moment."""
        times = [(each.seq, each.at) for each in self.store.read_decisions(self._ranker)]
        passed = [seq for seq, at in (*times, *self.store.list_snapshots(self._ranker)) if at <= moment]
        if not passed:
            raise HistoryError(f"at {moment} there was no ranker {self._ranker!r} yet")
        fold = self._from_log(max(passed))
        for entry in read_unfolded(fold, self.store):
            if entry.at > moment:
                break
            self.apply(fold, entry)
        return fold.learned.version

    def _of_base(self, base: int, seq: int, without: frozenset[str]) -> Model:
        found = self._beginning(RebuildSpec(without=without, first_entry=base), ())
        if found.learned.version != seq:
            raise HistoryError(
                f"the log of {self._ranker!r} does not reach back to {seq}: it was discarded up to {base}"
            )
        return found.model

    def _walk(self, seq: int) -> Fold:
        fold, self._cursor = self._cursor, None  # a fold that fails on the way is of no use
        spec = self.spec(seq + 1)
        newest = max(
            (found for found, _ in self.store.list_snapshots(self._ranker) if found <= seq), default=0
        )
        if fold is None or not newest <= fold.position <= seq or fold.spec.without != spec.without:
            fold = self._from_log(seq)
        self._cursor = self.run(fold, spec, until=seq)
        return fold

    def _from_log(self, seq: int) -> Fold:
        """The fold of the log as it is, up to an entry or less far."""
        if seq < self.base():
            raise HistoryError(f"the log of {self._ranker!r} does not reach back so far: it was discarded")
        return self.begun(self.spec(seq + 1), seq + 1)

    def _taken(self, spec: RebuildSpec, until: int) -> Fold | None:
        """The refold that was prepared, if it is this one; it is given away once."""
        with self._lock:
            digest, fold = self._prepared or ("", None)
            if fold is None or fold.position >= until or digest != spec.digest:
                return None
            self._prepared = None
            fold.past = fold.learned.past = self
            return fold

    def _kept_refold(self, spec: RebuildSpec, until: int, targets: set[int]) -> Fold | None:
        """The refold of the checkpoint, if there is one of it, and none of what comes later is in it."""
        cleared = self._cleared()
        try:
            kept = self.store.load_latest(checkpoint_name(self._ranker), until=until - 1)
            if kept is None or kept.body.get("refold") != spec.digest:
                return None
            configuration = self.configuration(kept.seq)
            fold = restored(
                kept,
                configuration,
                spec,
                self,
                self.registry,
                self.policy_kinds,
                ranker=self._ranker,
                targets=targets,
            )
            return self._reading(fold, cleared)
        except Exception as error:
            if isinstance(error, StoreError) and not isinstance(error, SnapshotDamaged):
                raise
            self._complain(until, error)  # damaged, or of another release: the log is the truth
            return None

    def _kept_state(self, spec: RebuildSpec, until: int, targets: set[int], *, after: int) -> Fold | None:
        """The newest snapshot after an entry in which nothing is that the refold passes over."""
        unknown = self._stretches(spec, until)
        for seq, _ in reversed(self.store.list_snapshots(self._ranker)):
            if not max(after, spec.first_entry - 1) < seq:
                return None
            if seq < until and not any(first <= seq < last for first, last in unknown):
                fold = self._resumed(seq, spec, targets)
                if fold is not None:
                    return fold
        return None

    def _stretches(self, spec: RebuildSpec, until: int) -> list[tuple[int, int]]:
        """The entries between which a snapshot has an event, or a feature, that a refold passes over.

        An event is in all snapshots from its own entry on, up to the decision to forget it.
        """
        configuration = self.configuration(until - 1)
        forgotten = self.forgotten(until)
        events = self.store.find_events(spec.without) if spec.without else ()
        knew = [(each.seq, forgotten.get(each.event_id, END)) for each in events]
        return [*knew, *((0, configuration.schema.retired.get(column, END)) for column in spec.retired)]

    def _resumed(self, seq: int, spec: RebuildSpec, targets: set[int]) -> Fold | None:
        """The state of a snapshot; None, and a word in the log, if it cannot be read."""
        configuration, cleared = self.configuration(seq), self._cleared()
        try:
            snapshot = self._snapshot(seq)
        except (SnapshotDamaged, HistoryError) as error:
            self._complain(seq, error)
            return None
        later = [each for each in targets if each >= seq]
        given = self, spec, self.registry, self.policy_kinds
        try:
            fold = Fold.restore(snapshot, configuration, *given, targets=later)
        except HistoryError:  # it is the settings that cannot be read, in any snapshot
            raise
        except Exception as error:  # damaged, or of another release: the log is the truth
            self._complain(seq, error)
            return None
        return self._reading(fold, cleared) if fold.spec.without == spec.without else None

    def _beginning(self, spec: RebuildSpec, targets: Collection[int]) -> Fold:
        base, cleared = self.base(), self._cleared()
        given = self, spec, self.registry, self.policy_kinds
        if not base:
            return self._reading(Fold(self._ranker, *given, targets=targets), cleared)
        relearns = spec.settings is not None
        configuration, snapshot = self.configuration(base), self._snapshot(base)
        fold = Fold.restore(snapshot, configuration, *given, targets=targets, relearns=relearns)
        return self._reading(fold, cleared)

    def _cleared(self) -> int:
        """The newest decision to delete people's data: read before anything that a fold takes in."""
        deleted = self.store.read_decisions(self._ranker, kinds=("delete",))
        return deleted[-1].seq if deleted else 0

    @staticmethod
    def _reading(fold: Fold, cleared: int) -> Fold:
        fold.cleared = cleared
        return fold

    def _snapshot(self, seq: int) -> Snapshot:
        found = self.store.load_latest(self._ranker, until=seq)
        if found is None or found.seq != seq:
            raise HistoryError(f"the snapshot of entry {seq} of {self._ranker!r} is not kept any more")
        return found

    def _complain(self, seq: int, error: Exception) -> None:
        if not self._complained:  # once: the older ones are as a rule no better
            self._complained = True
            warn_operator(
                LOGGER,
                "a snapshot cannot be used: the log is folded instead",
                where=f"ranker {self._ranker!r}, entry {seq}",
                why=error,
                do="nothing, if it does not happen again; otherwise check the disk",
            )


def first_width(policy: Policy, features: int) -> int:
    """How many features a policy begins with that learns a log again: all, if it can take no more later."""
    return features if policy.widened(features + 1) is None else 0
