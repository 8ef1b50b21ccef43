"""History: any past model of a ranker, from the nearest snapshot and the fold of the log from there.

A snapshot only saves time. One that cannot be read is passed over for an older one, and in the end for the
log itself; only where the log's beginning was discarded is there nothing left to begin with.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from rankloop.policies.policy_names import PolicyKinds
from rankloop.service.core.checkpoint import checkpoint, checkpoint_name, drop_checkpoint
from rankloop.service.core.configuration import Configuration
from rankloop.service.core.extension import Registry
from rankloop.service.core.fold import EntriesDeleted, Fold, read_unfolded, save_unless_deleted
from rankloop.service.core.model import Model
from rankloop.service.core.past_decisions import END, PastDecisions
from rankloop.service.core.ranker_settings import BaseRankerSettings, build_policy
from rankloop.service.core.rebuild import RebuildSpec, first_width
from rankloop.service.core.settings_record import read_settings
from rankloop.service.operator_log import warn_operator
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import (
    Decision,
    Impression,
    Logged,
    Snapshot,
    SnapshotDamaged,
    Store,
    StoreError,
    write,
)

REMEMBERED = 16  # models
REDEFINING = ("settings", "rollback", "forget", "retire")  # decisions that redefine what is learned
LOGGER = logging.getLogger("rankloop.service")
OnEntry: TypeAlias = Callable[[Fold, Logged], None]


def ignore(_: Fold, __: Logged | None = None) -> None:
    """Do nothing with a fold and its last entry."""


class History:
    """Rebuilds what a ranker knew after any entry of its log.

    What is known after an entry is the fold of everything up to it, without the events that were forgotten
    and the features that were retired by then. A decision to learn the log again splits it: what lies before
    is folded under the new settings, what follows by the log's own. So no decision redefines a fold on the
    way, but one that was written since it began: then another fold goes on.

    `apply` is how an entry is folded: a caller with time may let others go first. `on_entry` sees each fold
    after each entry, and `on_target` a fold at an entry to which the log later returns. If `uses_snapshots`
    is false, everything is folded from the log.
    """

    def __init__(
        self,
        ranker: str,
        store: Store,
        registry: Registry,
        policy_kinds: PolicyKinds,
        *,
        apply: Callable[[Fold, Logged], None] = Fold.apply,
        on_entry: OnEntry = ignore,
        on_target: Callable[[Fold], None] = ignore,
        uses_snapshots: bool = True,
    ) -> None:
        self._ranker, self.store = ranker, store
        self.registry, self.policy_kinds = registry, policy_kinds
        self.apply, self._on_entry, self._on_target = apply, on_entry, on_target
        self._uses_snapshots = uses_snapshots
        self._lock = threading.Lock()  # of what is remembered; never held while folding
        self._decisions = PastDecisions()
        self._models: OrderedDict[tuple[int, RebuildSpec], Model] = OrderedDict()
        self._walked: Fold | None = None  # the last fold, to go on from; while it does, it is not here
        self._clearings = 0
        self.frozen: dict[int, Model] = {}  # by trial: what another policy had learned when it began
        self._complained = False  # about snapshots that cannot be used

    # rebuilding

    def spec(
        self,
        until: int,
        *,
        without: frozenset[str] = frozenset(),
        settings: BaseRankerSettings | None = None,
        retired: frozenset[int] = frozenset(),
    ) -> RebuildSpec:
        """Return what the fold up to an entry depends on beside the log.

        Events that were forgotten and features that were retired by then are passed over from the beginning,
        and so are those `without` and `retired`. Under `settings` of its own, a policy that cannot take more
        features later begins with all there are by then.
        """
        decisions, schema = self.decisions(), self.configuration(until).schema
        retired = retired.union(schema.retired)
        known = sum(each not in retired for each in range(len(schema.names)))
        policy = None if settings is None else build_policy(settings.policy, self.policy_kinds)
        return RebuildSpec(
            without=without.union(decisions.forgotten(until)),
            settings=settings,
            first_entry=decisions.first_entry(),
            policy=policy,
            width=0 if policy is None else first_width(policy, known),
            retired=retired,
        )

    def rebuild(self, spec: RebuildSpec, until: int = END) -> Fold:
        """Return the fold of everything up to an entry."""
        return self.fold_until(self.find_start(spec, until), until)

    def find_start(self, spec: RebuildSpec, until: int) -> Fold:
        """Return the nearest state that knows nothing that the spec leaves out, up to an entry."""
        saved = self._restore_checkpoint(spec, until)
        if spec.settings is not None:
            return saved or self._begin(spec)
        relearned = self.decisions().last_relearn(until)
        after = max(saved.position if saved else 0, relearned.seq - 1 if relearned else 0)
        found = self._restore_snapshot(spec, until, after=after) or saved
        if found and (relearned is None or found.position >= relearned.seq):
            return found
        if relearned is None:
            return self._begin(spec)
        last, at = relearned.seq - 1, self.configuration(relearned.seq)
        if at.problem:
            raise HistoryError(at.problem)
        under = self.spec(last, without=spec.without, settings=at.settings, retired=spec.retired)
        return self.rebuild(under, last).continue_under_log(relearned, spec)

    def fold_until(self, fold: Fold, until: int = END, on_entry: OnEntry | None = None) -> Fold:
        """Fold on up to an entry; if one redefines the fold, another goes on."""
        passed, last = on_entry or self._on_entry, until if until < END else None
        while True:
            targets = deque(self._targets(fold, until))
            for entry in read_unfolded(fold, self.store, until=last):
                while targets and targets[0] < entry.seq:
                    self._save_model(fold, targets.popleft())
                redefined = fold.is_redefined_by(entry)
                if redefined:
                    fold = self._redefine(fold, entry.seq)
                else:
                    self._find_rollback_model(fold, entry)
                    self.apply(fold, entry)
                passed(fold, entry)
                if redefined:
                    break
            else:
                return fold

    def newest(self) -> Fold:
        """Return the fold of everything there is, from the latest snapshot."""
        while True:
            try:
                fold = self.rebuild(self.spec(END))
            except EntriesDeleted:
                self.clear()
                continue
            if self.first_entry() <= fold.began:  # otherwise another process has just discarded some of these
                return fold

    def _redefine(self, fold: Fold, seq: int) -> Fold:
        """Return the fold that goes on in place of one, after the entry that redefines it."""
        spec = fold.spec
        without, retired = spec.without, spec.retired
        again = self.spec(seq, without=without, settings=spec.settings, retired=retired)
        return self.rebuild(again, seq)

    def _targets(self, fold: Fold, until: int) -> list[int]:
        targets = self.decisions().rollback_targets(after=fold.position, until=until)
        return [each for each in targets if each not in fold.models]

    def _save_model(self, fold: Fold, target: int) -> None:
        """Keep the model of an entry to which the log later returns."""
        fold.models[target] = fold.model.apart()
        self._on_target(fold)

    def _find_rollback_model(self, fold: Fold, entry: Logged) -> None:
        """Have the model ready to which an entry returns."""
        if isinstance(entry, Decision) and entry.kind == "rollback":
            target = int(entry.body["to"])
            if target not in fold.models:
                fold.models[target] = self.model_under(fold.spec, target)

    # what is kept on the way

    def save_checkpoint(self, fold: Fold) -> None:
        """Save how far a rebuild is."""
        write(self.store, partial(save_unless_deleted, checkpoint(fold), fold.ranker))

    def drop_checkpoints(self) -> None:
        """Delete what was saved of rebuilds: they are done, or are not wanted any more."""
        write(self.store, lambda transaction: drop_checkpoint(transaction, self._ranker))

    def matches_log(self, fold: Fold) -> bool:
        """Whether a fold is what was known after its entry, and not what is known without events of late."""
        here = self.spec(fold.position)
        return fold.spec.without == here.without and fold.spec.retired == here.retired

    def _restore_checkpoint(self, spec: RebuildSpec, until: int) -> Fold | None:
        """The fold of the newest checkpoint up to an entry, if it is of this rebuild."""
        if not self._uses_snapshots:
            return None
        cleared = self.decisions().last_deletion()  # before anything is read that a fold takes in
        try:
            kept = self.store.load_latest(checkpoint_name(self._ranker), spec.digest, until=until)
        except SnapshotDamaged as error:
            self._complain(until, error)
            return None
        if kept is None:
            return None
        return self._restore(replace(kept, ranker=self._ranker), spec, cleared)

    def _restore_snapshot(self, spec: RebuildSpec, until: int, *, after: int) -> Fold | None:
        """The fold of the newest snapshot between two entries that knows nothing a spec leaves out."""
        if not self._uses_snapshots:
            return None
        spans = self._spans_to_skip(spec, until)
        for seq, _ in reversed(self.store.list_snapshots(self._ranker)):
            if not max(after, spec.first_entry - 1) < seq:
                return None
            if seq <= until and not any(first <= seq < last for first, last in spans):
                fold = self._restore_from(seq, spec)
                if fold is not None and fold.spec.without == spec.without:
                    return fold
        return None

    def _spans_to_skip(self, spec: RebuildSpec, until: int) -> list[tuple[int, int]]:
        """The entries between which a snapshot has an event, or a feature, that a spec leaves out.

        An event is in all snapshots from its own entry on, up to the decision to forget it.
        """
        forgotten = self.decisions().forgotten(until)
        retired = self.configuration(until).schema.retired if spec.retired else {}
        events = self.store.find_events(spec.without) if spec.without else ()
        knew = [(each.seq, forgotten.get(each.event_id, END)) for each in events]
        return [*knew, *((0, retired.get(column, END)) for column in spec.retired)]

    def _restore_from(self, seq: int, spec: RebuildSpec) -> Fold | None:
        """The fold of a snapshot; None, and a word in the log, if it cannot be read."""
        cleared = self.decisions().last_deletion()
        try:
            snapshot = self._snapshot(seq)
        except (SnapshotDamaged, HistoryError) as error:
            self._complain(seq, error)
            return None
        return self._restore(snapshot, spec, cleared)

    def _restore(self, snapshot: Snapshot, spec: RebuildSpec, cleared: int) -> Fold | None:
        at = self.configuration(snapshot.seq)
        if at.problem and spec.settings is None:
            raise HistoryError(at.problem)  # in any snapshot
        try:
            fold = self._restored(snapshot, at, spec)
        except StoreError:
            raise
        except Exception as error:  # damaged, or of another release: the log is the truth
            self._complain(snapshot.seq, error)
            return None
        fold.cleared = cleared
        return fold

    def _begin(self, spec: RebuildSpec) -> Fold:
        """The fold at the beginning of the log, or of what is left of it."""
        decisions = self.decisions()
        cleared, first = decisions.last_deletion(), decisions.first_entry()
        if first:
            relearns = spec.settings is not None
            snapshot, at = self._snapshot(first), self.configuration(first)
            fold = self._restored(snapshot, at, spec, relearns=relearns)
        else:
            fold = Fold(self._ranker, self.impression, spec, self.registry, self.policy_kinds)
        fold.cleared = cleared
        return fold

    def _restored(
        self, snapshot: Snapshot, at: Configuration, spec: RebuildSpec, *, relearns: bool = False
    ) -> Fold:
        given = self.impression, spec, self.registry, self.policy_kinds
        return Fold.restore(snapshot, at, *given, relearns=relearns)

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

    # models

    def model(self, seq: int, *, without: frozenset[str] = frozenset()) -> Model:
        """Return the model after an entry; with `without`, as if these events had never been."""
        while True:
            try:
                return self.model_under(self.spec(seq, without=without), seq)
            except EntriesDeleted:
                self.clear()

    def model_under(self, spec: RebuildSpec, seq: int) -> Model:
        """Return the model after an entry, by the fold that a spec describes."""
        if seq < self.first_entry():
            return self._model_of_first_entry(spec, seq)
        key = seq, spec
        with self._lock:
            if spec.settings is None and key in self._models:
                self._models.move_to_end(key)
                return self._models[key]
            clearings, (walked, self._walked) = self._clearings, (self._walked, None)
        if walked is None or not self._leads_to(walked, spec, seq):
            walked = self.find_start(spec, seq)
        fold = self.fold_until(walked, seq)
        model = fold.model.apart()
        with self._lock:
            if clearings == self._clearings and spec.settings is None:
                self._walked = fold
                self._remember(key, model)
        return model

    def remember(self, seq: int, spec: RebuildSpec, model: Model) -> None:
        """Have a past model ready for the decision that asks for it."""
        with self._lock:
            self._remember((seq, spec), model)

    def model_of_snapshot(self, before: int) -> Model | None:
        """The model of the newest snapshot before an entry; None if what is learned was redefined since."""
        seqs = [seq for seq, _ in self.store.list_snapshots(self._ranker) if seq < before]
        if not seqs or any(self.decisions().select(kind, after=seqs[-1]) for kind in REDEFINING):
            return None
        found = self._restore_from(seqs[-1], self.spec(seqs[-1]))
        return None if found is None else found.model

    def clear(self) -> None:
        """Let go of past models: entries that they were learned from are gone."""
        with self._lock:
            self._clearings += 1
            self._walked = None
            self._models.clear()
            self.frozen.clear()

    def _remember(self, key: tuple[int, RebuildSpec], model: Model) -> None:
        self._models[key] = model
        self._models.move_to_end(key)
        while len(self._models) > REMEMBERED:
            self._models.popitem(last=False)

    def _leads_to(self, walked: Fold, spec: RebuildSpec, seq: int) -> bool:
        """Whether the last fold leads to an entry, and no snapshot is nearer."""
        if walked.spec != spec or walked.position > seq:
            return False
        return not any(walked.position < each <= seq for each, _ in self.store.list_snapshots(self._ranker))

    def _model_of_first_entry(self, spec: RebuildSpec, seq: int) -> Model:
        """The version that the beginning of the log is at: the only one before it that is still there."""
        first = self.first_entry()
        found = self._begin(RebuildSpec(without=spec.without, first_entry=first))
        if found.learned.version != seq:
            raise HistoryError(
                f"the log of {self._ranker!r} does not reach back to {seq}: it was discarded up to {first}"
            )
        return found.model

    # what was decided

    def decisions(self) -> PastDecisions:
        """Return the decisions there are now, by one query for those since the last time."""
        found = self._decisions.read_on(self.store, self._ranker)
        self._decisions = found
        return found

    def configuration(self, seq: int | None = None) -> Configuration:
        """Return the configuration after an entry; without one, the configuration now."""
        kept = (each for each in self.decisions().decisions if seq is None or each.seq <= seq)
        found = Configuration().after_all(kept, self.registry, self.policy_kinds)
        return found if seq is None else replace(found, position=seq)

    def configuration_since(self, *, since: int) -> Configuration:
        """What is in force now, or was before features were first retired after an entry.

        Until then a schema only grows, so that its columns are those of any list since.
        """
        retired = self.decisions().select("retire", after=since)
        return self.configuration(retired[0].seq - 1 if retired else None)

    def first_entry(self) -> int:
        """Return the entry at which the log begins, if its beginning was discarded; otherwise 0."""
        return self.decisions().first_entry()

    def settings(self, version: int) -> BaseRankerSettings:
        """The settings of a version."""
        body = self.decisions().find("settings", version).body
        return read_settings(self.registry.settings_type, body["settings"])

    def version_at(self, moment: float) -> int:
        """Return the version that was in use at a moment."""
        times = [(each.seq, each.at) for each in self.decisions().decisions]
        passed = [seq for seq, at in (*times, *self.store.list_snapshots(self._ranker)) if at <= moment]
        if not passed:
            raise HistoryError(f"at {moment} there was no ranker {self._ranker!r} yet")
        last = max(passed)
        if last < self.first_entry():
            raise HistoryError(f"the log of {self._ranker!r} does not reach back so far: it was discarded")
        fold = self.rebuild(self.spec(last), last)
        for entry in read_unfolded(fold, self.store):
            if entry.at > moment:
                break
            self.apply(fold, entry)
        return fold.learned.version

    def impression(self, query_id: str) -> Impression | None:
        """A list that was shown."""
        return self.store.find_impression(query_id)
