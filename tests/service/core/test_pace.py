"""A start that is interrupted goes on where it was, and a ranker that learns nothing is folded once."""

from __future__ import annotations

import pytest

from rankloop.candidate import Candidate
from rankloop.service import UserEvent
from rankloop.service.core import snapshot_timing as pace
from rankloop.service.core.fold import Fold
from rankloop.service.core.ranker import Ranker
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Logged, Store, open_temporary_store, write

MUGS = [Candidate("blue", {"price": 3.0}), Candidate("red", {"price": 1.0})]


def lived(mode: str) -> Store:
    """A log of twenty lists with a click each, and no snapshot."""
    store, moments = open_temporary_store(), iter(range(10**6))
    service = ServiceFacade(store, clock=lambda: float(next(moments)))
    service.create("shop", mode=mode)  # type: ignore[arg-type]
    for _ in range(20):
        shown = service.rank(MUGS, ranker="shop")
        service.record([UserEvent(shown.query_id, "red")])
    service.flush("shop")
    write(store, lambda transaction: transaction.delete_snapshots("shop"))
    return store


def entries_of(monkeypatch: pytest.MonkeyPatch, *, most: int = 10**6) -> list[int]:
    """Counts the entries that are folded; after so many, the process is gone."""
    usual, seen = Fold.is_redefined_by, list[int]()  # with which the folding of an entry begins

    def counted(fold: Fold, entry: Logged) -> bool:
        if len(seen) == most:
            raise KeyboardInterrupt
        seen.append(entry.seq)
        return usual(fold, entry)

    monkeypatch.setattr(Fold, "is_redefined_by", counted)
    return seen


@pytest.mark.parametrize("mode", ["explore", "frozen"])
def test_an_interrupted_start_goes_on_where_it_was(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "LONGEST", 0.0)  # a snapshot after each entry
    monkeypatch.setattr(pace, "DEAREST", 1e9)
    whole = ServiceFacade(store := lived(mode)).model("shop")
    entries = len(list(store.read_entries("shop")))
    write(store, lambda transaction: transaction.delete_snapshots("shop"))
    with monkeypatch.context() as interrupted:
        entries_of(interrupted, most=entries // 2)
        with pytest.raises(KeyboardInterrupt):
            ServiceFacade(store)
    folded = entries_of(monkeypatch)
    again = ServiceFacade(store).model("shop")
    assert len(folded) == entries - entries // 2
    assert (again.version, again.lists) == (whole.version, whole.lists)
    assert all((again.policy.state()[name] == value).all() for name, value in whole.policy.state().items())
    folded.clear()
    ServiceFacade(store)
    assert folded == []


def test_a_ranker_with_nothing_to_do_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    store, now = open_temporary_store(), [0.0]
    service = ServiceFacade(store, clock=lambda: now[0])
    for number in range(20):
        service.create(f"ranker {number}")
    other = ServiceFacade(store, clock=lambda: now[0])
    service.tick()
    asked: list[str] = []
    tick = Ranker.tick

    def noted(self: Ranker, patience: float = 0.0) -> None:
        asked.append(self.name)
        tick(self, patience)

    monkeypatch.setattr(Ranker, "tick", noted)
    service.tick()
    assert asked == []
    shown = other.rank(MUGS, ranker="ranker 7")  # by another process
    other.record([UserEvent(shown.query_id, "red")])
    other.create("ranker 20")
    service.tick()
    assert sorted(set(asked)) == ["ranker 20", "ranker 7"]
    asked.clear()
    now[0] = 601.0  # its window has closed
    service.tick()
    assert asked == ["ranker 7"]
    assert service.model("ranker 7").lists == 1
