"""The simulated day: a queue as its recursion says, and more writers for more lists."""

from __future__ import annotations

import numpy as np

from benchmarks.scale import CLICKS, DAY, Constants, column, curve, day

SOME = Constants(4000, 400, 4000, 700, 1000, 5000, 0.0001, 0.001, 0.0003)


def test_a_day_is_the_recursion_of_its_queue() -> None:
    lists, shards = 1.2e8, 2
    rng = np.random.default_rng(0)
    rates = lists / DAY / shards * curve()
    work = rng.poisson(rates) / SOME.lists_written
    work = work + rng.poisson(rates * CLICKS) / SOME.clicks_written
    waiting, worst = 0.0, 0.0
    for arrived in work.tolist():
        waiting = max(0.0, waiting + arrived - 1)
        worst = max(worst, waiting)
    assert worst > 0
    assert np.isclose(day(SOME, lists, shards).worst, worst)


def test_ten_times_the_lists_need_about_ten_times_the_writers() -> None:
    few, many = (int(column(SOME, lists)["databases, one writer each"]) for lists in (1e8, 1e9))
    assert 9 * few <= many + 9
    assert many > few
