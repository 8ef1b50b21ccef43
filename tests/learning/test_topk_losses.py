"""Losses that the top k can teach: what they are the slope of, and how many grades a term needs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rankloop.learning.topk_losses import LOSSES
from rankloop.learning.topk_propensities import TopKPropensities
from rankloop.types import FloatArray

Value: TypeAlias = Callable[[FloatArray, FloatArray], float]


def squared(s: FloatArray, r: FloatArray) -> float:
    return float(((s - r) ** 2).sum())


def unnormalised_kl(s: FloatArray, r: FloatArray) -> float:
    return float((np.exp(s) - np.exp(r / 2) * s).sum())


def hinges(s: FloatArray, r: FloatArray) -> float:
    pairs = permutations(range(len(s)), 2)
    return float(sum(max(0.0, 1 + s[j] - s[i]) for i, j in pairs if r[i] > r[j]))


def minus_smooth_dcg(s: FloatArray, r: FloatArray) -> float:
    lifts = np.exp(s / 0.5)
    return -float((2**r - 1) @ lifts / lifts.sum())


def listnet(s: FloatArray, r: FloatArray) -> float:
    return -float(np.exp(r) / np.exp(r).sum() @ (s - np.log(np.exp(s).sum())))


VALUES: dict[str, Value] = {
    "ranksvm": hinges,
    "squared": squared,
    "observed-squared": squared,
    "unnormalised-kl": unnormalised_kl,
    "smooth-dcg": minus_smooth_dcg,
}
SETTINGS = {"top_grade": 2.0, "smoothing": 0.5}


def slope(value: Value, s: FloatArray, r: FloatArray, h: float = 1e-5) -> FloatArray:
    """By central differences."""
    return np.array([(value(s + step, r) - value(s - step, r)) / (2 * h) for step in h * np.eye(len(s))])


@pytest.mark.parametrize("loss", LOSSES)
def test_with_all_grades_the_estimate_is_the_slope_of_the_loss(loss: str) -> None:
    rng = np.random.default_rng(0)
    for m in (1, 2, 5):
        scores, grades, rows = rng.normal(size=m), rng.integers(3, size=m).astype(float), rng.permutation(m)
        weights = np.ones((m,) * LOSSES[loss].needs)
        given = {name: SETTINGS[name] for name in LOSSES[loss].settings}
        found = LOSSES[loss].estimate(scores, rows, grades[rows], weights, **given)
        assert_allclose(found, slope(VALUES[loss], scores, grades), atol=1e-8)


def mixed(value: Value, together: int) -> float:
    """The largest part of the slope that depends on so many grades at once, by differences over all of them.

    A sum of terms that depend on fewer has none.
    """
    rng, m = np.random.default_rng(1), 4
    scores, largest = rng.normal(size=m), 0.0
    for chosen in combinations(range(m), together):
        total = np.zeros(m)
        for bits in product((0, 1), repeat=together):
            grades = np.zeros(m)
            grades[list(chosen)] = bits
            total += (-1) ** sum(bits) * slope(value, scores, grades)
        largest = max(largest, float(np.abs(total).max()))
    return largest


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_needs_as_many_grades_as_a_term_of_its_slope_depends_on(loss: str) -> None:
    parts = [mixed(VALUES[loss], together) > 1e-6 for together in (1, 2, 3)]
    assert parts == [True, LOSSES[loss].needs == 2, False]


def test_listnet_depends_on_three_grades_at_once() -> None:
    assert mixed(listnet, 3) > 1e-3


@pytest.mark.parametrize("m", range(1, 6))
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_propensities_are_the_frequencies_among_all_lists(m: int, gamma: float) -> None:
    orders = list(permutations(range(m)))
    best = orders[-1]
    chances = [(1 - gamma) * (order == best) + gamma / len(orders) for order in orders]
    assert sum(chances) == pytest.approx(1)
    for k in range(1, m + 1):
        drawn = TopKPropensities(np.array(best[:k]), gamma, m)
        for needs in (1, 2):
            total = 0.0
            for some in combinations(range(m), needs):
                seen = sum(p for p, order in zip(chances, orders, strict=True) if {*some} <= {*order[:k]})
                inside = bool(drawn.in_top(np.array(some)).all())
                found = drawn.greedy(needs) if inside else drawn.chance(needs)
                assert found == pytest.approx(seen, abs=1e-12)
                total += seen
            assert total == pytest.approx(k if needs == 1 else k * (k - 1) / 2)
