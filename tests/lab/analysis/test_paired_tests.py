"""Intervals, paired tests and Holm's correction, against SciPy and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankloop.lab.analysis.paired_tests import correct_holm, mean_interval, paired_p_value

A = [0.61, 0.58, 0.66, 0.6]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_the_definition(p_values: list[float]) -> None:
    corrected = correct_holm(np.array(p_values))
    ranked = sorted(p_values)
    for p_value, value in zip(p_values, corrected, strict=True):
        last = max(i for i, other in enumerate(ranked) if other == p_value)
        assert value == min(1.0, max((len(ranked) - i) * ranked[i] for i in range(last + 1)))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=12).filter(
        lambda pairs: np.std([a - b for a, b in pairs]) > 1e-6
    )
)
def test_the_paired_test_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = ({("1", seed): pair[side] for seed, pair in enumerate(pairs)} for side in (0, 1))
    expected = stats.ttest_rel(list(first.values()), list(second.values())).pvalue
    assert paired_p_value(first, second) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_rounding_is_not_a_difference() -> None:
    first, second = ({("1", seed): value for seed, value in enumerate(values)} for values in (A, A))
    assert paired_p_value(first, {run: value * (1 + 1e-15) for run, value in second.items()}) == 1.0


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12))
def test_the_interval_is_that_of_scipy(values: list[float]) -> None:
    found = mean_interval({("1", seed): value for seed, value in enumerate(values)})
    half = stats.sem(values) * stats.t.ppf(0.975, len(values) - 1)
    assert found == pytest.approx(
        (np.mean(values), np.mean(values) - half, np.mean(values) + half, half), abs=1e-9
    )


def test_runs_without_a_partner_are_not_tested() -> None:
    assert paired_p_value({("1", 0): 0.5, ("1", 1): 0.6}, {("2", 0): 0.5, ("1", 1): 0.4}) is None
