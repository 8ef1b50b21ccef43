"""Retention: how much of the past is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rankloop.service.ranker import Ranker
from rankloop.store import Decision, Snapshot, Store, Transaction, write
from rankloop.store.exposure import carried


@dataclass(frozen=True, slots=True)
class Retained:
    """What was discarded."""

    entries: int  # of the log
    freed: int  # bytes given back to the disk
    base: int  # the entry at which the log begins now; 0: at its beginning


def retain(ranker: Ranker, store: Store, since: float) -> Retained:
    """Discard events, lists and snapshots that are older than a moment, as far as the model can do without.

    The log then begins at a snapshot, the *base*: the last one before the moment from which the kept part of
    the log gives the same model. Lists that were still open there stay. Decisions always stay. What was
    discarded can be neither replayed nor forgotten: it is part of the base for good. What the lists had in an
    exposure account is carried by the decision.
    """
    base = find_base(ranker, store, since)
    if base is None:
        return Retained(0, 0, ranker.history.base())
    start, oldest = base.seq, base.at - ranker.rules.window
    clock = ranker.now()

    def job(transaction: Transaction) -> int | None:
        if start not in (seq for seq, _ in transaction.snapshots(ranker.name)):
            return None  # thinned meanwhile
        before = transaction.exposures(ranker.name)
        discarded = transaction.discard(
            ranker.name, until=start, shown_before=oldest, keep=tuple(base.body["open"])
        )
        rows = carried(before, transaction.exposures(ranker.name))
        body, at = {"base": start, **({"exposure": rows} if rows else {})}, transaction.time(clock)
        transaction.append(Decision(at=at, ranker=ranker.name, kind="retain", body=body))
        return discarded

    gone = write(store, job)
    if gone is None:
        return retain(ranker, store, since)
    ranker.refresh()
    return Retained(gone, store.compact(), start)


def find_base(ranker: Ranker, store: Store, since: float) -> Snapshot | None:
    """The last snapshot before a moment to which nothing that was decided later reaches back."""
    decisions = store.decisions(ranker.name)
    base = store.snapshot(ranker.name, before=since)
    while base is not None and base.seq > ranker.history.base():
        later = [each for each in decisions if each.seq > base.seq]
        if not _reaches_back(later, base.seq, ranker.name, store):
            return base
        base = store.snapshot(ranker.name, until=base.seq - 1)
    return None


def _reaches_back(later: Iterable[Decision], base: int, ranker: str, store: Store) -> bool:
    """Whether a decision depends on entries before the base: they must not be discarded."""
    forgotten: set[str] = set()
    for decision in later:
        if decision.kind == "settings" and decision.body.get("relearn"):
            return True
        if decision.kind == "rollback" and int(decision.body["to"]) < base:
            return True
        if decision.kind == "trial" and decision.body["settings"].get("policy") is not None:
            return True  # its arm B is learned from the log before it
        if decision.kind == "forget":
            forgotten.update(decision.body["events"])
    return bool(forgotten) and not forgotten <= {each.event_id for each in store.events(ranker, after=base)}
