"""Retention: how much of the past is kept."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankloop.errors import RequestError, SettingError
from rankloop.service.core.checkpoint import drop_checkpoint
from rankloop.service.core.job_record import refuse_while_jobs_wait
from rankloop.service.core.ranker import Ranker
from rankloop.service.extensions.trial.trials import keep_findings, refuse_if_needed
from rankloop.service.service_errors import HistoryError
from rankloop.service.store import Decision, Snapshot, StillRead, Store, Transaction, write
from rankloop.service.store.impression_parts import find_lost_totals
from rankloop.service.store.purge import Blocker

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade

DAY = 86_400.0  # seconds
LOOK_AT_AGE, LOOK_AT_SIZE = 3600.0, 60.0  # seconds between two looks at what may go


@dataclass(frozen=True, slots=True)
class Retained:
    """What was discarded."""

    entries: int  # of the log
    freed: int  # bytes given back to the disk
    base: int  # the entry at which the log begins now; 0: at its beginning
    blockers: tuple[Blocker, ...] = ()  # who reads what was to be discarded: nothing was, for now


class Retention:
    """How much of the past a service keeps, as `service.retention`.

    What a model still needs stays, so more may be kept than was asked for: the answer says where the log
    begins now.
    """

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def discard_before(self, ranker: str, moment: float, *, by: str = "", reason: str = "") -> Retained:
        """Discard lists and events that are older than a moment, and give the space back to the disk."""
        return self._facade.retain(ranker, since=moment, by=by, reason=reason)

    def shrink(self, ranker: str, gigabytes: float, *, by: str = "", reason: str = "") -> Retained:
        """Discard the oldest part of a log until the store is no larger than this, as far as it can."""
        return self._facade.shrink(ranker, gigabytes=gigabytes, by=by, reason=reason)


def retain(
    ranker: Ranker, rankers: Mapping[str, Ranker], store: Store, since: float, *, said: Mapping[str, str]
) -> Retained:
    """Discard events, lists and snapshots that are older than a moment, as far as the model can do without.

    The log then begins at a snapshot, the *base*: the last one before the moment from which the kept part of
    the log gives the same model. Lists that were still open there stay. Decisions stay, but for
    ticks, which only told the time. What was discarded can be neither replayed nor forgotten: it is part of
    the base for good. What the lists had in totals of parts, as in an exposure account, is carried by
    the decision. What trials have shown whose lists go is written down first.
    It is refused while the ranker is arm B of a trial of one of the `rankers`.
    """
    refuse_if_needed(rankers, ranker.name)
    base = find_base(ranker, store, since)
    if base is None:
        return Retained(0, 0, ranker.history.first_entry())
    keep_findings(ranker, store, base.seq)
    start, oldest = base.seq, base.at - ranker.settings.window
    clock = ranker.now()

    def job(transaction: Transaction) -> int | None:
        refuse_while_jobs_wait(ranker.within(transaction), "discard a part of the log")
        if start not in (seq for seq, _ in transaction.list_snapshots(ranker.name)):
            return None  # thinned meanwhile
        drop_checkpoint(transaction, ranker.name)
        before = transaction.read_totals(ranker.name)
        discarded = transaction.remove_before(
            ranker.name,
            until=start,
            shown_before=oldest,
            keep=tuple(base.body["learned"]["open"]),
            kinds=("tick",),
        )
        lost = find_lost_totals(before, transaction.read_totals(ranker.name))
        body, at = {"base": start, **said, **({"totals": lost} if lost else {})}, transaction.time(clock)
        transaction.append(Decision(at=at, ranker=ranker.name, kind="retain", body=body))
        return discarded

    try:
        gone = write(store, job)
    except StillRead as error:
        return Retained(0, 0, ranker.history.first_entry(), error.blockers)
    if gone is None:
        return retain(ranker, rankers, store, since, said=said)
    ranker.refresh()
    return Retained(gone, store.reclaim_space(), start)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How much of the past a service keeps by itself; 0 is no limit.

    >>> RetentionSettings(days=90).gigabytes
    0.0
    """

    days: float = 0.0
    gigabytes: float = 0.0  # that the log of all rankers may take on the disk

    def __post_init__(self) -> None:
        """Refuse what is no amount."""
        if not (0 <= self.days < float("inf") and 0 <= self.gigabytes < float("inf")):
            raise SettingError(f"days and gigabytes must be 0 or more, found {self.days}, {self.gigabytes}")

    @property
    def most(self) -> float:
        """Bytes that a log may take."""
        return self.gigabytes * 1e9 or float("inf")


