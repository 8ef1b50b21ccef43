"""The AUC loss equals the sum over all pairs, and its fits are where nothing can be gained."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from rankloop.learning.auc import auc_loss, fit_auc
from rankloop.learning.click_regression import fit_clicks
from rankloop.learning.forest import classifier, grow
from rankloop.learning.rows import keep_rows
from rankloop.learning.thresholds import find_best_f1, fit_platt
from rankloop.types import BoolArray, FloatArray

SEEDS = st.integers(0, 2**32 - 1)


def every_pair(positive: FloatArray, negative: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """The loss and its slopes, pair by pair."""
    loss, up, down = 0.0, np.zeros(positive.size), np.zeros(negative.size)
    for i, above in enumerate(positive):
        for j, below in enumerate(negative):
            loss += float(np.logaddexp(0.0, below - above))
            up[i] -= expit(below - above)
            down[j] += expit(below - above)
    pairs = positive.size * negative.size
    return loss / pairs, up / pairs, down / pairs


@given(SEEDS, st.integers(1, 40), st.integers(1, 40), st.sampled_from([1e-3, 1.0, 9.0, 60.0, 2000.0]))
@settings(max_examples=60, deadline=None)
def test_the_loss_and_its_slopes_are_those_of_all_pairs(seed: int, p: int, n: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    positive, negative = rng.normal(scale=scale, size=p), rng.normal(scale=scale, size=n)
    expected, found = every_pair(positive, negative), auc_loss(positive, negative)
    assert found[0] == pytest.approx(expected[0], rel=1e-10)
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-10, atol=1e-12)


def test_tiles_do_not_show() -> None:
    rng = np.random.default_rng(0)
    positive, negative = rng.normal(size=37), rng.normal(size=9001)
    behind = np.subtract.outer(-positive, -negative)
    loss, up, down = auc_loss(positive, negative)
    assert loss == pytest.approx(np.logaddexp(0, behind).mean(), rel=1e-12)
    np.testing.assert_allclose(up, -expit(behind).mean(axis=1) / 37, rtol=1e-10)
    np.testing.assert_allclose(down, expit(behind).mean(axis=0) / 9001, rtol=1e-10)


def test_memory_is_linear_in_the_rows() -> None:
    rng = np.random.default_rng(1)
    positive, negative = rng.normal(size=(200, 5)), rng.normal(size=(20_000, 5))
    tracemalloc.start()
    fit_auc(positive, negative, 0.1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 200 * 20_000 / 8  # an eighth of one matrix of pairs


@given(SEEDS, st.sampled_from([0.01, 0.1, 1.0]))
@settings(max_examples=20, deadline=None)
def test_no_weights_nearby_are_better(seed: int, regularisation: float) -> None:
    rng = np.random.default_rng(seed)
    positive, negative = rng.normal(0.5, size=(7, 3)), rng.normal(size=(30, 3))

    def objective(weights: FloatArray) -> float:
        loss = auc_loss(positive @ weights, negative @ weights)[0]
        return loss + regularisation / 2 * float(weights @ weights)

    found = fit_auc(positive, negative, regularisation)
    around = found + rng.normal(scale=0.05, size=(50, 3))
    assert objective(found) <= min(map(objective, around)) + 1e-9
    again = fit_auc(positive, negative, regularisation, rng.normal(size=3))
    np.testing.assert_allclose(again, found, atol=2e-3)  # one minimum, from wherever one starts


@given(SEEDS, st.integers(2, 25))
@settings(max_examples=60, deadline=None)
def test_the_threshold_has_the_best_f1_of_all_cuts(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, size=n).astype(np.float64)
    clicks: BoolArray = rng.random(n) < 0.4
    clicks[:2] = True, False

    def f1(taken: BoolArray) -> float:
        hits = int((taken & clicks).sum())
        return 2 * hits / (int(taken.sum()) + int(clicks.sum()))

    slope, offset = find_best_f1(scores, clicks)
    taken = scores >= offset
    assert slope == 1.0
    assert f1(taken) == max(f1(scores >= cut) for cut in scores)
    if not taken.all():
        assert offset == (scores[taken].min() + scores[~taken].max()) / 2


def test_platt_finds_the_odds_that_made_the_clicks() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(2.0, 3.0, size=40_000)
    slope, offset = fit_platt(scores, rng.random(scores.size) < expit(0.8 * scores - 3.0))
    assert slope == pytest.approx(0.8, abs=0.03)
    assert offset == pytest.approx(3.0, abs=0.1)
    flat, odds = fit_platt(np.zeros(4), np.array([True, False, False, False]))
    assert (flat, round(-odds, 6)) == (0.0, round(float(np.log(2 / 4)), 6))


def test_a_logistic_regression_leaves_no_slope_and_does_not_hold_its_intercept_back() -> None:
    rng = np.random.default_rng(4)
    rows = rng.random((300, 4))
    clicks = rng.random(300) < expit(3 * rows[:, 0] - 4)
    line = fit_clicks(rows, clicks, 0.05)
    errors = expit(line[0] + rows @ line[1:]) - clicks
    assert abs(errors.mean()) < 1e-5
    np.testing.assert_allclose(errors @ rows / 300, -0.05 * line[1:], atol=1e-5)


def test_a_forest_of_arrays_says_what_scikit_learn_says() -> None:
    rng = np.random.default_rng(5)
    rows = np.hstack((rng.random((80, 3)), np.full((80, 1), 0.5), rng.random((80, 1))))  # one says nothing
    clicks = rows[:, 0] + rows[:, 4] > 1.0
    forest = grow(rows, clicks, trees=30, seed=2)
    reference = classifier(rows[:, [0, 1, 2, 4]], clicks, trees=30, seed=2)
    asked = rng.random((40, 5))
    expected = reference.predict_proba(asked[:, [0, 1, 2, 4]])[:, 1]
    np.testing.assert_allclose([forest.chances(row).mean() for row in asked], expected, atol=1e-12)


@pytest.mark.parametrize("huge", [1e40, 1e100])
def test_a_forest_takes_numbers_that_its_trees_cannot_hold(huge: float) -> None:
    rows = np.linspace(-1.0, 1.0, 90)[:, None]
    rows[:3], rows[-3:] = -huge, huge
    forest = grow(rows, rows[:, 0] > 0, trees=10, seed=0)
    asked = np.array([-huge, -0.9, 0.9, huge])
    found = [forest.chances(np.array([each])).mean() for each in asked]
    np.testing.assert_array_equal(found, asked > 0)
    same = grow(np.array([[huge], [2 * huge]] * 5), np.arange(10) < 5, trees=3, seed=0)
    assert same.chances(np.array([huge])).tolist() == [0.5] * 3


@given(st.lists(st.integers(1, 9), max_size=8), st.integers(1, 6))
def test_the_last_rows_are_kept(sizes: list[int], limit: int) -> None:
    memory, log = np.zeros(0), np.arange(sum(sizes), dtype=np.float64)
    count = 0
    for size in sizes:
        memory = keep_rows(memory, count, log[count : count + size], limit)
        count += size
    assert len(memory) <= limit
    assert sorted(memory[: min(count, limit)]) == log[max(count - limit, 0) :].tolist()
