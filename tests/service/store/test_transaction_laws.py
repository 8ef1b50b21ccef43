"""Laws of transactions: a job sees what came before it, and leaves all of its work or none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rankloop.service.store.log_records import Decision
from rankloop.service.store.store import Store, StoreError, Transaction, write
from tests.service.store.commit_faults import no_commit
from tests.support.log_samples import (
    DECISION,
    EVENT,
    IMPRESSION,
    SNAPSHOT,
    event,
    impression,
    keep,
    put,
)


def test_a_job_sees_what_was_written_before_it(store: Store) -> None:
    """By earlier jobs, and by itself."""

    def job(transaction: Transaction) -> tuple[object, ...]:
        transaction.prefetch(
            event_ids=["e1", "e2"], query_ids=["q1", "q2"]
        )  # changes nothing of what follows
        transaction.append(DECISION)
        transaction.append(Decision(at=13.0, ranker="news", kind="mode"))
        transaction.append(EVENT)
        decided = [each.seq for each in transaction.read_decisions("shop", after=1)]
        return (
            list(transaction.list_rankers()),
            decided,
            transaction.knows("e1"),
            transaction.find_shown("q1"),
        )

    put(store, DECISION)
    before = store.submit(lambda transaction: transaction.append(IMPRESSION))
    rankers, decided, knows, shown = write(store, job)
    assert before.result() == 2, "jobs run in the order they were submitted"
    assert rankers == ["news", "shop"], "a job sees the rankers"
    assert decided == [3], "a job sees what it decided"
    assert knows, "a job knows the events it wrote"
    assert shown == write(store, lambda transaction: transaction.find_shown("q1")), (
        "a job sees lists of jobs before"
    )
    assert write(store, lambda transaction: transaction.find_shown("q2")) is None, "no other list is seen"


def test_an_event_is_known_once_it_found_its_list(store: Store) -> None:
    """An orphan may come again."""
    put(store, event(verdict="orphan"))
    assert not write(store, lambda transaction: transaction.knows("e1")), "an orphan is not known"
    put(store, EVENT)
    assert write(store, lambda transaction: transaction.knows("e1")), "an event that found its list is known"


def test_what_a_source_has_done_is_known(store: Store) -> None:
    """Counted events by ranker, source and time, in the log and in the transaction at hand; and whose id."""

    def job(transaction: Transaction) -> tuple[object, ...]:
        transaction.append(event(event_id="e4", list_seq=4, at=30.0, source="s"))
        transaction.append(event(event_id="e5", list_seq=5, at=30.0, source="s", verdict="held"))
        found = [transaction.read_contributions("shop", "s", since=since) for since in (0.0, 20.0)]
        other = (
            transaction.read_contributions("shop", "other", since=0.0),
            transaction.read_contributions("x", "s", since=0),
        )
        whose = [transaction.find_recorded_event(name) for name in ("e2", "e4", "e5", "unknown")]
        return [sorted(each) for each in found], [sorted(each) for each in other], whose

    put(
        store,
        event(event_id="e1", list_seq=1, at=10.0, source="s"),
        event(event_id="e2", query_id="q2", object_id="c", list_seq=1, at=10.0, source="s", verdict="late"),
        event(event_id="e3", list_seq=3, at=20.0, source=""),
    )
    lists, other, whose = write(store, job)
    assert lists == [[(1, "b"), (1, "c"), (4, "b")], [(4, "b")]], "what a source has done since a time"
    assert other == [[], []], "sources and rankers are apart"
    assert whose == [("q2", "s"), ("q1", "s"), None, None], "whose an event id is"


def test_strays_can_be_discarded(store: Store) -> None:
    """Events that belong to no ranker, of a stretch of time, and nothing else."""
    put(store, IMPRESSION, EVENT)
    strays = [event(event_id=f"o{at}", ranker="", verdict="orphan", at=at) for at in (20.0, 30.0, 40.0)]
    put(store, *strays)
    gone = write(store, lambda transaction: transaction.remove_unmatched_events(since=20.0, until=40.0))
    assert gone == 2, "how many were deleted"
    assert [each.event_id for each in store.read_events(None)] == ["e1", "o40.0"], "what is left"
    assert put(store, event(event_id="e2")) == [6], "numbers are never used again"


def test_looking_ahead_changes_nothing(store: Store) -> None:
    """What was looked up is what is there, also of what is written or discarded afterwards."""

    def job(transaction: Transaction) -> tuple[object, ...]:
        transaction.prefetch(event_ids=["e1", "e2", "e3"], query_ids=["q1", "q2", "q3"])
        transaction.append(impression(query_id="q3"))
        transaction.append(event(event_id="e3", list_seq=3))
        knows = [transaction.knows(name) for name in ("e1", "e2", "e3")]
        found = [transaction.find_shown(name) for name in ("q1", "q2", "q3")]
        transaction.remove_before("shop", until=2, shown_before=99.0)
        gone = transaction.knows("e1"), transaction.find_shown("q1")
        return knows, [each and each.seq for each in found], gone

    put(store, IMPRESSION, EVENT)
    expected = ([True, False, True], [1, None, 3], (False, None))
    assert write(store, job) == expected, "what was looked up is what is there"


def test_a_job_that_fails_leaves_no_trace(store: Store) -> None:
    """And harms no other."""

    def fails(transaction: Transaction) -> None:
        _everything(transaction)
        raise ZeroDivisionError

    put(store, event(event_id="e0", at=4600.0))
    before = store.submit(lambda transaction: transaction.append(DECISION))
    failed = store.submit(fails)
    after = store.submit(lambda transaction: transaction.append(DECISION))
    assert (before.result(), after.result()) == (2, 3), "jobs before and after a failure are done"
    with pytest.raises(ZeroDivisionError):
        failed.result()
    _untouched(store, decisions=2)


def test_what_cannot_be_committed_has_not_been(store: Store) -> None:
    """If the transaction fails as a whole, so does every future, and nothing of it is seen, then or later."""
    put(store, event(event_id="e0", at=4600.0))
    with no_commit(store):
        first = store.submit(_everything)
        second = store.submit(lambda transaction: transaction.append(DECISION))
        for future in (first, second):
            with pytest.raises(StoreError):
                future.result()
        _untouched(store, decisions=0, write_too=False)
    assert put(store, DECISION) == [2], "numbers of a transaction that failed are free"
    _untouched(store, decisions=1)


def test_old_entries_can_be_discarded(store: Store) -> None:
    """All that a model does not need that begins at an entry, and nothing else."""
    put(store, *(impression(query_id=f"q{number}", at=10.0) for number in range(1, 5)), DECISION)
    put(store, event(event_id="e1", query_id="q1", list_seq=1, at=20.0))  # 6
    put(store, event(event_id="e2", query_id="q2", list_seq=2, at=20.0))
    put(store, event(event_id="e3", ranker="", verdict="orphan", list_seq=None, at=20.0))
    put(store, event(event_id="e4", ranker="news", list_seq=None, at=20.0))
    put(store, impression(query_id="q5", at=30.0))  # 10: not older than lists may be
    put(store, event(event_id="e5", query_id="q3", list_seq=3, at=30.0))  # 11: its list is needed
    put(store, event(event_id="e6", ranker="", verdict="invalid", list_seq=None, at=30.0))
    for seq in (5, 9, 10, 11):
        keep(store, seq=seq, at=float(seq))
    gone = write(store, lambda job: job.remove_before("shop", until=10, shown_before=30.0, keep=["q4"]))
    assert gone == 5, "entries that were discarded"
    assert [each.query_id for each in store.read_impressions("shop")] == ["q3", "q4", "q5"], (
        "lists that are left"
    )
    assert store.find_impression("q1") is None, "a list that was discarded is gone"
    assert [each.event_id for each in store.read_events(None)] == ["e4", "e5", "e6"], "events that are left"
    assert write(store, lambda job: [job.knows(each) for each in ("e1", "e5")]) == [False, True], (
        "events known"
    )
    assert [each.seq for each in store.read_decisions("shop")] == [5], "decisions stay"
    assert [seq for seq, _ in store.list_snapshots("shop")] == [10, 11], "snapshots that are left"
    assert store.reclaim_space() >= 0, "space is given back"
    assert put(store, impression(query_id="q1", at=40.0)) == [13], "an id that was discarded is free"


def test_numbers_and_time_do_not_go_back_when_entries_go(store: Store) -> None:
    """Even if the last entry of all is discarded."""
    put(store, event(at=50.0))
    write(store, lambda job: job.remove_before("shop", until=1, shown_before=0.0))
    assert list(store.read_events(None)) == [], "an event is discarded"
    assert store.time(0.0) == 50.0, "time does not go back"
    assert put(store, event(at=0.0)) == [2], "a number is never used again"


def _everything(transaction: Transaction) -> None:
    """All that a job can do."""
    transaction.time(1000.0)
    transaction.remove_before("shop", until=1, shown_before=5000.0)
    transaction.append(IMPRESSION)
    transaction.append(EVENT)
    transaction.append(DECISION)
    transaction.save_snapshot(SNAPSHOT)


def _untouched(store: Store, *, decisions: int, write_too: bool = True) -> None:
    """Nothing of `_everything` is there."""
    assert store.find_impression("q1") is None, "a list of a failed job is not there"
    assert [each.event_id for each in store.read_events("shop")] == ["e0"], "events are as they were"
    assert len(store.read_decisions("shop")) == decisions, "decisions are as they were"
    assert store.load_latest("shop") is None, "a snapshot of a failed job is not there"
    assert store.time(1100.0) == 4600.0, "a failed job has not seen the clock"
    if write_too:
        assert not write(store, lambda job: job.knows("e1")), "an event of a failed job is not known"
        assert write(store, lambda job: job.find_shown("q1")) is None, "a list of a failed job is not known"


def test_decisions_that_only_told_the_time_can_be_discarded(store: Store) -> None:
    """Up to an entry, and of one ranker; all others stay."""
    for ranker, kind in (("shop", "tick"), ("shop", "mode"), ("news", "tick"), ("shop", "tick")):
        put(store, replace(DECISION, ranker=ranker, kind=kind))
    gone = write(store, lambda job: job.remove_before("shop", until=3, shown_before=0.0, kinds=["tick"]))
    assert gone == 1
    left = [(each.seq, each.kind) for name in ("shop", "news") for each in store.read_decisions(name)]
    assert left == [(2, "mode"), (4, "tick"), (3, "tick")]


def test_of_lists_under_one_id_the_first_is_written_in_its_place(store: Store) -> None:
    """The others are refused, and those between them keep their order."""
    first, again = impression(query_id="q1", k=1), impression(query_id="q1", k=2)
    lists = [first, impression(query_id="q2"), again, impression(query_id="q3")]
    assert write(store, lambda transaction: transaction.append_all(lists)) == 1, "one is refused"
    found = [(each.query_id, each.k) for each in store.read_impressions("shop")]
    assert found == [("q1", 1), ("q2", 2), ("q3", 2)], "lists are written in the order in which they came"
