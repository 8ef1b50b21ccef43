"""SLAM: its loss bounds that of the measure, its fast gradient is the slow one, and its losses end."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError
from rankloop.lab.data import make_dataset
from rankloop.lab.users import LabelJudge
from rankloop.learning.graded_hinge import Weigh, listwise_hinge
from rankloop.learning.measure_weights import APWeights, ListWeights, NDCGWeights
from rankloop.metrics import AP, NDCG, Metric
from rankloop.policies import Slam
from rankloop.query_set import QuerySet
from rankloop.types import Feedback, FloatArray, IntArray, Query, Ranking

MEASURES: list[tuple[ListWeights, Metric]] = [
    (NDCGWeights(None), NDCG(k=100)),
    (NDCGWeights(3), NDCG(k=3)),
    (NDCGWeights(1), NDCG(k=1)),
    (APWeights(), AP()),
]
lists = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=1, max_size=8)
distinct = st.lists(
    st.tuples(st.integers(0, 4), st.floats(-2, 2)), min_size=1, max_size=8, unique_by=lambda pair: pair[1]
)
measured = pytest.mark.parametrize(("weights", "metric"), MEASURES, ids=repr)


def arrays(drawn: list[tuple[int, float]]) -> tuple[IntArray, FloatArray]:
    return np.array([grade for grade, _ in drawn]), np.array([score for _, score in drawn], dtype=float)


def by_document(scores: FloatArray, grades: FloatArray, weigh: Weigh) -> FloatArray:
    """What each document counts, in the order of the input."""
    ideal = sorted(range(scores.size), key=lambda row: (-grades[row], -scores[row], row))
    weights = np.zeros(scores.size)
    weights[ideal] = weigh(grades[ideal])
    return weights


def slow(scores: FloatArray, grades: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """The loss and its subgradient as the formula says, pair by pair."""
    loss, slope = 0.0, np.zeros(scores.size)
    for i in range(scores.size):
        worse = [j for j in range(scores.size) if grades[j] < grades[i]]
        if not worse:
            continue
        rival = max(worse, key=lambda j: scores[j])
        hinge = 1 + scores[rival] - scores[i]
        if hinge > 0:
            loss += weights[i] * hinge
            slope[i] -= weights[i]
            slope[rival] += weights[i]
    return loss, slope


@measured
@given(drawn=distinct)
def test_the_fast_gradient_is_the_slow_one(
    weights: ListWeights, metric: Metric, drawn: list[tuple[int, float]]
) -> None:
    grades, scores = arrays(drawn)
    levels = weights.levels(grades.astype(float))
    loss, slope = listwise_hinge(scores, levels, weights.shares)
    expected, direction = slow(scores, levels, by_document(scores, levels, weights.shares))
    assert loss == pytest.approx(expected)
    np.testing.assert_allclose(slope, direction, atol=1e-12)


@measured
@given(drawn=lists, other=st.integers(0, 2**32))
def test_with_ties_it_is_a_subgradient_of_length_two_at_most(
    weights: ListWeights, metric: Metric, drawn: list[tuple[int, float]], other: int
) -> None:
    grades, scores = arrays(drawn)
    levels = weights.levels(grades.astype(float))
    loss, slope = listwise_hinge(scores, levels, weights.shares)
    fixed = by_document(scores, levels, weights.shares)
    elsewhere = scores + np.random.default_rng(other).normal(size=scores.size)
    there, _ = slow(elsewhere, levels, fixed)
    assert there >= loss + slope @ (elsewhere - scores) - 1e-9
    assert np.abs(slope).sum() <= 2 + 1e-12
    assert slope.sum() == pytest.approx(0)
    assert fixed.sum() == pytest.approx(1 if levels.any() else 0)


@measured
@given(drawn=lists)
def test_the_loss_is_never_below_that_of_the_measure_whatever_the_order_of_ties(
    weights: ListWeights, metric: Metric, drawn: list[tuple[int, float]]
) -> None:
    grades, scores = arrays(drawn)
    if not grades.any():
        return
    worst = np.lexsort((grades, -scores))
    loss, _ = listwise_hinge(scores, weights.levels(grades.astype(float)), weights.shares)
    assert loss >= 1 - metric(worst, grades) - 1e-12


@measured
@given(shown=st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_a_mistake_is_what_the_measure_counts_as_one(
    weights: ListWeights, metric: Metric, shown: list[int]
) -> None:
    grades = np.array(shown)
    best = metric(np.argsort(-grades, kind="stable"), grades)
    loss = best - metric(np.arange(grades.size), grades)
    assert weights.has_mistake(weights.levels(grades.astype(float))) is (loss > 1e-9)


@measured
def test_on_a_mistake_the_gradient_is_bounded_by_the_loss(weights: ListWeights, metric: Metric) -> None:
    rng, mistakes = np.random.default_rng(0), 0
    for _ in range(500):
        features, ranker = rng.normal(size=(rng.integers(2, 9), 4)), rng.normal(size=4)
        grades = weights.levels(rng.integers(0, 5, size=len(features)).astype(float))
        scores = features @ ranker
        if not weights.has_mistake(grades[np.argsort(-scores)]):
            continue
        mistakes += 1
        loss, slope = listwise_hinge(scores, grades, weights.shares)
        counted = by_document(scores, grades, weights.shares)
        counted = counted[counted > 0]
        longest = np.square(features).sum(axis=1).max()
        limit = 4 * longest * counted.size * counted.max() / counted.min() * loss
        assert np.square(slope @ features).sum() <= limit + 1e-9
    assert mistakes > 100


def largest_ratio(world: QuerySet, weights: ListWeights) -> float:
    """How many times the smallest positive weight of a list the largest is, at most."""
    ratios = []
    for judged in world:
        levels = -np.sort(-weights.levels(judged.relevance.astype(float)))
        counted = weights.shares(levels)
        ratios.append(counted.max() / counted[counted > 0].min() if counted.any() else 1.0)
    return max(ratios)


@pytest.mark.parametrize(
    ("weights", "metric", "documents", "grades", "counted"),
    [
        (NDCGWeights(1), NDCG(k=1), 2, 2, 1),
        (NDCGWeights(1), NDCG(k=1), 6, 3, 1),
        (NDCGWeights(None), NDCG(k=100), 4, 2, 4),
        (APWeights(), AP(), 4, 2, 4),
    ],
    ids=repr,
)
def test_on_separable_lists_the_sum_of_all_losses_is_bounded(
    weights: ListWeights, metric: Metric, documents: int, grades: int, counted: int
) -> None:
    margin = 0.25
    lengths = {"min_documents": documents, "max_documents": documents}
    world = make_dataset("separable", queries=2000, grades=grades, margin=margin, **lengths).train
    longest = float(np.square(world.features).sum(axis=1).max())
    steepness = 4 * counted * longest * largest_ratio(world, weights)
    policy, rng, lost = make_slam(weights), np.random.default_rng(0), 0.0
    policy.learning_rate = 1 / steepness
    mistakes = 0
    for judged in world:
        ranking = policy.rank(judged.query, k=documents, rng=rng)
        if judged.relevance.any():
            lost += 1 - metric(ranking.order, judged.relevance)
            mistakes += metric(ranking.order, judged.relevance) < 1 - 1e-12
        policy.learn(LabelJudge().respond(ranking, judged.relevance, rng))
    assert mistakes > 3
    assert lost <= steepness / margin**2 < 2000  # less than all: the bound says something


def make_slam(weights: ListWeights) -> Slam:
    return Slam(k=weights.k) if isinstance(weights, NDCGWeights) else Slam(measure="ap")


def taught(policy: Slam, grades: list[float], *, known: list[bool] | None = None) -> Slam:
    shown = Ranking(Query("q", np.eye(len(grades))), np.arange(len(grades)))
    mask = None if known is None else np.array(known)
    policy.learn(Feedback(shown, np.array(grades), mask, "grades"))
    return policy


@pytest.mark.parametrize("grades", [[1, 1, 1], [0, 0], [3], [2, 1, 0], [-2, -1]])
def test_where_nothing_is_wrong_nothing_is_changed(grades: list[float]) -> None:
    for weights, _ in MEASURES:
        assert not taught(make_slam(weights), grades).parameters.any()


def test_a_mistake_below_the_cutoff_is_none() -> None:
    assert not taught(Slam(k=1), [2, 0, 1]).parameters.any()
    assert taught(Slam(k=2), [2, 0, 1]).parameters.any()


def test_what_is_not_known_neither_wins_nor_loses() -> None:
    policy = taught(Slam(), [0, 9, 1, 0], known=[True, False, True, False])
    assert policy.parameters.tolist() == [-0.1, 0, 0.1, 0]


def test_grades_whose_gain_is_no_number_are_refused() -> None:
    with pytest.raises(RankingError, match="grades of up to 1000 can be learned from"):
        taught(Slam(), [0, 2000])


def test_the_order_of_a_tie_matters_to_the_weights_but_never_breaks_the_bound() -> None:
    """By score is the order with the smallest loss; any order of equal grades bounds the measure."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        grades, scores = rng.integers(0, 3, size=5), rng.normal(size=5)
        if not grades.any():
            continue
        loss, _ = listwise_hinge(scores, grades.astype(float), NDCGWeights(None).shares)
        shares = NDCGWeights(None).shares(-np.sort(-grades.astype(float)))
        for order in itertools.permutations(range(5)):
            if (np.diff(grades[list(order)]) > 0).any():
                continue
            weights = np.zeros(5)
            weights[list(order)] = shares
            other, _ = slow(scores, grades.astype(float), weights)
            assert other >= loss - 1e-12
            assert other >= 1 - NDCG(k=5)(np.argsort(-scores), grades) - 1e-12
