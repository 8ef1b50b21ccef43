"""Laws of people's data: all that tells of a person is found, and nothing of it is left when it is erased."""

from __future__ import annotations

from dataclasses import replace

from rankloop.service.store.impression_parts import find_lost_totals
from rankloop.service.store.log_records import Decision, Person
from rankloop.service.store.store import Store, Transaction, write
from tests.support.log_samples import DECISION, event, impression, keep, put

OTTO = Person(client_id="otto")


def _fill(store: Store) -> None:
    put(store, impression(query_id="q1", client_id="otto", session_id="s1", user=""))
    put(store, impression(query_id="q2", client_id="anna", session_id="s2", user="otto"))
    put(store, event(event_id="e1", query_id="q1", list_seq=1, client_id=""))  # on a list of his
    put(store, event(event_id="e2", query_id="q2", list_seq=2, client_id="otto"))  # on one of hers
    put(store, event(event_id="e3", query_id="q2", list_seq=2, client_id="anna"))
    put(store, event(event_id="e4", query_id="gone", ranker="", verdict="orphan", client_id="otto"))
    put(store, DECISION)


def test_what_tells_of_a_person_is_found(store: Store) -> None:
    """By client, session or user: their lists, their events, and the events of their lists."""
    _fill(store)
    found = store.find_person_entries([OTTO])
    assert [(each.seq, each.name) for each in found.lists] == [(1, "q1")], "lists are found by client"
    assert [each.name for each in found.events] == ["e1", "e2", "e4"], (
        "events are found, and those of the lists"
    )
    assert [each.ranker for each in found.events] == ["shop", "shop", ""], "also events of no ranker"
    later = store.find_person_entries([OTTO], after=3)
    assert ([*later.lists], [each.name for each in later.events]) == ([], ["e2", "e4"]), "after an entry"
    assert [each.name for each in store.find_person_entries([Person(user="otto")]).lists] == ["q2"], (
        "lists are found by user"
    )
    either = store.find_person_entries([Person(session_id="s2", client_id="otto")])
    assert [each.name for each in either.lists] == ["q1", "q2"], "whoever has one of the ids is meant"
    nobody = store.find_person_entries([Person()])
    assert (list(nobody.lists), list(nobody.events)) == ([], []), "an empty id is nobody's"
    inside = write(store, lambda transaction: transaction.find_person_entries([OTTO]))
    assert inside == found, "a job finds the same"
    put(store, event(event_id="e5", query_id="q1", list_seq=1, client_id=""))
    put(store, event(event_id="e6", query_id="q1", ranker="", verdict="orphan", client_id=""))
    later = store.find_person_entries([OTTO], after=7, found=found)
    assert ([*later.lists], [each.name for each in later.events]) == ([], ["e5", "e6"]), (
        "later events of lists that were found before"
    )
    both = store.find_person_entries([OTTO, Person(user="otto")])
    assert [each.name for each in both.lists] == ["q1", "q2"], "of several people, in one look"


def test_what_is_erased_is_gone(store: Store) -> None:
    """From lists, events and what is known of ids; numbers are not used again, and accounts are carried."""
    _fill(store)
    before = list(store.read_totals("shop"))

    def job(transaction: Transaction) -> int:
        found = transaction.find_person_entries([OTTO])
        gone = transaction.remove_entries(
            lists=[each.seq for each in found.lists], events=[each.seq for each in found.events]
        )
        assert transaction.find_shown("q1") is None, "a job does not see what it erased"
        lost = find_lost_totals(before, transaction.read_totals("shop"))
        body = {"first": 1, "totals": lost}
        transaction.append(Decision(at=20.0, ranker="shop", kind="delete", body=body))
        return gone

    assert write(store, job) == 4, "how many entries were erased"
    left = store.find_person_entries([OTTO])
    assert (list(left.lists), list(left.events)) == ([], []), "nothing tells of the person any more"
    assert store.find_impression("q1") is None, "a list that was erased is not there"
    assert [each.seq for each in store.read_entries("shop")] == [5, 7, 8], "the others keep their numbers"
    assert not write(store, lambda transaction: transaction.knows("e2")), "an event that was erased is new"
    assert list(store.read_totals("shop")) == before, "the accounts are as they were"
    store.purge_deleted()
    assert [each.query_id for each in store.read_impressions("shop")] == ["q2"], (
        "compaction leaves the others"
    )
    assert put(store, DECISION) == [9], "numbers are not used again"


def test_a_decision_is_amended_and_snapshots_are_dropped(store: Store) -> None:
    """The body of one decision is another; snapshots from an entry on are gone."""
    put(store, DECISION, DECISION)
    write(store, lambda transaction: transaction.amend(replace(DECISION, seq=1, body={"events": []})))
    assert [each.body for each in store.read_decisions("shop")] == [{"events": []}, DECISION.body], (
        "one body is new"
    )
    for seq in (1, 2):
        keep(store, seq=seq)
    write(store, lambda transaction: transaction.delete_snapshots("shop", since=2))
    assert [seq for seq, _ in store.list_snapshots("shop")] == [1], "snapshots from an entry on are gone"
