"""Laws of statistics: sums over the log that add up."""

from __future__ import annotations

from typing import Any

from rankloop.service.store.grades import GradeScale
from rankloop.service.store.log_records import SQUATTED, GradeTally, ListFilter, Traffic
from rankloop.service.store.store import Store
from tests.support.log_samples import event, impression, put


def test_traffic_adds_up(store: Store) -> None:
    """Lists by the time they were shown, each with its first counted click."""
    put(
        store,
        impression(query_id="q1", at=0.0, settled=None, fallback="slow"),
        impression(query_id="q2", at=5.0, explored=1),
        impression(query_id="q3", at=25.0),
        event(event_id="e1", list_seq=2, position=2),
        event(event_id="e2", list_seq=2, position=4, verdict="late"),
        event(event_id="e3", list_seq=3, position=1, verdict="ignored"),
    )
    steps = store.statistics.sum_traffic("shop", since=0.0, until=30.0, step=10.0)
    sums = {"lists": 2, "clicked": 1, "reciprocal": 1 / 2, "fallbacks": 1, "explored": 1, "cost": 0.5}
    first = Traffic(start=0.0, pairs=1, settled=1, **sums)  # type: ignore[arg-type]
    third = Traffic(start=20.0, lists=1, cost=0.25, pairs=1, settled=1)
    assert list(steps) == [first, third], "steps of time with a list are summed"
    others = store.statistics.sum_traffic("other", since=0.0, until=30.0, step=10.0)
    assert others == [], "rankers are apart"
    parts = store.statistics.sum_traffic_parts("shop", since=0.0, until=30.0, parts=2)
    assert [each.lists for each in parts] == [2, 1], "parts have equally many lists"
    parts = store.statistics.sum_traffic_parts("shop", since=0.0, until=30.0, parts=3, minimum=2)
    assert [(each.start, each.lists) for each in parts] == [(0.0, 3)], "parts have enough lists"


def test_lists_are_found_in_a_line_each(store: Store) -> None:
    """By text, by what became of them, and page by page, the newest first."""
    texts = ("Red shoes", "blue %", "GRÜNE Schuhe", "red")
    put(store, *(impression(query_id=f"q{n}", user_query=text, at=float(n)) for n, text in enumerate(texts)))
    put(store, impression(query_id="q4", user_query="red", at=4.0, mode="passthrough", fallback="slow"))
    put(store, impression(query_id="other", ranker="news", at=5.0))
    put(
        store,
        event(event_id="e1", list_seq=1, position=2),
        event(event_id="e2", list_seq=1, position=2, verdict="late"),
        event(event_id="e3", list_seq=1, position=1, verdict="ignored"),
        event(event_id="e4", list_seq=3, position=2),
        event(event_id="e5", list_seq=3, position=1),
    )

    def found(**wanted: Any) -> list[int]:
        return [each.seq for each in store.statistics.find_lists("shop", ListFilter(**wanted), last=3)]

    assert found() == [5, 4, 3], "the last ones, the newest first"
    assert found(before=3) == [2, 1], "those before an entry"
    assert found(text="RED") == [5, 4, 1], "by a part of the query, in capitals or not"
    assert found(text="grüne s") == [3], "by letters of any alphabet"
    assert found(text="%") == [2], "by signs that mean something to a database"
    assert found(query="red") == [5, 4], "by the whole query"
    assert found(clicked=True) == [3, 1], "those with a click"
    assert found(clicked=False) == [5, 4, 2], "those without one"
    assert (found(mode="passthrough"), found(fallback=False)) == ([5], [4, 3, 2]), "by mode, and by failure"
    assert found(clicked=True, within=3) == [3], "only so many are looked through"
    line = store.statistics.find_lists("shop", ListFilter(before=2), last=1)[0]
    assert (line.clicked, line.first_click, list(line.shown)) == (1, 2, ["ü", "b"]), "with what was clicked"
    line = store.statistics.find_lists("shop", ListFilter(before=4), last=1)[0]
    assert line.first_click == 1, "the first click"


