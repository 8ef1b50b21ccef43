"""People's data: what the log tells of someone, and its deletion from log, snapshots and models.

Deleting is one transaction: the person's lists and events, and the events of their lists, are removed, and so
is every snapshot that may know them; what was decided is written down without whom it was about. A model is a
fold of the log, so the one that follows equals to the bit the fold of a log that never had these entries.
Then the file is written anew. Whoever is killed in between goes on with the next start: the log says what is
still to do.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankloop.errors import RequestError
from rankloop.service.core.checkpoint import drop_checkpoint
from rankloop.service.core.deleted_lists import DELETE, lies_under, tombstone
from rankloop.service.operations.data_directory import draft_of
from rankloop.service.store import (
    SERVICE,
    Decision,
    Person,
    Snapshot,
    Store,
    Trace,
    Traces,
    Transaction,
    write,
)
from rankloop.service.store.exposure import carried
from rankloop.short_text import check_text

if TYPE_CHECKING:
    from rankloop.service.service_facade import ServiceFacade

ERASED, BACKUP = "erased", "backup"  # kinds of decisions about the service, beside `DELETE`
MOST_PEOPLE = 1000  # in one call
TOLD = 1000  # lists and events in a report


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
    done: bool  # no byte of them is left in the files of the store
    backups: list[str]  # that were made before, and still hold them


class People:
    """Data of people in a service, as `service.people`: found and deleted on request."""

    def __init__(self, facade: ServiceFacade) -> None:
        self._facade = facade

    def find(self, person: Person) -> PersonReport:
        """Return what is stored of a person: lists, events, and how many."""
        return self._facade.find_person(person)

    def delete(self, persons: Sequence[Person], *, by: str = "", reason: str = "") -> Deleted:
        """Delete what is stored of people, from log, snapshots and models; no byte of it is left.

        Everything but the last step, which writes the files again, is done when this returns. A service with
        a thread in the background does that step later; `deletions` says when it is done.
        """
        return self._facade.delete_people(persons, by=by, reason=reason)

    def deletions(self) -> Sequence[Deleted]:
        """Return what was deleted on request, the newest first, and whether it is done."""
        return self._facade.deletions()


def check_person(person: Person) -> None:
    """Refuse nobody, and ids that cannot be."""
    ids = (("client_id", person.client_id), ("session_id", person.session_id), ("user", person.user))
    if not any(value for _, value in ids):
        raise RequestError("name a person by client_id, session_id or user: found none of them")
    for name, value in ids:
        check_text(name, value, empty=True)


def find(store: Store, person: Person) -> PersonReport:
    """What is stored of a person: lists, events, and how many."""
    check_person(person)
    traces = store.find_person_entries(person)
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


def delete(
    store: Store, people: Sequence[Person], *, clock: float, said: Mapping[str, str]
) -> Decision | None:
    """Remove all entries that tell of these people, in one transaction; the decision, if there were any."""
    if not 0 < len(people) <= MOST_PEOPLE:
        raise RequestError(f"1 to {MOST_PEOPLE} people in one call, found {len(people)}")
    for person in people:
        check_person(person)
        _check_silent(person, said)
    seen = {
        person: store.find_person_entries(person) for person in people
    }  # the long look, while others write
    newest = max((each.seq for found in seen.values() for each in (*found.lists, *found.events)), default=0)

    def job(transaction: Transaction) -> Decision | None:
        late = [transaction.find_person_entries(person, after=newest) for person in people]
        return _remove(store, transaction, _together([*seen.values(), *late]), clock, said)

    return write(store, job)


def pending(store: Store) -> list[Decision]:
    """Deletions whose bytes may still be in the files."""
    finished = {int(seq) for each in store.read_decisions(SERVICE, kind=ERASED) for seq in each.body["of"]}
    return [each for each in store.read_decisions(SERVICE, kind=DELETE) if each.seq not in finished]


def finish(store: Store, *, clock: float) -> None:
    """Write the files anew, and write down that it was done; whoever is killed does it again."""
    open_ = [each.seq for each in pending(store)]
    if not open_:
        return
    store.purge_deleted()

    def job(transaction: Transaction) -> int:
        body = {"of": open_}
        at = transaction.time(clock)
        return transaction.append(Decision(at=at, ranker=SERVICE, kind=ERASED, body=body))

    write(store, job)


def report(store: Store, decision: Decision | None) -> Deleted:
    """What a deletion did, and whether it is done."""
    if decision is None:
        return Deleted(decision=0, lists=0, events=0, rankers=[], done=True, backups=[])
    body = decision.body
    return Deleted(
        decision=decision.seq,
        lists=body["lists"],
        events=body["events"],
        rankers=list(body["rankers"]),
        done=decision.seq not in {each.seq for each in pending(store)},
        backups=backups_before(store, decision.seq),
    )


def reports(store: Store) -> list[Deleted]:
    """Every deletion, the newest first."""
    return [report(store, each) for each in reversed(store.read_decisions(SERVICE, kind=DELETE))]


def was_deleted(store: Store, query_id: str) -> bool:
    """Whether a list of this id was deleted on request."""
    return lies_under(query_id, store.read_decisions(SERVICE, kind=DELETE))


def backups_before(store: Store, seq: int) -> list[str]:
    """Backups that were made before an entry and are still where they were written; also by halves."""
    made = (Path(each.body["file"]) for each in store.read_decisions(SERVICE, kind=BACKUP) if each.seq < seq)
    return sorted({str(path) for file in made for path in (file, draft_of(file)) if path.exists()})


def _remove(
    store: Store, transaction: Transaction, traces: Traces, clock: float, said: Mapping[str, str]
) -> Decision | None:
    every = [*traces.lists, *traces.events]
    if not every:
        return None
    names = sorted({each.ranker for each in every} - {SERVICE})
    before = {name: transaction.read_totals(name) for name in names}
    transaction.remove_entries(
        lists=[each.seq for each in traces.lists], events=[each.seq for each in traces.events]
    )
    at = transaction.time(clock)
    for name in names:
        first = _unlearn(store, transaction, name, traces)
        rows = carried(before[name], transaction.read_totals(name))
        body = {"first": first, **({"exposure": rows} if rows else {})}
        transaction.append(Decision(at=at, ranker=name, kind=DELETE, body=body))
    decision = Decision(at=at, ranker=SERVICE, kind=DELETE, body=_body(traces, names, said))
    return replace(decision, seq=transaction.append(decision))


def _body(traces: Traces, rankers: Sequence[str], said: Mapping[str, str]) -> dict[str, Any]:
    """What was decided, without whom it was about."""
    salt = secrets.token_hex(16)
    return {
        "lists": len(traces.lists),
        "events": len(traces.events),
        "rankers": list(rankers),
        "salt": salt,
        "tombstones": sorted(tombstone(salt, each.name) for each in traces.lists),
        **said,
    }


def _unlearn(store: Store, transaction: Transaction, ranker: str, traces: Traces) -> int:
    """Take people out of what a ranker keeps beside its log; the entry from which to fold that anew."""
    lists = {each.name for each in traces.lists if each.ranker == ranker}
    events = {each.name for each in traces.events if each.ranker == ranker}
    retained = store.read_decisions(ranker, kind="retain")
    base = int(retained[-1].body["base"]) if retained else 0
    numbers = [each.seq for each in (*traces.lists, *traces.events) if each.ranker == ranker]
    first = max(min(numbers), base + 1)
    for kind in ("forget", "job"):
        for decision in store.read_decisions(ranker, kind=kind):
            _amend(transaction, decision, events)
    drop_checkpoint(transaction, ranker)
    transaction.delete_snapshots(ranker, since=first)
    for seq, _ in transaction.list_snapshots(ranker):
        snapshot = store.load_latest(ranker, until=seq)
        if snapshot is not None and (cleaned := _cleaned(snapshot, lists, events)) is not None:
            transaction.save_snapshot(cleaned)
    return first


def _amend(transaction: Transaction, decision: Decision, events: set[str]) -> None:
    """Take events out of a decision, or of a job, to forget them."""
    body = decision.body.get("body", {}) if decision.kind == "job" else decision.body
    kept = [each for each in body.get("events", ()) if each not in events]
    if len(kept) != len(body.get("events", ())):
        amended = {**body, "events": kept}
        whole = {**decision.body, "body": amended} if decision.kind == "job" else amended
        transaction.amend(replace(decision, body=whole))


def _cleaned(snapshot: Snapshot, lists: set[str], events: set[str]) -> Snapshot | None:
    """A snapshot without lists that it holds open and events that it passes over; None: it has none."""
    body = dict(snapshot.body)
    named = any(repr(name) in body.get("problem", "") for name in lists)
    searched = json.dumps(body.get("promise", {}))
    known = any(json.dumps(name)[1:-1] in searched for name in lists)
    if not (lists & body["open"].keys() or events.intersection(body["without"]) or named or known):
        return None
    for name in ("open", "shown_at"):
        body[name] = {key: value for key, value in body.get(name, {}).items() if key not in lists}
    body["without"] = [each for each in body["without"] if each not in events]
    body["problem"] = "" if named else body.get("problem", "")
    if "promise" in body:
        others = [each for each in body["promise"]["searches"] if each[0] not in lists]
        searches = [_search_without(each, lists) for each in others]
        body["promise"] = {**body["promise"], "searches": searches}
    return replace(snapshot, body=body)


def _search_without(search: Sequence[Any], lists: set[str]) -> list[Any]:
    """An open search under a promise without some of its further lists, and what was done with them."""
    query_id, arm, closes_at, done, more = search
    kept = {key: did for key, did in done.items() if key.rpartition(" ")[0] not in lists}
    return [query_id, arm, closes_at, kept, [each for each in more if each not in lists]]


def _together(parts: Iterable[Traces]) -> Traces:
    """What several looks found, each entry once."""
    lists: dict[int, Trace] = {}
    events: dict[int, Trace] = {}
    for part in parts:
        lists |= {each.seq: each for each in part.lists}
        events |= {each.seq: each for each in part.events}
    return Traces(lists=[lists[seq] for seq in sorted(lists)], events=[events[seq] for seq in sorted(events)])


def _check_silent(person: Person, said: Mapping[str, str]) -> None:
    """Refuse a reason that names the person: it would stay."""
    for value in (person.client_id, person.session_id, person.user):
        if value and value in said.get("reason", ""):
            raise RequestError("the reason names the person, and it would stay in the log: say it without")


def _list_told(store: Store, each: Trace) -> dict[str, Any]:
    shown = store.find_impression(each.name)
    said = {} if shown is None else {"user_query": shown.user_query, "shown": list(shown.shown)}
    return {"query_id": each.name, "ranker": each.ranker, "at": each.at, **said}


def _event_told(each: Trace) -> dict[str, Any]:
    return {"event_id": each.name, "ranker": each.ranker, "at": each.at}
