"""Deletions that came after a backup, made again when it is restored."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from rankloop.service.core.deleted_lists import DELETE, hash_person, tombstone
from rankloop.service.operations.people import Deletions, find_pending
from rankloop.service.operations.person_removal import clean_snapshots, remove_entries
from rankloop.service.store import SERVICE, Decision, Store, Trace, Traces, Transaction, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore has done beside putting a backup in the place of a log."""

    deletions: int  # of people's data that came after the backup, and were made again
    entries: int  # lists and events that they removed
    knows_all: bool  # the log that was replaced could be read: no deletion was missed that it knew


def delete_again(store: Store, deletions: Iterable[Decision]) -> tuple[int, int]:
    """Make deletions again that a restored log does not know; how many, and how many entries they removed."""
    known = {each.body["salt"] for each in store.read_decisions(SERVICE, kinds=(DELETE,))}
    missing = {each.body["salt"]: each for each in deletions if each.body["salt"] not in known}
    removed = sum(_delete(store, each) for each in missing.values())
    if due := find_pending(store):
        Deletions(store, time.time, alone=True).finish(due)
    return len(missing), removed


def find_by_hashes(store: Store, deletion: Decision) -> Traces:
    """Find the entries of a log that a deletion was about, by the hashes that it kept of lists and people."""
    salt, people = deletion.body["salt"], frozenset(deletion.body["people"])
    stones = frozenset(deletion.body["tombstones"])

    @cache
    def is_known(name: str, value: str) -> bool:
        return bool(value) and hash_person(salt, name, value) in people

    lists = [
        Trace(seq=each.seq, at=each.at, ranker=ranker, name=each.query_id)
        for ranker in store.list_rankers()
        for each in store.read_impressions(ranker)
        if tombstone(salt, each.query_id) in stones
        or is_known("client_id", each.client_id)
        or is_known("session_id", each.session_id)
        or is_known("user", each.user)
    ]
    names = {each.name for each in lists}
    events = [
        Trace(seq=each.seq, at=each.at, ranker=each.ranker, name=each.event_id)
        for each in store.read_events(None)
        if each.query_id in names
        or is_known("client_id", each.client_id)
        or is_known("session_id", each.session_id)
    ]
    return Traces(lists=lists, events=events)


def _delete(store: Store, deletion: Decision) -> int:
    traces = find_by_hashes(store, deletion)
    cleaned = clean_snapshots(store, traces)
    kept = ("salt", "people", "tombstones", "by", "reason")
    body: dict[str, Any] = {name: deletion.body[name] for name in kept if name in deletion.body}

    def job(transaction: Transaction) -> int:
        remove_entries(transaction, traces, cleaned, {**body, "again": True}, time.time())
        return len(traces.lists) + len(traces.events)

    return write(store, job)
