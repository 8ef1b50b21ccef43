"""Laws of the event log: what goes in comes out, in order, once, and is still there later."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from rankloop.service.extensions.registry import load_registry
from rankloop.service.extensions.trial.part import TrialPart
from rankloop.service.store.impression_parts import list_totals
from rankloop.service.store.log_records import (
    COUNTED,
    SERVICE,
    Decision,
    Event,
    ImpressionHead,
    Verdict,
)
from rankloop.service.store.store import Job, Store, StoreError, write
from tests.service.store.commit_faults import reopen
from tests.support.log_samples import (
    CODEC,
    DECISION,
    EVENT,
    IMPRESSION,
    SNAPSHOT,
    event,
    impression,
    keep,
    put,
    same,
    same_arrays,
)

VERDICTS: tuple[Verdict, ...] = (
    *("accepted", "duplicate", "late", "orphan"),
    *("not_shown", "ignored", "invalid"),
)


def test_entries_are_numbered_in_order(store: Store) -> None:
    """Lists, events and decisions share one row of numbers, from 1."""
    assert put(store, IMPRESSION, EVENT, DECISION) == [1, 2, 3], "entries are numbered in order"
    assert [each.seq for each in store.read_entries("shop")] == [2, 3], "a model folds events and decisions"
    assert [each.seq for each in store.read_entries("shop", with_lists=True)] == [1, 2, 3], (
        "and lists, if it learns from silence"
    )
    assert [each.seq for each in store.read_entries("shop", after=1, until=2, with_lists=True)] == [2], (
        "entries between two"
    )
    entry = ImpressionHead(
        seq=1,
        at=10.0,
        ranker="shop",
        query_id="q1",
        session_id="s1",
        shown=IMPRESSION.shown,
        teaches=True,
        parts=IMPRESSION.parts,
    )
    assert next(iter(store.read_entries("shop", with_lists=True))) == entry, (
        "of a list, a model folds that it was shown, and the parts of extensions"
    )


def test_a_list_comes_back_to_the_bit(store: Store) -> None:
    """With NaN, -0.0, 63-bit seeds, booleans; and its arrays can be written to."""
    put(store, IMPRESSION)
    found = store.find_impression("q1")
    assert found is not None
    assert same(found, IMPRESSION), "a list comes back to the bit"
    assert np.asarray(found.evidence["owners"]).flags.writeable, "arrays own their memory"
    assert store.find_impression("q2") is None, "a list that was never shown is None"


def test_events_and_decisions_come_back(store: Store) -> None:
    """As they were written, by ranker, kind and number."""
    other = Decision(at=13.0, ranker="news", kind="mode")
    put(store, EVENT, DECISION, other, event(event_id="e2", ranker="news"))
    put(store, Decision(at=14.0, ranker=SERVICE, kind="key", body={"name": "anna"}))
    assert list(store.read_events("shop")) == [event(seq=1)], "an event comes back"
    assert store.read_decisions("shop")[0].body == DECISION.body, "a decision comes back"
    assert list(store.read_decisions("shop", kinds=("rollback",))) == [], (
        "decisions of another kind are left out"
    )
    assert list(store.read_decisions("shop", after=2)) == [], "decisions up to an entry are left out"
    assert list(store.list_rankers()) == ["news", "shop"], "rankers are those with decisions, by name"
    assert [each.seq for each in store.read_decisions(SERVICE)] == [5], "decisions about the service are kept"
    assert [each.seq for each in store.read_events(None)] == [1, 4], "without a ranker, events of all"
    put(
        store,
        impression(query_id="q1"),
        event(event_id="e3", list_seq=6),
        event(event_id="e4", list_seq=None),
    )
    assert [each.seq for each in store.find_events(query_id="q1")] == [7, 8], "events are found by their list"
    put(store, event(event_id="e2", verdict="duplicate"), event(event_id="o'3", verdict="orphan"))
    found = [each.ranker for each in store.find_events(["e2", "o'3", "nobody's", EVENT.event_id])]
    assert found == ["shop", "news"], "events that have found their lists are found by their ids"


def test_a_model_folds_what_counts(store: Store) -> None:
    """Of events, only those that were accepted or late."""
    put(store, *(event(event_id=f"e{number}", verdict=each) for number, each in enumerate(VERDICTS)))
    found = [each.verdict for each in store.read_entries("shop") if isinstance(each, Event)]
    assert found == [each for each in VERDICTS if each in COUNTED], "a model folds what counts"
    assert len(list(store.read_events("shop"))) == len(VERDICTS), "every event is kept"


def test_entries_can_be_read_in_parts(store: Store) -> None:
    """Between two numbers, and from the end."""
    many = [event(event_id=f"e{number}") for number in range(1100)]
    write(store, lambda transaction: [transaction.append(each) for each in many])
    put(store, DECISION)
    assert [each.seq for each in store.read_entries("shop", after=3, until=6)] == [4, 5, 6], (
        "entries between two"
    )
    assert [each.seq for each in store.read_entries("shop")] == list(range(1, 1102)), "entries come in order"
    assert [each.seq for each in store.read_events("shop", after=1098)] == [1099, 1100], (
        "events after an entry"
    )
    assert [each.seq for each in store.read_events("shop", newest=2)] == [1100, 1099], (
        "the last events, newest first"
    )


def test_many_lists_at_once_are_as_good_as_one_by_one(store: Store) -> None:
    """In their order, with times that never go back; the last ones, the newest first."""
    shown = [impression(query_id=f"q{number}", at=10 + number % 3 / 4) for number in range(75)]
    assert write(store, lambda transaction: transaction.append_all(shown)) == 0, "no list is refused"
    found = list(store.read_impressions("shop"))
    assert [each.query_id for each in found] == [each.query_id for each in shown], "lists stay in order"
    assert [each.at for each in found] == list(accumulate((each.at for each in shown), max)), (
        "time only grows"
    )
    assert all(same(each, impression(query_id=each.query_id, at=each.at)) for each in found), "to the bit"
    assert [each.seq for each in store.read_impressions("shop", after=70, newest=2)] == [75, 74], (
        "the last lists"
    )
    assert put(store, DECISION) == [76], "numbers go on"


def test_a_query_id_is_used_once(store: Store) -> None:
    """One list of two is refused; among many, only those."""
    put(store, impression(query_id="q3"))
    with pytest.raises(StoreError):
        put(store, impression(query_id="q3"))
    shown = [impression(query_id=name) for name in ("q0", "q1", "q1", "q2", "q3", "q4")]
    assert write(store, lambda transaction: transaction.append_all(shown)) == 2, "lists that were refused"
    found = [each.query_id for each in store.read_impressions("shop")]
    assert found == ["q3", "q0", "q1", "q2", "q4"], "other lists are not harmed"


def test_numbers_of_imports_are_kept_and_only_grow(store: Store) -> None:
    """An entry may bring its number, if it is above all others."""
    assert put(store, event(seq=7)) == [7], "an entry keeps its number"
    with pytest.raises(StoreError):
        put(store, event(seq=7, event_id="e2"))
    assert put(store, event(event_id="e3")) == [8], "numbers go on from there"


def test_many_threads_write_and_each_entry_is_there_once(store: Store) -> None:
    """Nobody's entry is lost or doubled, and nobody gets another's number."""
    with ThreadPoolExecutor(8) as pool:
        parts = ([event(event_id=f"{thread}-{number}") for number in range(25)] for thread in range(8))
        numbers = [seq for found in pool.map(lambda events: put(store, *events), parts) for seq in found]
    assert sorted(numbers) == list(range(1, 201)), "each entry has a number of its own"
    assert [each.seq for each in store.read_events("shop")] == sorted(numbers), "each entry is there once"


def test_time_follows_the_clock_and_never_runs_backwards(store: Store) -> None:
    """Behind a clock that was an hour ahead it goes on at half speed, and whoever only reads agrees."""
    put(store, event(at=4600.0))
    assert store.time(5000.0) == 5000.0, "the log's time is the clock's"
    assert store.lag(5000.0) == 0.0, "a clock that is right has no lag"
    assert write(store, lambda job: job.time(1000.0)) == 4600.0, "time is never before the last entry"
    assert write(store, lambda job: job.time(1100.0)) == 4650.0, "a clock that is behind is followed slowly"
    assert (store.time(1100.0), store.lag(1100.0)) == (4650.0, 3550.0), "readers are told the same time"
    assert write(store, lambda job: job.time(8300.0)) == 8300.0, "a clock that caught up is followed again"


def test_lists_with_a_part_are_found(store: Store) -> None:
    """In order, with their clicks, and no others."""
    arm, other = IMPRESSION.parts["trial"], TrialPart(trial=9, arm="A")
    parts: list[dict[str, object]] = [{"trial": arm}, {"promise": IMPRESSION.parts["promise"]}, {}]
    put(store, *(impression(query_id=f"q{n}", parts=parts[n % 3]) for n in range(7)))
    put(store, impression(query_id="news", ranker="news"), impression(query_id="q7", parts={"trial": other}))
    put(store, event(event_id="e1", list_seq=4, position=2), event(event_id="e2", list_seq=4, position=1))
    put(store, event(event_id="e3", list_seq=1, position=1, verdict="ignored"))
    found = list(store.read_parts("trial", "shop"))
    assert [head.query_id for head, _, _ in found] == ["q0", "q3", "q6", "q7"], "with the part, and no others"
    assert [part for _, part, _ in found] == [arm, arm, arm, other], "arms and owners come back"
    assert [clicked for _, _, clicked in found] == [set(), {1, 2}, set(), set()], "clicks are counted events"
    head = found[0][0]
    first = (head.at, head.session_id, head.client_id, list(head.shown))
    assert first == (10.0, "s1", "", IMPRESSION.shown), "a head says what is needed"
    later = [head.seq for head, _, _ in store.read_parts("trial", "shop", after=1, until=7)]
    assert later == [4, 7], "lists can be read between entries"


def test_rankers_that_changed_are_found(store: Store) -> None:
    """Those with a list, an event or a decision after an entry; and where the log ends."""
    assert store.list_changed_rankers(after=0) == (0, set()), "nothing has changed in an empty log"
    names = ("shop", "news", "mugs")
    put(store, impression(ranker="shop"), event(ranker="news"), Decision(at=12.0, ranker="mugs", kind="tick"))
    put(store, event(event_id="orphan", ranker="", verdict="orphan"))
    for after in range(5):
        head, found = store.list_changed_rankers(after=after)
        assert (head, set(found)) == (4, set(names[after:])), f"who changed after entry {after}"


def test_a_closed_store_says_so(store: Store) -> None:
    """Closing twice does no harm; writing then is refused."""
    store.close()
    store.close()
    with pytest.raises(StoreError):
        put(store, DECISION)


def test_everything_is_there_after_a_restart(store: Store) -> None:
    """In a store that was filled, closed and opened again."""
    put(store, IMPRESSION, EVENT, DECISION, event(at=4600.0, event_id="e2"))
    keep(store)
    write(store, lambda transaction: transaction.time(1000.0))
    store = reopen(store)
    raw = store.find_impression("q1")
    assert raw is not None
    assert CODEC.encode(raw.parts) == CODEC.encode(IMPRESSION.parts), "parts nobody knows stay as they are"
    store.register_parts(load_registry().part_types)
    found, snapshot = store.find_impression("q1"), store.load_latest("shop")
    assert found is not None
    assert same(found, IMPRESSION), "a list is there after a restart"
    assert snapshot is not None
    assert same_arrays(snapshot.arrays, SNAPSHOT.arrays), "a snapshot is there after a restart"
    assert [each.seq for each in store.read_entries("shop")] == [2, 3, 4], "entries are there after a restart"
    assert write(store, lambda job: job.knows("e1")), "an event is known after a restart"
    assert store.time(1100.0) == 4650.0, "a clock that is behind is known after a restart"
    assert list(store.read_totals("shop")) == list_totals(CODEC.sum_totals([IMPRESSION]), "shop"), (
        "accounts are there after a restart"
    )
    assert put(store, DECISION) == [5], "numbers go on after a restart"
    store.close()


def test_lists_are_found_together_by_their_numbers(store: Store) -> None:
    """Those that there are; one that is damaged is left out."""
    put(store, *(impression(query_id=f"q{number}") for number in range(4)))
    write(store, damage_list(3))
    found = store.find_impressions([1, 3, 4, 99])
    assert sorted(found) == ["q0", "q3"]
    assert all(same(each, impression(query_id=name)) for name, each in found.items())
    assert not store.find_impressions([])


def damage_list(seq: int) -> Job[None]:
    """Have the bytes of a list rust."""

    def job(transaction: Any) -> None:
        transaction.run("UPDATE payloads SET payload = :rust WHERE seq = :seq", {"rust": b"rust", "seq": seq})

    return job
