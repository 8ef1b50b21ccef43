"""Open lists: those that are due come first, and all of them at once if they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rankloop.candidate import Candidate
from rankloop.policies import PDGD
from rankloop.service import RankerSettings, UserEvent
from rankloop.service.core.open_lists import OpenLists
from rankloop.service.store import Impression, SqliteStore
from tests.support.faults import settle
from tests.support.internals import folded_anew
from tests.support.life import Clock, make, same, state


@given(st.lists(st.integers(0, 20), max_size=40), st.integers(-1, 21), st.integers(0, 10))
def test_the_lists_that_are_due_are_those_that_are_learned_next(
    closing: Sequence[int], until: int, removed: int
) -> None:
    lists = OpenLists()
    for number, closes_at in enumerate(closing):
        lists.open(f"q{number}", number, shown_at=0.0, closes_at=float(closes_at))
    for _ in range(min(removed, len(closing))):
        lists.remove_next()
    due, found = lists.find_due(until), []
    while (name := lists.next_due(until)) is not None:
        found.append(int(name.removeprefix("q")))
        lists.remove_next()
    assert due == found


class CountingStore(SqliteStore):
    """Store that counts the lists that are read one at a time."""

    read_alone = 0

    def find_impression(self, query_id: str) -> Impression | None:
        """Count it, and read it."""
        self.read_alone += 1
        return super().find_impression(query_id)


def test_a_restart_reads_the_lists_that_close_together(tmp_path: Path) -> None:
    clock = Clock()
    with CountingStore(tmp_path / "log.db") as store:
        service = make(store, clock)
        service.create("shop", RankerSettings(policy=PDGD(), window=60.0))
        for number in range(30):
            shown = service.rank([Candidate("a", {"x": 1.0}), Candidate("b", {"x": 2.0})], ranker="shop")
            settle(store)
            service.record([UserEvent(shown.query_id, "b", event_id=f"e{number}")])
            clock.now += 40.0
        service.tick()
        known = state(service)
        store.read_alone = 0
        version, lists, again = folded_anew(service)
        assert store.read_alone <= 1, "the last one closes alone"
        assert (lists, same(known, again)) == (service.health().rankers["shop"].lists, True)
        assert lists >= 28
        assert version == service.health().rankers["shop"].model
