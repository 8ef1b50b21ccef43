"""Pairwise regret, against a slow count of all pairs."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from rankloop.metrics import PairwiseRegret


def slow_regret(order: list[int], grades: list[int]) -> int:
    """Look at every pair of documents of which at least one was shown."""
    position = {row: rank for rank, row in enumerate(order)}
    wrong = 0
    for better in range(len(grades)):
        for worse in range(len(grades)):
            shown_above = worse in position and position[worse] < position.get(better, len(grades))
            wrong += grades[better] > grades[worse] and shown_above
    return wrong


@given(grades=st.lists(st.integers(0, 4), min_size=1, max_size=12), k=st.integers(0, 12), rng=st.randoms())
def test_it_counts_the_pairs_the_list_has_wrong(grades: list[int], k: int, rng: Random) -> None:
    order = list(range(len(grades)))
    rng.shuffle(order)
    shown = order[:k]
    order_shown = np.array(shown, dtype=np.int64)
    assert PairwiseRegret()(order_shown, np.array(grades)) == slow_regret(shown, grades)


@given(grades=st.permutations(range(8)))
def test_on_a_whole_list_without_equal_grades_it_is_kendalls_tau(grades: list[int]) -> None:
    pairs = 8 * 7 / 2
    tau = kendalltau(-np.arange(8), grades).statistic
    assert PairwiseRegret()(np.arange(8), np.array(grades)) == pytest.approx((1 - tau) / 2 * pairs)


def test_the_ideal_list_has_no_regret_and_lower_is_better() -> None:
    assert PairwiseRegret()(np.array([2, 0]), np.array([1, 0, 2])) == 0.0
    assert not PairwiseRegret().higher_is_better