def test_events_are_tallied(store: Store) -> None:
    """By verdict, by how clients count, by their clocks, by client."""
    put(
        store,
        event(event_id="e1", ordinal=2, position=2, at=100.0, occurred_at=161.0),
        event(event_id="e2", ordinal=1, position=2, at=100.0, client_id="c2", verdict="late"),
        event(event_id="e3", ordinal=9, position=2, at=4000.0, occurred_at=1.0),
        event(event_id="e4", ordinal=None, position=2, at=4000.0, occurred_at=None, client_id=""),
        event(event_id="e5", at=9000.0, ranker="news"),
    )
    found = store.statistics.count_events("shop", since=0.0, until=5000.0)
    assert dict(found.verdicts) == {"accepted": 3, "late": 1}, "verdicts are counted"
    assert (found.one_based, found.zero_based, found.misplaced) == (1, 1, 1), "positions are compared"
    assert (found.ahead, found.behind) == (1, 1), "clocks are compared"
    assert [tuple(each) for each in found.busiest] == [("c1", 2), ("c2", 1)], "clients are counted"
    everything = store.statistics.count_events(None, since=0.0, until=1e9).verdicts
    assert dict(everything) == {"accepted": 4, "late": 1}, "without a ranker, events of all"
    assert dict(store.statistics.count_events("shop", since=5000.0, until=6000.0).verdicts) == {}, (
        "events are found by time"
    )


def test_sources_are_tallied(store: Store) -> None:
    """By how much each sent, how much of it was held back, the busiest minute, and ids that were taken."""
    put(
        store,
        event(event_id="e1", at=100.0, source="s"),
        event(event_id="e2", at=110.0, source="s", verdict="held"),
        event(event_id="e3", at=190.0, source="s"),
        event(event_id="e4", at=191.0, source="t"),
        event(event_id="e5", at=192.0, source="", ranker="news"),
        event(event_id="e4", at=193.0, source="u", ranker="", verdict="duplicate", detail=SQUATTED),
        event(event_id="e4", at=194.0, source="t", ranker="", verdict="duplicate", detail="again"),
    )
    found = store.statistics.count_sources(since=100.0, until=999.0)
    assert found.sources == 3, "sources are counted"
    busiest = [("s", 3, 1), ("t", 2, 0), ("u", 1, 0)]
    assert [tuple(each) for each in found.busiest] == busiest, "the busiest, and what was held back"
    assert tuple(found.burst) == ("s", 2), "the most of one source within a minute"
    assert found.squatted == 1, "ids that another event had"
    later = store.statistics.count_sources(since=500.0, until=999.0)
    assert (later.sources, list(later.busiest), tuple(later.burst)) == (0, [], ("", 0)), "found by time"


def test_grades_are_tallied(store: Store) -> None:
    """By list and result: the last value of each action, their weighted sum, cut at both ends."""
    put(store, *(impression(query_id=f"q{n}", at=float(n)) for n in range(4)))
    said = [
        (1, 1, "star", 2.0),
        (1, 1, "star", 4.0),  # in place of the 2
        (1, 1, "buy", None),  # and half a grade more
        (1, 2, "star", -3.0),
        (2, 1, "star", 5.5),
        (2, 2, "hover", 1.0),  # says nothing
        (3, 1, "hover", None),
        (4, 1, "star", 1.0),  # its list is of another time
    ]
    put(
        store,
        *(
            event(event_id=f"e{n}", list_seq=shown, position=position, action=action, value=value)
            for n, (shown, position, action, value) in enumerate(said)
        ),
        event(event_id="late", list_seq=2, position=3, action="buy", value=2.0, verdict="late"),
        event(event_id="no", list_seq=2, position=4, action="star", value=1.0, verdict="ignored"),
    )
    scale = GradeScale(weights={"star": 1.0, "buy": 0.5}, highest=5.0)
    found = store.grades("shop", since=0.0, until=3.0, scale=scale)
    expected = GradeTally(lists=3, rated=2, results=4, capped=1, histogram=[1, 1, 0, 0, 0, 2])
    assert found == expected, "grades are counted by the step that is nearest"
    halves = GradeScale(weights={"star": 1.0}, highest=0.5)
    found = store.grades("shop", since=3.0, until=9.0, scale=halves)
    expected = GradeTally(lists=1, rated=1, results=1, capped=1, histogram=[0] * 10 + [1])
    assert found == expected, "a scale without whole grades has ten steps"
    nobody = store.grades("other", since=0.0, until=9.0, scale=halves)
    assert nobody == GradeTally(histogram=[0] * 11), "rankers are apart"
