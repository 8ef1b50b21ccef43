"""Expected reciprocal rank, against a slow reading of its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import SettingError
from rankloop.metrics import ERR


def slow_err(grades: list[int], *, k: int, max_grade: int) -> float:
    """Follow the user down the list and write down where they stop."""
    expected, still_reading = 0.0, 1.0
    for rank, grade in enumerate(grades[:k], start=1):
        satisfied = (2**grade - 1) / 2**max_grade
        expected += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return expected


@given(
    grades=st.lists(st.integers(0, 3), min_size=1, max_size=20), k=st.integers(1, 25), extra=st.integers(0, 2)
)
def test_it_follows_the_user_down_the_list(grades: list[int], k: int, extra: int) -> None:
    metric = ERR(k=k, max_grade=3 + extra)
    expected = slow_err(grades, k=k, max_grade=3 + extra)
    assert metric(np.arange(len(grades)), np.array(grades)) == pytest.approx(expected, abs=1e-12)


def test_a_perfect_first_document_nearly_always_satisfies() -> None:
    assert ERR(k=1)(np.array([0]), np.array([4])) == 15 / 16


def test_a_grade_above_the_scale_is_refused() -> None:
    with pytest.raises(SettingError, match="expected grades up to 2, found 4; set max_grade"):
        ERR(max_grade=2)(np.array([0]), np.array([4]))
