"""Sums of exposure over lists that are in a store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import structs

from rankloop.service.extensions.fair.exposure_sums import (
    ExposureTally,
    GroupTally,
    read_fair_lists,
    sum_exposure,
    sum_exposure_in_parts,
)
from rankloop.service.extensions.fair.part import FairPart, read_account
from rankloop.service.extensions.registry import load_registry
from rankloop.service.store import TemporaryStore, open_temporary_store
from tests.support.log_samples import EXPOSURE, event, impression, put


@pytest.fixture
def store() -> Iterator[TemporaryStore]:
    with open_temporary_store() as opened:
        opened.register_parts(load_registry().part_types)
        yield opened


def test_exposure_is_tallied(store: TemporaryStore) -> None:
    """By stretches of time; of clicks, every result counts once."""
    held = structs.replace(EXPOSURE, within=True, turned=3)
    counted = structs.replace(held, within=None, turned=0)
    put(
        store,
        impression(query_id="q1", at=0.0, user_query="a"),
        impression(query_id="q2", at=5.0, user_query="b", parts={"fair": held}),
        impression(
            query_id="q3",
            at=25.0,
            user_query="b",
            parts={"fair": counted},
        ),
        impression(query_id="q4", at=26.0, parts={}),
        event(event_id="e1", list_seq=1, position=2),
        event(event_id="e2", list_seq=1, position=2, verdict="late", action="buy"),
        event(event_id="e3", list_seq=2, position=1),
        event(event_id="e4", list_seq=3, position=1, verdict="ignored"),
    )

    def sums(since: float, until: float, ranker: str = "shop") -> ExposureTally:
        return sum_exposure(read_fair_lists(store, ranker, since=since, until=until), start=since)

    first, third = sums(0.0, 10.0), sums(20.0, 30.0)
    counts = (first.start, first.lists, first.held, first.outside, first.turned)
    assert counts == (0.0, 2, 2, 1, 4), "lists in a stretch of time are counted"
    counts = (third.start, third.lists, third.held, third.outside, third.turned)
    assert counts == (20.0, 1, 0, 0, 0), "lists that are only counted are held to nothing"
    others, ours = first.groups
    expected = GroupTally(
        group="ü", lists=2, candidates=4, results=2, granted=2_000_000, due=1_800_000, clicks=1
    )
    assert ours == expected, "exposure is summed by group"
    assert (others.group, others.results, others.clicks) == ("others", 2, 1), "groups come by name"
    assert (ours.lapsed, others.lapsed) == (0, -2), "what lapsed is summed by group"
    assert sums(0.0, 30.0, "other").lists == 0, "rankers are apart"


def test_accounts_are_tallied_in_parts(store: TemporaryStore) -> None:
    """Of equally many lists of one account; parts add up to what is ahead in it."""
    put(store, *(impression(query_id=f"q{n}", at=float(n), parts={"fair": _other(n)}) for n in range(23)))
    put(store, event(event_id="e1", list_seq=2, position=2))
    lists = list(read_fair_lists(store, "shop", since=0.0, until=23.0))
    second = [each for each in lists if each[1].account == 2]
    parts = sum_exposure_in_parts(second, 3, 1)
    assert [(each.start, each.lists) for each in parts] == [(1.0, 4), (9.0, 4), (17.0, 3)], "parts of lists"
    changes = {(n, each.group): each for n, part in enumerate(parts) for each in part.groups}
    for total in read_account(store.read_totals("shop"), 2):
        mine = [each for (_, group), each in changes.items() if group == total.group]
        change = sum(each.granted - each.due - each.lapsed for each in mine)
        assert change == total.ahead, "parts add up to the account"
    assert [sum(each.clicks for each in part.groups) for part in parts] == [1, 0, 0], "clicks of a part"
    assert len(sum_exposure_in_parts(second, 9, 5)) == 2, "no part is too small"
    assert sum_exposure_in_parts([], 3, 1) == [], "nothing has no parts"


def _other(number: int) -> FairPart:
    """Another exposure for each list: two accounts, three groups."""
    groups = ("a", "b") if number % 3 else ("b", "others")
    return structs.replace(
        EXPOSURE, account=1 + number % 2, groups=groups, granted=(number, 7 * number), due=(3, 4)
    )
