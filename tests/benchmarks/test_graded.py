"""The benchmark of graded policies measures what it says."""

from __future__ import annotations

import pytest

from benchmarks import graded


@pytest.mark.parametrize("name", graded.GRADED)
def test_every_graded_policy_is_measured_and_learns_nothing_for_the_next(name: str) -> None:
    row = graded.result(name, blocks=1, rounds=5)
    assert row["total_us"] == pytest.approx(row["rank_us"] + row["learn_us"])  # type: ignore[operator]
    assert not graded.GRADED[name][0].state()["parameters"].size
