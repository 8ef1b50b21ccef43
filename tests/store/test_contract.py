"""What every store promises."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rankloop.store import COUNTED, Decision, Store, StoreError, Traffic, Transaction, write
from tests.store.samples import DECISION, EVENT, IMPRESSION, SNAPSHOT, event, impression, keep, put, same


def test_entries_are_numbered_in_order(store: Store) -> None:
    assert put(store, IMPRESSION, EVENT, DECISION) == [1, 2, 3]
    assert [each.seq for each in store.entries("shop")] == [2, 3]


def test_a_list_comes_back_to_the_bit(store: Store) -> None:
    put(store, IMPRESSION)
    found = store.impression("q1")
    assert found is not None
    assert same(found, IMPRESSION)
    assert found.shown == ["ü", "b"]
    assert store.impression("q2") is None


def test_events_and_decisions_come_back(store: Store) -> None:
    put(store, EVENT, DECISION)
    assert list(store.events("shop")) == [event(seq=1)]
    assert list(store.decisions("shop")) == [
        Decision(seq=2, at=12.0, ranker="shop", kind="mode", body={"mode": "frozen"})
    ]
    assert store.decisions("shop", kind="rollback") == []
    assert [each.seq for each in store.decisions("shop", after=1)] == [2]
    assert store.decisions("shop", after=2) == []
    assert list(store.rankers()) == ["shop"]


def test_the_events_of_a_list(store: Store) -> None:
    put(store, EVENT, event(query_id="q2", event_id="e2"), event(event_id="e1", verdict="duplicate"))
    assert [each.verdict for each in store.events_of("q1")] == ["accepted", "duplicate"]
    assert list(store.events_of("q3")) == []


def test_rankers_are_apart(store: Store) -> None:
    put(store, DECISION, Decision(at=13.0, ranker="news", kind="mode"), event(ranker="news"))
    assert list(store.rankers()) == ["news", "shop"]
    assert [each.seq for each in store.entries("news")] == [2, 3]
    assert [each.seq for each in store.events("shop")] == []
    assert [each.seq for each in store.events(None)] == [3]


def test_a_model_folds_what_counts(store: Store) -> None:
    verdicts = ("accepted", "duplicate", "late", "orphan", "not_shown", "ignored", "invalid")
    put(store, *(event(event_id=f"e{number}", verdict=each) for number, each in enumerate(verdicts)))
    assert {each.verdict for each in store.entries("shop") if not isinstance(each, Decision)} == set(COUNTED)
    assert len(list(store.events("shop"))) == len(verdicts)


def test_entries_between_two_numbers(store: Store) -> None:
    put(store, *(event(event_id=f"e{number}") for number in range(1100)), DECISION)
    assert [each.seq for each in store.entries("shop", after=3, until=6)] == [4, 5, 6]
    assert [each.seq for each in store.entries("shop")] == list(range(1, 1102))
    assert [each.seq for each in store.events("shop", after=1098)] == [1099, 1100]
    assert [each.seq for each in store.events("shop", last=3)] == [1100, 1099, 1098]


def test_a_query_id_is_used_once(store: Store) -> None:
    put(store, IMPRESSION)
    with pytest.raises(StoreError, match="ids must be unique"):
        put(store, IMPRESSION)
    assert put(store, DECISION) == [2]


@pytest.mark.parametrize("lists", [0, 1, 7, 32, 75])
def test_many_lists_at_once_are_as_good_as_one_by_one(store: Store, lists: int) -> None:
    shown = [impression(query_id=f"q{number}", at=float(10 + number % 3)) for number in range(lists)]
    assert write(store, lambda transaction: transaction.append_all(shown)) == 0
    found = list(store.impressions("shop"))
    assert [each.query_id for each in found] == [each.query_id for each in shown]
    assert [each.seq for each in found] == list(range(1, lists + 1))
    assert [each.at for each in found] == list(itertools.accumulate((each.at for each in shown), max))
    assert all(same(each, impression(query_id=each.query_id, at=each.at)) for each in found)
    assert put(store, DECISION) == [lists + 1]


def test_of_many_lists_only_those_with_a_used_id_are_refused(store: Store) -> None:
    put(store, impression(query_id="q3"))
    names = ["q0", "q1", "q1", "q2", "q3", "q4", "q5"]
    shown = [impression(query_id=name) for name in names]
    assert write(store, lambda transaction: transaction.append_all(shown)) == 2
    assert [each.query_id for each in store.impressions("shop")] == ["q3", "q0", "q1", "q2", "q4", "q5"]
    assert put(store, DECISION) == [7]


def test_an_event_is_known_once_it_found_its_list(store: Store) -> None:
    def twice(transaction: Transaction) -> tuple[bool, bool]:
        before = transaction.knows("e1")
        transaction.append(EVENT)
        return before, transaction.knows("e1")

    put(store, event(verdict="orphan"))
    assert write(store, twice) == (False, True)
    assert write(store, lambda transaction: transaction.knows("e1"))


def test_a_job_sees_the_list_it_wrote(store: Store) -> None:
    def job(transaction: Transaction) -> object:
        transaction.append(IMPRESSION)
        return transaction.shown("q1")

    found = write(store, job)
    assert found == write(store, lambda transaction: transaction.shown("q1"))
    assert write(store, lambda transaction: transaction.shown("q2")) is None


def test_a_job_sees_what_was_decided_before_it(store: Store) -> None:
    def job(transaction: Transaction) -> list[object]:
        transaction.append(DECISION)
        transaction.append(Decision(at=13.0, ranker="news", kind="mode"))
        return [transaction.rankers(), [each.seq for each in transaction.decisions("shop", after=1)]]

    put(store, DECISION)
    before = store.submit(lambda transaction: transaction.append(DECISION))
    assert write(store, job) == [["news", "shop"], [2, 3]]
    assert before.result() == 2
    assert store.decisions("shop") == write(store, lambda transaction: transaction.decisions("shop"))


def test_a_job_that_fails_leaves_no_trace(store: Store) -> None:
    def fails(transaction: Transaction) -> None:
        transaction.append(IMPRESSION)
        transaction.append(EVENT)
        transaction.keep(SNAPSHOT)
        raise ZeroDivisionError

    before = store.submit(lambda transaction: transaction.append(DECISION))
    failed = store.submit(fails)
    after = store.submit(lambda transaction: transaction.append(DECISION))
    assert (before.result(), after.result()) == (1, 2)
    with pytest.raises(ZeroDivisionError):
        failed.result()
    assert store.impression("q1") is None
    assert not list(store.events("shop"))
    assert store.snapshot("shop") is None
    assert not write(store, lambda transaction: transaction.knows("e1"))


def test_time_never_runs_backwards(store: Store) -> None:
    put(store, impression(at=100.0))
    assert write(store, lambda transaction: (transaction.time(50.0), transaction.time(150.0))) == (
        100.0,
        150.0,
    )


def test_numbers_of_imports_are_kept_and_only_grow(store: Store) -> None:
    assert put(store, event(seq=7)) == [7]
    with pytest.raises(StoreError, match="only grows"):
        put(store, event(seq=7, event_id="e2"))
    assert put(store, event(event_id="e3")) == [8]


def test_the_latest_snapshot_that_fits(store: Store) -> None:
    for seq, at in ((3, 12.0), (5, 20.0), (9, 30.0)):
        keep(store, seq=seq, at=at, body={"version": seq})
    assert [tuple(each) for each in store.snapshots("shop")] == [(3, 12.0), (5, 20.0), (9, 30.0)]
    for found, expected in (
        (store.snapshot("shop"), 9),
        (store.snapshot("shop", until=8), 5),
        (store.snapshot("shop", before=20.0), 5),
        (store.snapshot("shop", until=2), None),
        (store.snapshot("other"), None),
    ):
        assert (found and found.seq) == expected
    found = store.snapshot("shop", until=3)
    assert found is not None
    assert found.body == {"version": 3}
    assert found.arrays["parameters"].tobytes() == SNAPSHOT.arrays["parameters"].tobytes()


def test_a_snapshot_replaces_one_of_the_same_entry(store: Store) -> None:
    for version in (1, 2):
        keep(store, seq=3, at=12.0, body={"version": version})
    found = store.snapshot("shop")
    assert found is not None
    assert found.body == {"version": 2}
    assert len(store.snapshots("shop")) == 1


def test_old_entries_can_be_discarded(store: Store) -> None:
    put(store, DECISION, IMPRESSION, EVENT, impression(query_id="q2", at=50.0), event(event_id="e2"))
    keep(store, seq=2, at=10.0)
    keep(store, seq=4, at=50.0)
    assert write(store, lambda transaction: transaction.discard("shop", until=4, shown_before=50.0)) == 2
    assert store.impression("q1") is None
    assert store.impression("q2") is not None
    assert [each.event_id for each in store.events("shop")] == ["e2"]
    assert [seq for seq, _ in store.snapshots("shop")] == [4]
    assert len(store.decisions("shop")) == 1
    assert put(store, DECISION) == [6], "numbers are not used again"


def test_numbers_are_not_used_again_after_everything_was_discarded(store: Store) -> None:
    put(store, DECISION, EVENT)
    keep(store, seq=2, at=11.0)
    write(store, lambda transaction: transaction.discard("shop", until=2, shown_before=0.0))
    assert put(store, DECISION) == [3]


def test_traffic_adds_up(store: Store) -> None:
    put(
        store,
        impression(query_id="q1", at=0.0, settled=None, fallback="slow"),
        impression(query_id="q2", at=5.0, explored=1),
        impression(query_id="q3", at=25.0),
        event(event_id="e1", list_seq=2, position=2),
        event(event_id="e2", list_seq=2, position=4, verdict="late"),
        event(event_id="e3", list_seq=3, position=1, verdict="ignored"),
    )
    first, third = store.traffic("shop", since=0.0, until=30.0, step=10.0)
    assert first == Traffic(
        start=0.0,
        lists=2,
        clicked=1,
        reciprocal=1 / 2,
        fallbacks=1,
        explored=1,
        cost=0.5,
        pairs=1,
        settled=1,
    )
    assert (third.start, third.lists, third.clicked) == (20.0, 1, 0)
    assert store.traffic("other", since=0.0, until=30.0, step=10.0) == []


def test_recent_lists(store: Store) -> None:
    put(store, *(impression(query_id=f"q{n}", at=float(n)) for n in range(10)))
    put(store, *(event(event_id=f"e{n}", list_seq=n, position=1) for n in (1, 8, 9)))
    assert store.recent("shop", lists=100, after=0, before=99.0).lists == 10
    found = store.recent("shop", lists=3, after=0, before=8.5)  # entries 7, 8, 9
    assert (found.lists, found.clicked) == (3, 2)
    assert store.recent("shop", lists=3, after=9, before=99.0).lists == 1
    assert store.recent("other", lists=3, after=0, before=99.0) == Traffic()


def test_events_are_tallied(store: Store) -> None:
    put(
        store,
        event(event_id="e1", ordinal=2, position=2, at=100.0, occurred_at=161.0),
        event(event_id="e2", ordinal=1, position=2, at=100.0, client_id="c2", verdict="late"),
        event(event_id="e3", ordinal=9, position=2, at=4000.0, occurred_at=1.0),
        event(event_id="e4", ordinal=None, position=2, at=4000.0, occurred_at=None, client_id=""),
        event(event_id="e5", at=9000.0, ranker="news"),
    )
    found = store.tally("shop", since=0.0, until=5000.0)
    assert found.verdicts == {"accepted": 3, "late": 1}
    assert (found.one_based, found.zero_based, found.misplaced) == (1, 1, 1)
    assert (found.ahead, found.behind) == (1, 1)
    assert [tuple(each) for each in found.busiest] == [("c1", 2), ("c2", 1)]
    assert store.tally(None, since=0.0, until=1e9).verdicts == {"accepted": 4, "late": 1}
    assert store.tally("shop", since=5000.0, until=6000.0).verdicts == {}


def test_many_threads_write_and_each_entry_is_there_once(store: Store) -> None:
    def many(thread: int) -> list[int]:
        return put(store, *(event(event_id=f"{thread}-{number}") for number in range(50)))

    with ThreadPoolExecutor(8) as pool:
        numbers = [seq for found in pool.map(many, range(8)) for seq in found]
    assert sorted(numbers) == list(range(1, 401))
    assert [each.seq for each in store.events("shop")] == sorted(numbers)


def test_reading_never_waits_for_a_job(store: Store) -> None:
    put(store, DECISION)
    started, go = threading.Event(), threading.Event()

    def slow(transaction: Transaction) -> int:
        started.set()
        go.wait(10)
        return transaction.append(DECISION)

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write, store, slow)
        started.wait(10)
        if type(store).__name__ != "MemoryStore":  # which has one lock for all
            assert len(store.decisions("shop")) == 1
        go.set()
        assert written.result() == 2


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        put(store, DECISION)


def test_evidence_owns_its_memory(store: Store) -> None:
    put(store, IMPRESSION)
    found = store.impression("q1")
    assert found is not None
    assert np.asarray(found.evidence["owners"]).flags.writeable
