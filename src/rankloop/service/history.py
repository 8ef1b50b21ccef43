"""Any past model of a ranker: the nearest snapshot, and the fold of the log from there."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict

from rankloop.service.fold import Fold
from rankloop.service.model import Model
from rankloop.service.settings import RankerSettings
from rankloop.spelling import Catalogue
from rankloop.store import Impression, Snapshot, Store
from rankloop.types import RankloopError

REMEMBERED = 16  # models
LOGGER = logging.getLogger("rankloop.service")


class HistoryError(RankloopError, LookupError):
    """A past that is not kept any more, or never was."""


class History:
    """Rebuilds what a ranker knew after any entry of its log.

    Rebuilding goes on from where the last one ended, if that is nearer than a snapshot: so a walk through all
    versions costs one fold.
    """

    def __init__(self, ranker: str, store: Store, known: Catalogue) -> None:
        self._ranker, self._store, self.known = ranker, store, known
        self._lock = threading.RLock()
        self._cursor: Fold | None = None
        self._models: OrderedDict[tuple[int, frozenset[str]], Model] = OrderedDict()
        self._unreadable: set[int] = set()  # snapshots that were complained about

    def impression(self, query_id: str) -> Impression | None:
        """A list that was shown."""
        return self._store.impression(query_id)

    def head(self) -> Fold:
        """The fold of everything there is, from the latest snapshot."""
        snapshot = self._store.snapshot(self._ranker)
        fold = self._start(snapshot)
        return fold.run(self._store.entries(self._ranker, after=fold.position))

    def model(self, seq: int, *, without: frozenset[str] = frozenset()) -> Model:
        """The model after an entry; with `without`, as if these events had never been."""
        with self._lock:
            key = (seq, without)
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
        """The fold of everything before an entry, without some events or under other rules."""
        base = self.base()
        rollbacks = self._store.decisions(self._ranker, kind="rollback")
        targets = {int(each.body["to"]) for each in rollbacks if each.seq < until}
        past, known = self, self.known
        if base is None:
            fold = Fold(self._ranker, past, known, without=without, rules=rules, targets=targets)
        else:
            fold = Fold.resume(base, past, known, without=without, rules=rules, targets=targets)
        return fold.run(self._store.entries(self._ranker, after=fold.position, until=until - 1))

    def base(self) -> Snapshot | None:
        """Where the log begins, if its beginning was discarded."""
        kept = self._store.decisions(self._ranker, kind="retain")
        return self._store.snapshot(self._ranker, until=int(kept[-1].body["base"])) if kept else None

    def settings(self, version: int) -> RankerSettings:
        """The rules of a version."""
        decisions = self._store.decisions(self._ranker, kind="settings")
        body = next(each.body for each in decisions if each.seq == version)
        return RankerSettings.from_json(body["settings"], self.known)

    def at(self, moment: float) -> int:
        """The version that was in use at a moment."""
        fold = self._start(self._store.snapshot(self._ranker, before=moment))
        for entry in self._store.entries(self._ranker, after=fold.position):
            if entry.at > moment:
                break
            fold.apply(entry)
        if fold.position == 0:
            raise HistoryError(f"at {moment} there was no ranker {self._ranker!r} yet")
        return fold.version

    def _walk(self, seq: int) -> Fold:
        snapshot = self._store.snapshot(self._ranker, until=seq)
        fold, start = self._cursor, snapshot.seq if snapshot else 0
        if fold is None or not start <= fold.position <= seq:
            fold = self._start(snapshot)
        self._cursor = None  # a fold that fails on the way is of no use
        fold.run(self._store.entries(self._ranker, after=fold.position, until=seq))
        self._cursor = fold
        return fold

    def _start(self, snapshot: Snapshot | None) -> Fold:
        if snapshot is not None:
            try:
                return Fold.resume(snapshot, self, self.known)
            except (RankloopError, KeyError, TypeError) as error:  # of another release: the log is the truth
                self._complain(snapshot.seq, error)
        if self._store.decisions(self._ranker, kind="retain"):
            raise HistoryError(f"the log of {self._ranker!r} does not reach back so far: it was discarded")
        return Fold(self._ranker, self, self.known)

    def _complain(self, seq: int, error: Exception) -> None:
        if seq not in self._unreadable:  # once
            self._unreadable.add(seq)
            LOGGER.warning(
                "ranker %r: its snapshot of entry %d is not for this release (%s: %s);"
                " its log is folded instead",
                self._ranker,
                seq,
                type(error).__name__,
                error,
            )
