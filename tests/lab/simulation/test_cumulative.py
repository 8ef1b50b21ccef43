"""Discounted running sums, from their formula."""

from __future__ import annotations

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.lab.simulation.cumulative import discounted_cumulative


def test_every_sum_is_that_of_the_formula() -> None:
    values = np.random.default_rng(5).random(50)
    expected = [sum(0.9**t * values[t] for t in range(end)) for end in range(1, 51)]
    np.testing.assert_allclose(discounted_cumulative(values, discount=0.9), expected)


def test_perfect_lists_approach_but_never_reach_the_limit() -> None:
    total = discounted_cumulative(np.ones(20_000))
    assert total[-1] == pytest.approx((1 - 0.9995**20_000) / (1 - 0.9995))


def test_no_rounds_have_no_sums() -> None:
    assert discounted_cumulative(np.array([])).tolist() == []


@pytest.mark.parametrize("discount", [0.0, -1.0, 1.5, float("nan")])
def test_a_discount_that_is_none_is_refused(discount: float) -> None:
    with pytest.raises(SettingError, match="at most 1"):
        discounted_cumulative(np.ones(2), discount=discount)
