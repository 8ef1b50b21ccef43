"""Killed a few times, also in the middle of jobs: nothing acknowledged is lost, and jobs are gone on with."""

from __future__ import annotations

from pathlib import Path

from benchmarks.kills import suffer


def test_what_was_acknowledged_outlives_kills_and_the_weights_are_those_of_the_log(tmp_path: Path) -> None:
    found = suffer(tmp_path / "data", kills=3, lists=200, seed=1, seconds=15.0)
    assert found.well, "\n".join(found.lines())
    assert found.kills
    assert found.acknowledged