class RetentionRounds:
    """Keeps to settings of retention: it looks at the age of entries every hour, at the size every minute.

    A ranker whose past is needed just now is left for later.
    """

    def __init__(self, settings: RetentionSettings) -> None:
        self.settings = settings
        self._looked = {"age": float("-inf"), "size": float("-inf")}  # when it last did

    def look(self, rankers: Mapping[str, Ranker], store: Store, clock: float) -> None:
        """Discard what may go, unless it has just looked."""
        now, rules = time.monotonic(), self.settings
        if rules.days and now - self._looked["age"] >= LOOK_AT_AGE:
            self._looked["age"] = now
            since, said = store.time(clock) - DAY * rules.days, {"reason": f"older than {rules.days:g} days"}
            for _, found in sorted(rankers.items()):
                with contextlib.suppress(RequestError, HistoryError):
                    if retain(found, rankers, store, since, said=said).blockers:
                        self._looked["age"] = float("-inf")  # as soon as they have ended
        if store.measure_size() > rules.most and now - self._looked["size"] >= LOOK_AT_SIZE:
            self._looked["size"] = now
            said = {"reason": f"over {rules.gigabytes:g} GB"}
            for _, found in sorted(rankers.items()):
                with contextlib.suppress(RequestError, HistoryError):
                    shrink(found, rankers, store, rules.most, said=said)


def shrink(
    ranker: Ranker, rankers: Mapping[str, Ranker], store: Store, most: float, *, said: Mapping[str, str]
) -> Retained:
    """Discard the oldest part of a log, from one snapshot to the next, until it takes no more bytes."""
    refuse_if_needed(rankers, ranker.name)
    entries = freed = 0
    for seq, at in store.list_snapshots(ranker.name)[:-1]:
        if store.measure_size() <= most:
            break
        if seq > ranker.history.first_entry():
            found = retain(ranker, rankers, store, at, said=said)
            entries, freed = entries + found.entries, freed + found.freed
            if found.blockers:
                return Retained(entries, freed, found.base, found.blockers)
    return Retained(entries, freed, ranker.history.first_entry())


def find_base(ranker: Ranker, store: Store, since: float) -> Snapshot | None:
    """The last snapshot before a moment to which nothing that was decided later reaches back."""
    decisions = store.read_decisions(ranker.name)
    base = store.load_latest(ranker.name, before=since)
    while base is not None and base.seq > ranker.history.first_entry():
        later = [each for each in decisions if each.seq > base.seq]
        if not _reaches_back(later, base.seq, ranker.name, store):
            return base
        base = store.load_latest(ranker.name, until=base.seq - 1)
    return None


def _reaches_back(later: Iterable[Decision], base: int, ranker: str, store: Store) -> bool:
    """Whether a decision depends on entries before the base: they must not be discarded."""
    forgotten: set[str] = set()
    for decision in later:
        if decision.kind == "retire" or (decision.kind == "settings" and decision.body.get("relearn")):
            return True
        if decision.kind == "rollback" and int(decision.body["to"]) < base:
            return True
        if decision.kind == "trial" and decision.body["settings"].get("policy") is not None:
            return True  # its arm B is learned from the log before it
        if decision.kind == "forget":
            forgotten.update(decision.body["events"])
    return bool(forgotten) and not forgotten <= {
        each.event_id for each in store.read_events(ranker, after=base)
    }
