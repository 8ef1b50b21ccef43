"""Removal of people from a log: their lists and events, and what snapshots and decisions say of them.

All of it is one transaction. A model is a fold of the log, so the one that follows equals to the bit the fold
of a log that never had these entries.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankloop.errors import RequestError
from rankloop.service.core.checkpoint import drop_checkpoint
from rankloop.service.core.deleted_lists import DELETE, hash_person, tombstone
from rankloop.service.store import (
    SERVICE,
    Decision,
    PartTotal,
    Person,
    Snapshot,
    Store,
    Trace,
    Traces,
    Transaction,
    write,
)
from rankloop.service.store.byte_search import cut_texts
from rankloop.service.store.impression_parts import find_lost_totals
from rankloop.service.store.purge import RemovedTexts
from rankloop.short_text import check_text

MOST_PEOPLE = 1000  # in one call
REMOVED = "(removed)"  # stands for an id in what somebody wrote
WRITTEN = ("reason", "key")  # parts of a decision that people write
SHORTEST = 3  # characters of an id that is looked for in a reason: a shorter one is part of any sentence


def remove_people(
    store: Store, people: Sequence[Person], *, clock: float, said: Mapping[str, str]
) -> tuple[Decision | None, RemovedTexts]:
    """Remove all entries that tell of these people; the decision, if there were any, and what they said."""
    check_people(people, said)
    head = store.read_head().seq
    seen = store.find_person_entries(people)  # the long look, while others write
    ids = [value for person in people for _, value in ids_of(person)]
    named, salt = find_written(store, ids), secrets.token_hex(16)
    known = {hash_person(salt, *each) for person in people for each in ids_of(person)}
    body = {"salt": salt, "people": sorted(known), **said}
    texts = [RemovedTexts(words=cut_texts(ids)), store.read_texts(seen)]
    cleaned = clean_snapshots(store, seen)

    def job(transaction: Transaction) -> tuple[Decision | None, RemovedTexts]:
        late = transaction.find_person_entries(people, after=head, found=seen)
        traces = _together([seen, late])
        if not traces.lists and not traces.events:
            return None, RemovedTexts()
        for decision in named:
            transaction.amend(_without_ids(decision, ids))
        told = RemovedTexts.together([*texts, transaction.read_texts(late)])
        return remove_entries(transaction, traces, cleaned, body, clock), told

    return write(store, job)


def check_people(people: Sequence[Person], said: Mapping[str, str]) -> None:
    """Refuse nobody, ids that cannot be, and a reason that names one of them: it would stay."""
    if not 0 < len(people) <= MOST_PEOPLE:
        raise RequestError(f"1 to {MOST_PEOPLE} people in one call, found {len(people)}")
    for person in people:
        check_person(person)
        if any(value in said.get("reason", "") for _, value in ids_of(person)):
            raise RequestError("the reason names the person, and it would stay in the log: say it without")


def check_person(person: Person) -> None:
    """Refuse nobody, and ids that cannot be."""
    if not ids_of(person):
        raise RequestError("name a person by client_id, session_id or user: found none of them")
    for name, value in ids_of(person):
        check_text(name, value)


def ids_of(person: Person) -> list[tuple[str, str]]:
    """Return the ids by which a person is known, with their kinds."""
    named = ("client_id", person.client_id), ("session_id", person.session_id), ("user", person.user)
    return [(name, value) for name, value in named if value]


def remove_entries(
    transaction: Transaction,
    traces: Traces,
    cleaned: Iterable[Snapshot],
    body: Mapping[str, Any],
    clock: float,
) -> Decision:
    """Remove entries, and all that was made of them; the decision about it.

    `cleaned` are the snapshots that `clean_snapshots` found before the transaction. `body` is what the
    decision says beside numbers and hashes of the lists; it has a `salt`.
    """
    every = [*traces.lists, *traces.events]
    names = sorted({each.ranker for each in every} - {SERVICE})
    before = {name: transaction.read_totals(name) for name in names}
    lists, events = [each.seq for each in traces.lists], [each.seq for each in traces.events]
    transaction.remove_entries(lists=lists, events=events)
    kept = {name: {seq for seq, _ in transaction.list_snapshots(name)} for name in names}
    for snapshot in cleaned:
        if snapshot.seq in kept[snapshot.ranker]:  # it was not thinned meanwhile
            transaction.save_snapshot(snapshot)
    at = transaction.time(clock)
    for name in names:
        first = _unlearn(transaction, name, traces)
        lost = lost_to_others(before[name], transaction.read_totals(name))
        told = {"first": first, **({"totals": lost} if lost else {})}
        transaction.append(Decision(at=at, ranker=name, kind=DELETE, body=told))
    counted: dict[str, Any] = {
        "lists": len(lists),
        "events": len(events),
        "rankers": names,
        "tombstones": sorted(tombstone(body["salt"], each.name) for each in traces.lists),
    }
    decision = Decision(at=at, ranker=SERVICE, kind=DELETE, body={**counted, **body})
    return replace(decision, seq=transaction.append(decision))


def lost_to_others(before: Sequence[PartTotal], after: Sequence[PartTotal]) -> dict[str, list[Any]]:
    """What totals lost, of names that other lists have, too: another name may tell of someone."""
    left = {each[:3] for each in after}
    return find_lost_totals([each for each in before if each[:3] in left], after)


def find_written(store: Store, ids: Collection[str]) -> list[Decision]:
    """Find the decisions in which somebody wrote one of these ids, as a reason or a key."""
    pattern = _words(ids)
    every = (each for name in (SERVICE, *store.list_rankers()) for each in store.read_decisions(name))
    return [
        each
        for each in every
        if pattern and any(pattern.search(str(each.body.get(name, ""))) for name in WRITTEN)
    ]


def _without_ids(decision: Decision, ids: Collection[str]) -> Decision:
    pattern, body = _words(ids), dict(decision.body)
    for name in WRITTEN:
        if pattern and isinstance(body.get(name), str):
            body[name] = pattern.sub(REMOVED, body[name])
    return replace(decision, body=body)


def _words(ids: Collection[str]) -> re.Pattern[str] | None:
    """Any of these ids as a whole word."""
    words = [re.escape(each) for each in sorted(ids, key=len, reverse=True) if len(each) >= SHORTEST]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])") if words else None


def clean_snapshots(store: Store, traces: Traces) -> list[Snapshot]:
    """Return the snapshots of before these entries that name them, without their names.

    That is where a retained log begins, with lists that are open there.
    """
    every, found = [*traces.lists, *traces.events], []
    for ranker in {each.ranker for each in every} - {SERVICE}:
        first = _first(store, ranker, traces)
        lists, events = _names(ranker, traces)
        for seq, _ in store.list_snapshots(ranker):
            snapshot = store.load_latest(ranker, until=seq) if seq < first else None
            if snapshot is not None and (cleaned := _cleaned(snapshot, lists, events)) is not None:
                found.append(cleaned)
    return found


def _unlearn(transaction: Transaction, ranker: str, traces: Traces) -> int:
    """Take people out of what a ranker keeps beside its log; the entry from which to fold that anew."""
    _, events = _names(ranker, traces)
    first = _first(transaction, ranker, traces)
    for decision in transaction.read_decisions(ranker, kinds=("forget", "job")):
        _amend(transaction, decision, events)
    drop_checkpoint(transaction, ranker)
    transaction.delete_snapshots(ranker, since=first)
    return first


def _first(log: Store | Transaction, ranker: str, traces: Traces) -> int:
    """Return the first entry of a ranker that goes, if its log does not begin after it."""
    retained = log.read_decisions(ranker, kinds=("retain",))
    base = int(retained[-1].body["base"]) if retained else 0
    return max(min(each.seq for each in (*traces.lists, *traces.events) if each.ranker == ranker), base + 1)


def _names(ranker: str, traces: Traces) -> tuple[set[str], set[str]]:
    """Return the ids of a ranker's lists and events."""
    lists, events = (
        {each.name for each in part if each.ranker == ranker} for part in (traces.lists, traces.events)
    )
    return lists, events


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
    learned = dict(body["learned"])
    named = any(repr(name) in learned["problem"] for name in lists)
    searched = json.dumps(body.get("promise", {}))
    known = any(json.dumps(name)[1:-1] in searched for name in lists)
    if not (lists & learned["open"].keys() or events.intersection(body["without"]) or named or known):
        return None
    learned["open"] = {name: kept for name, kept in learned["open"].items() if name not in lists}
    learned["problem"] = "" if named else learned["problem"]
    body["learned"] = learned
    body["without"] = [each for each in body["without"] if each not in events]
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
