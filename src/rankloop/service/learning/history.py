"""History: any past model of a ranker, from the nearest snapshot and the fold of the log from there.

A snapshot only saves time. One that cannot be read is passed over for an older one, and in the end for the
log itself; only where the log's beginning was discarded is there nothing left to begin with.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict

from rankloop.service.errors import HistoryError
from rankloop.service.fair import FairSettings
from rankloop.service.learning.fold import Fold, entries_for
from rankloop.service.learning.in_force import InForce, in_force
from rankloop.service.learning.model import Model
from rankloop.service.settings import RankerSettings
from rankloop.service.trial import Trial
from rankloop.spelling import Catalogue
from rankloop.store import Impression, Snapshot, SnapshotDamaged, Store

REMEMBERED = 16  # models
LOGGER = logging.getLogger("rankloop.service")


class History:
    """Rebuilds what a ranker knew after any entry of its log.

    Rebuilding goes on from where the last one ended, if that is nearer than a snapshot: so a walk through all
    versions costs one fold.
    """

    def __init__(self, ranker: str, store: Store, known: Catalogue) -> None:
        self._ranker, self.store, self.known = ranker, store, known
        self._lock = threading.RLock()
        self._cursor: Fold | None = None
        self._models: OrderedDict[tuple[int, frozenset[str]], Model] = OrderedDict()
        self.frozen: dict[int, Model] = {}  # by trial: what another policy had learned when it began
        self._complained = False  # about snapshots that cannot be used

    def impression(self, query_id: str) -> Impression | None:
        """A list that was shown."""
        return self.store.impression(query_id)

    def head(self) -> Fold:
        """The fold of everything there is, from the latest snapshot."""
        fold = self._nearest()
        return fold.run(entries_for(fold, self.store))

    def model(self, seq: int, *, without: frozenset[str] = frozenset()) -> Model:
        """The model after an entry; with `without`, as if these events had never been."""
        with self._lock:
            key, base = (seq, without), self.base()
            if seq < base:  # only the version that the base itself is at is still there
                return self._of_base(base, seq, without)
            if key not in self._models:
                found = self.again(seq + 1, without=without) if without else self._walk(seq)
                self._models[key] = found.model.apart()
                while len(self._models) > REMEMBERED:
                    self._models.popitem(last=False)
            self._models.move_to_end(key)
            return self._models[key]

    def again(
        self, until: int, *, without: frozenset[str] = frozenset(), rules: RankerSettings | None = None
    ) -> Fold:
        """The fold of everything before an entry, without some events or under other rules.

        Under other rules, a policy that cannot take more features later begins with all there are by then.
        """
        rollbacks = self.store.decisions(self._ranker, kind="rollback")
        targets = {int(each.body["to"]) for each in rollbacks if each.seq < until}
        fold = self._beginning(without, rules, targets)
        if rules is not None:
            schema = in_force(self.store, self._ranker, self.known, until=until - 1).schema
            fold.width = len(schema) if rules.policy.widened(len(schema) + 1) is None else 0
        return fold.run(entries_for(fold, self.store, until=until - 1))

    def base(self) -> int:
        """The entry at which the log begins, if its beginning was discarded; otherwise 0."""
        kept = self.store.decisions(self._ranker, kind="retain")
        return int(kept[-1].body["base"]) if kept else 0

    def settings(self, version: int) -> RankerSettings:
        """The rules of a version."""
        decisions = self.store.decisions(self._ranker, kind="settings")
        body = next(each.body for each in decisions if each.seq == version)
        return RankerSettings.from_json(body["settings"], self.known, logged=True)

    def fair(self, version: int) -> FairSettings | None:
        """How exposure was shared by the rules of a version, whatever their policy is."""
        decisions = self.store.decisions(self._ranker, kind="settings")
        body = next(each.body for each in decisions if each.seq == version)
        fair = body["settings"].get("fair")
        return None if fair is None else FairSettings.from_json(fair)

    def trial(self, number: int) -> Trial:
        """A trial as it was begun."""
        begun = self.store.decisions(self._ranker, kind="trial", after=number - 1)
        return Trial.begun(next(each for each in begun if each.seq == number))

    def terms(self) -> InForce:
        """What is in force now; a schema only grows, so that its columns are those of any past list."""
        return in_force(self.store, self._ranker, self.known)

    def at(self, moment: float) -> int:
        """The version that was in use at a moment."""
        fold = self._nearest(before=moment)
        for entry in entries_for(fold, self.store):
            if entry.at > moment:
                break
            fold.apply(entry)
        if fold.position == 0:
            raise HistoryError(f"at {moment} there was no ranker {self._ranker!r} yet")
        return fold.version

    def _of_base(self, base: int, seq: int, without: frozenset[str]) -> Model:
        found = self._beginning(without, None, set())
        if found.version != seq:
            raise HistoryError(
                f"the log of {self._ranker!r} does not reach back to {seq}: it was discarded up to {base}"
            )
        return found.model

    def _walk(self, seq: int) -> Fold:
        fold, self._cursor = self._cursor, None  # a fold that fails on the way is of no use
        newest = max((found for found, _ in self.store.snapshots(self._ranker) if found <= seq), default=0)
        if fold is None or not newest <= fold.position <= seq:
            fold = self._nearest(until=seq)
        fold.run(entries_for(fold, self.store, until=seq))
        self._cursor = fold
        return fold

    def _nearest(self, *, until: int | None = None, before: float | None = None) -> Fold:
        """The latest state that was kept and can be read; the beginning, if there is none."""
        base = self.base()
        for seq, at in reversed(self.store.snapshots(self._ranker)):
            fits = (until is None or seq <= until) and (before is None or at <= before)
            if fits and seq >= base and (fold := self._resumed(seq)) is not None:
                return fold
        if base:
            raise HistoryError(f"the log of {self._ranker!r} does not reach back so far: it was discarded")
        return Fold(self._ranker, self, self.known)

    def _resumed(self, seq: int) -> Fold | None:
        """The state of a snapshot; None, and a word in the log, if it cannot be read."""
        terms = in_force(self.store, self._ranker, self.known, until=seq)
        try:
            snapshot = self._snapshot(seq)
        except (SnapshotDamaged, HistoryError) as error:
            self._complain(seq, error)
            return None
        try:
            return Fold.resume(snapshot, terms, self, self.known)
        except HistoryError:  # it is the settings that cannot be read, in any snapshot
            raise
        except Exception as error:  # damaged, or of another release: the log is the truth
            self._complain(seq, error)
            return None

    def _beginning(self, without: frozenset[str], rules: RankerSettings | None, targets: set[int]) -> Fold:
        base = self.base()
        if not base:
            return Fold(self._ranker, self, self.known, without=without, rules=rules, targets=targets)
        terms = in_force(self.store, self._ranker, self.known, until=base)
        snapshot = self._snapshot(base)
        return Fold.resume(snapshot, terms, self, self.known, without=without, rules=rules, targets=targets)

    def _snapshot(self, seq: int) -> Snapshot:
        found = self.store.snapshot(self._ranker, until=seq)
        if found is None or found.seq != seq:
            raise HistoryError(f"the snapshot of entry {seq} of {self._ranker!r} is not kept any more")
        return found

    def _complain(self, seq: int, error: Exception) -> None:
        if not self._complained:  # once: the older ones are as a rule no better
            self._complained = True
            LOGGER.warning(
                "ranker %r: its snapshot of entry %d cannot be used (%s: %s); its log is folded instead",
                self._ranker,
                seq,
                type(error).__name__,
                error,
            )
