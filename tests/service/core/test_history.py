"""History: past models come one beside the other, and decisions are read once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from rankloop.service.core.fold import Fold
from rankloop.service.core.history import History
from rankloop.service.store import Decision, Logged, Store, open_temporary_store
from tests.support.life import SHORT, Clock, live, make


@pytest.fixture
def store() -> Store:
    """A log of thirty lists."""
    store, clock = open_temporary_store(), Clock()
    service = make(store, clock)
    service.create("shop", SHORT)
    live(service, clock, rounds=30)
    service.flush("shop")
    return store


def test_a_model_far_from_a_snapshot_keeps_no_other_waiting(store: Store) -> None:
    service = make(store)
    known = service.ranker("shop").history
    begun, released, slow = threading.Event(), threading.Event(), list[int]()

    def apply(fold: Fold, entry: Logged) -> None:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            released.wait(60)  # a failing test must not hold the suite
        fold.apply(entry)

    given = "shop", store, known.registry, known.policy_kinds
    history = History(*given, apply=apply, uses_snapshots=False)
    last = service.model("shop").version
    thread = threading.Thread(target=lambda: slow.append(history.model(last).version))
    thread.start()
    assert begun.wait(60)
    found = history.model(last).version
    assert not slow  # the other thread would have come first, if one waited for the other
    released.set()
    thread.join(60)
    assert [found] == slow == [last]


def test_decisions_are_read_once_and_then_only_those_that_came_since(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = make(store)
    ranker = service.ranker("shop")
    history = History("shop", store, ranker.history.registry, ranker.history.policy_kinds)
    read, usual = list[int](), store.read_decisions

    def counted(ranker: str, **options: Any) -> Sequence[Decision]:
        found = usual(ranker, **options)
        if options.get("until") is None:  # otherwise they are read as entries of the log
            read.append(len(found))
        return found

    monkeypatch.setattr(store, "read_decisions", counted)
    decisions = len(usual("shop"))
    for version in (1, ranker.view.model.version, 5):
        history.model(version)
    assert sum(read) == decisions
