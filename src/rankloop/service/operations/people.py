"""People's data: what the log tells of someone, and its deletion from log, snapshots, models and files.

A deletion removes entries in one transaction, and is *pending* until a search of the store's files finds
nothing of them. It goes on by itself until then, also after the process was killed: the log says what is
still to do.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankloop.service.core.background_thread import LearningThread
from rankloop.service.core.decision_kind import sign_decision
from rankloop.service.core.deleted_lists import DELETE, lies_under
from rankloop.service.core.ranker_collection import Rankers
from rankloop.service.operations.data_directory import draft_of
from rankloop.service.operations.deletion_notes import write_notes
from rankloop.service.operations.person_removal import check_person, remove_people
from rankloop.service.operator_log import warn_operator
from rankloop.service.store import SERVICE, Decision, Person, Store, Trace, Transaction, write
from rankloop.service.store.learner_election import ALONE
from rankloop.service.store.purge import Blocker, PurgeOutcome, RemovedTexts

LOGGER = logging.getLogger("rankloop.service")
ERASED, BACKUP = "erased", "backup"  # kinds of decisions about the service, beside `DELETE`
NOTHING: Mapping[str, Any] = {"lists": 0, "events": 0, "rankers": ()}
PRINTED = "what the service printed, as far as an error named an id"
TOLD = 1000  # lists and events in a report
OTHERS_TURN = 60.0  # seconds that the process which removed entries has to purge them before others do


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReport:
    """What is stored of a person."""

    lists: int
    events: int
    rankers: dict[str, int]  # entries, by ranker; an empty name: events that found no list
    first: float | None  # when the first of them came
    last: float | None
    newest_lists: list[dict[str, Any]]  # up to a thousand, the newest first
    newest_events: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What was deleted, and what is still to be done."""

    decision: int  # its number in the log; 0: nothing was found, and nothing decided
    lists: int
    events: int
    rankers: list[str]  # that learned from them, and fold their logs again
    done: bool  # a search of the store's files found nothing of them; otherwise the deletion is pending
    blockers: list[Blocker]  # processes that read old files: the deletion goes on when they end
    remains: list[str]  # tables or files in which something was found, or that could not be replaced yet
    backups: list[str]  # that were made before, and still hold them
    not_covered: list[str]  # where they may still be, beyond the reach of the service


class Deletions:
    """Deletions of a service: made, and carried on until nothing is left.

    `alone` is false if other processes use the store: then the one that removed entries, which still knows
    what to search for, purges them first.
    """

    def __init__(self, store: Store, clock: Callable[[], float], *, alone: bool) -> None:
        self._store, self._clock, self._alone = store, clock, alone
        self._texts: dict[int, RemovedTexts] = {}  # of this process's deletions
        self._outcome = PurgeOutcome()
        self._deleting = threading.Lock()  # so that a deletion is not due before its texts are known

    def delete(self, people: Sequence[Person], said: Mapping[str, str]) -> Decision | None:
        """Remove all entries that tell of these people, at once; the decision, if there were any."""
        with self._deleting:
            decision, texts = remove_people(self._store, people, clock=self._clock(), said=said)
            if decision is not None:
                self._texts[decision.seq] = texts
        return decision

    def find_due(self, *, leads: bool) -> list[Decision]:
        """Return the deletions that this process is to go on with."""
        now = self._store.time(self._clock())
        with self._deleting:
            return [
                each
                for each in find_pending(self._store)
                if each.seq in self._texts or (leads and (self._alone or now - each.at > OTHERS_TURN))
            ]

    def finish(self, due: Sequence[Decision]) -> None:
        """Purge the files, and write down that it is done as soon as nothing is left."""
        for each in due:
            self._write_notes(each)
        known = all(each.seq in self._texts for each in due)
        texts = RemovedTexts.together(self._texts[each.seq] for each in due) if known else None
        self._outcome = self._store.purge_deleted(texts)
        if self._outcome.is_done:
            write(self._store, lambda transaction: self._write_down(transaction, due))
            for each in due:
                self._texts.pop(each.seq, None)

    def report(self, decision: Decision | None) -> Deleted:
        """What a deletion did, and whether it is done."""
        if decision is None:
            decision = Decision(at=0.0, ranker=SERVICE, kind=DELETE, body=NOTHING)
        pending = decision.seq in {each.seq for each in find_pending(self._store)}
        body = decision.body
        return Deleted(
            decision=decision.seq,
            lists=body["lists"],
            events=body["events"],
            rankers=list(body["rankers"]),
            done=not pending,
            blockers=list(self._store.find_blockers()) if pending else [],
            remains=list(self._outcome.remains) if pending else [],
            backups=backups_before(self._store, decision.seq),
            not_covered=[*self._store.not_covered, PRINTED] if decision.seq else [],
        )

    def reports(self) -> list[Deleted]:
        """Every deletion, the newest first."""
        return [self.report(each) for each in reversed(self._store.read_decisions(SERVICE, kinds=(DELETE,)))]

    def _write_notes(self, deletion: Decision) -> None:
        try:
            write_notes(backups_before(self._store, deletion.seq), deletion)
        except OSError as error:  # the deletion goes on, and its report names the backups
            warn_operator(
                LOGGER,
                "a backup could not be marked as older than a deletion of people's data",
                where="the notes beside it",
                why=error,
                do="delete the backup, or make another one",
            )

    def _write_down(self, transaction: Transaction, due: Sequence[Decision]) -> int:
        body = {"of": [each.seq for each in due]}
        at = transaction.time(self._clock())
        return transaction.append(Decision(at=at, ranker=SERVICE, kind=ERASED, body=body))


