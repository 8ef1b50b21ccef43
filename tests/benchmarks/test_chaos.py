"""Replicas, learner and database are killed, a cable is cut, one clock is wrong: every promise is kept."""

from __future__ import annotations

import pytest

from benchmarks.chaos import run
from benchmarks.chaos.run import chaos
from tests.support.postgres import Unavailable


def test_whatever_dies_nothing_acknowledged_is_lost_and_everybody_knows_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "CUT", 6.0)
    monkeypatch.setattr(run, "REPLAYED", 10)
    try:
        found = chaos(kills=3, cuts=1, seed=5, pause=0.4)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert not found.broken(durable=True)
    assert found.total(lambda each: each.acknowledged) > 10
    assert found.total(lambda each: each.lists) > 10
    assert sum(found.deeds.values()) == 4
    assert len(found.known) == 5  # three replicas, a start from a snapshot, a fold from nothing
    assert found.skew < 60
