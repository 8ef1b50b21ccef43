"""Steps of equally many lists, and the lists shown last: the same from every store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rankloop.service.reports.traffic import by_steps, overview
from rankloop.service.store import Store, open_temporary_store
from tests.support.looking import traffic

NOW = 10_000.0
ALL = {"since": 0.0, "until": NOW}


@pytest.fixture
def store() -> Iterator[Store]:
    found = open_temporary_store()
    traffic(found, "shop", lists=103, events=60, now=NOW)
    yield found
    found.close()


def test_parts_differ_by_one_list_at_most(store: Store) -> None:
    parts = store.statistics.sum_traffic_parts("shop", since=0.0, until=NOW, parts=10)
    assert [part.lists for part in parts] == [11, 11, 11, *[10] * 7]
    starts = [part.start for part in parts]
    assert starts == sorted(starts)
    assert starts[0] == NOW - 3600


def test_no_part_is_too_small_to_say_anything(store: Store) -> None:
    sizes = (
        [part.lists for part in store.statistics.sum_traffic_parts("shop", **ALL, parts=50, minimum=minimum)]
        for minimum in (20, 1000)
    )
    assert list(sizes) == [[21, 21, 21, 20, 20], [103]]
    assert list(store.statistics.sum_traffic_parts("shop", since=0.0, until=1.0, parts=5)) == []


@pytest.mark.parametrize("by", ["lists", "time"])
def test_the_whole_is_the_sum_of_its_steps(store: Store, by: str) -> None:
    total, steps = by_steps(store, "shop", **ALL, steps=4, by="lists" if by == "lists" else "time")
    plain = overview(store, "shop", **ALL)
    assert total.lists == plain.lists == sum(step.lists for step in steps) == 103
    assert total.ctr == plain.ctr
    assert total.settled == plain.settled
    assert total.mrr == pytest.approx(plain.mrr)
    assert total.cost == pytest.approx(plain.cost)


def test_the_last_lists_the_newest_first(store: Store) -> None:
    assert [each.query_id for each in store.read_impressions("shop", newest=3)] == ["q102", "q101", "q100"]
    assert len(list(store.read_impressions("shop", newest=1000))) == 103
    assert list(store.read_impressions("another", newest=3)) == []