def find(store: Store, person: Person) -> PersonReport:
    """What is stored of a person: lists, events, and how many."""
    check_person(person)
    traces = store.find_person_entries([person])
    every = [*traces.lists, *traces.events]
    times = [each.at for each in every]
    return PersonReport(
        lists=len(traces.lists),
        events=len(traces.events),
        rankers=dict(sorted(Counter(each.ranker for each in every).items())),
        first=min(times, default=None),
        last=max(times, default=None),
        newest_lists=[_list_told(store, each) for each in reversed(traces.lists[-TOLD:])],
        newest_events=[_event_told(each) for each in reversed(traces.events[-TOLD:])],
    )


def find_pending(store: Store) -> list[Decision]:
    """Find the deletions whose bytes may still be in the files."""
    finished = {
        int(seq) for each in store.read_decisions(SERVICE, kinds=(ERASED,)) for seq in each.body["of"]
    }
    return [each for each in store.read_decisions(SERVICE, kinds=(DELETE,)) if each.seq not in finished]


def was_deleted(store: Store, query_id: str) -> bool:
    """Whether a list of this id was deleted on request."""
    return lies_under(query_id, store.read_decisions(SERVICE, kinds=(DELETE,)))


def backups_before(store: Store, seq: int) -> list[str]:
    """Backups that were made before an entry and are still where they were written; also by halves."""
    made = (
        Path(each.body["file"]) for each in store.read_decisions(SERVICE, kinds=(BACKUP,)) if each.seq < seq
    )
    return sorted({str(path) for file in made for path in (file, draft_of(file)) if path.exists()})


def _list_told(store: Store, each: Trace) -> dict[str, Any]:
    shown = store.find_impression(each.name)
    said = {} if shown is None else {"user_query": shown.user_query, "shown": list(shown.shown)}
    return {"query_id": each.name, "ranker": each.ranker, "at": each.at, **said}


def _event_told(each: Trace) -> dict[str, Any]:
    return {"event_id": each.name, "ranker": each.ranker, "at": each.at}


class People:
    """Data of people in a service, as `service.people`: found and deleted on request.

    With a `keeper`, a thread goes on with deletions that are pending.
    """

    def __init__(self, rankers: Rankers) -> None:
        self._rankers = rankers
        self.keeper: LearningThread | None = None
        self._deletions = Deletions(rankers.store, rankers.clock, alone=rankers.election is ALONE)

    def find(self, person: Person) -> PersonReport:
        """Return what is stored of a person: lists, events, and how many."""
        return find(self._rankers.store, person)

    def delete(self, persons: Sequence[Person], *, by: str = "", reason: str = "") -> Deleted:
        """Delete what is stored of people, from log, snapshots, models and files.

        They are out of log, snapshots and models when this returns. The deletion is pending until a search of
        the files finds nothing of them; a service with a thread in the background goes on with that.
        """
        decision = self._deletions.delete(persons, sign_decision(by, reason))
        for name in decision.body["rankers"] if decision else ():
            self._rankers.get(name).refresh()  # no list asked for from now on is made by what knew them
        if self.keeper is None:
            self.finish_deletions()
        elif decision is not None:
            self.keeper.wake()
        return self._deletions.report(decision)

    def deletions(self) -> list[Deleted]:
        """Return what was deleted on request, the newest first: done or pending, and who blocks it."""
        return self._deletions.reports()

    def finish_deletions(self) -> None:
        """Learn anew what was learned from deleted entries, and purge the files until nothing is left."""
        if due := self._deletions.find_due(leads=self._rankers.is_leader):
            for found in self._rankers.by_name.values():
                found.try_to_catch_up()
            self._deletions.finish(due)
