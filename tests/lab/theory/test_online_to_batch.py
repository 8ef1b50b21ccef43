"""Online to batch by enumeration: all short runs over a small world."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankloop.errors import DataError, RankingError
from rankloop.lab.data import take_queries
from rankloop.lab.theory import (
    LinearClass,
    ListNetLoss,
    RankSVMLoss,
    average_iterate,
    bound_ogd_excess,
    compare_bounds,
    find_step_size,
    gradient_descent,
    mean_loss,
    minimise_in_ball,
)
from rankloop.lab.theory.bound_comparison import measure_class
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray

LOSS, ROUNDS, NORM = ListNetLoss(), 4, 2.0


def world(queries: int = 3) -> QuerySet:
    rng = np.random.default_rng(1)
    ids = tuple(map(str, range(queries)))
    offsets = np.arange(queries + 1) * 3
    return QuerySet(rng.normal(size=(3 * queries, 2)), offsets, rng.integers(0, 3, 3 * queries), ids)


def drawn(queries: QuerySet, numbers: tuple[int, ...]) -> QuerySet:
    """The queries of these numbers, one after the other."""
    rows = np.concatenate([np.arange(queries.offsets[i], queries.offsets[i + 1]) for i in numbers])
    offsets = np.append(0, np.cumsum(np.diff(queries.offsets)[list(numbers)]))
    ids = tuple(map(str, range(len(numbers))))
    return QuerySet(queries.features[rows], offsets, queries.relevance[rows], ids)


def all_runs() -> list[tuple[QuerySet, list[FloatArray]]]:
    queries = world()
    ball = LinearClass(
        norm=NORM, radius=measure_class(queries, queries, NORM).radius, queries=ROUNDS, documents=12
    )
    step = find_step_size(ball, LOSS.constants(1.0, 3).lipschitz)
    samples = [drawn(queries, numbers) for numbers in product(range(3), repeat=ROUNDS)]
    return [(sample, list(gradient_descent(LOSS, sample, step=step))) for sample in samples]


def test_every_iterate_is_tried_on_a_query_that_it_does_not_know() -> None:
    """So over all runs its loss there is its loss everywhere; one update later it would not be."""
    queries, runs = world(), all_runs()
    for round_ in range(ROUNDS):
        here = np.mean(
            [mean_loss(LOSS, w[round_], take_queries(sample, round_, round_ + 1)) for sample, w in runs]
        )
        everywhere = np.mean([mean_loss(LOSS, w[round_], queries) for _, w in runs])
        assert here == pytest.approx(everywhere)
    late = np.mean([mean_loss(LOSS, w[1], take_queries(sample, 0, 1)) for sample, w in runs])
    assert late < np.mean([mean_loss(LOSS, w[1], queries) for _, w in runs]) - 0.01


def test_the_average_loses_no_more_than_was_lost_on_the_way_and_keeps_its_bound() -> None:
    queries, runs = world(), all_runs()
    averages = [mean_loss(LOSS, average_iterate(w), queries) for _, w in runs]
    way = [
        [mean_loss(LOSS, w[i], take_queries(sample, i, i + 1)) for i in range(ROUNDS)] for sample, w in runs
    ]
    assert np.mean(averages) <= np.mean(way)
    ball = LinearClass(
        norm=NORM, radius=measure_class(queries, queries, NORM).radius, queries=ROUNDS, documents=12
    )
    best = mean_loss(LOSS, minimise_in_ball(LOSS, queries, norm=NORM), queries)
    assert 0 <= np.mean(averages) - best <= bound_ogd_excess(ball, 2.0)


def test_the_average_is_that_of_the_iterates_before_each_update() -> None:
    first, second = (drawn(world(), numbers) for numbers in ((0, 1), (0, 2)))
    averages = [average_iterate(gradient_descent(LOSS, each, step=0.3)) for each in (first, second)]
    np.testing.assert_array_equal(averages[0], averages[1])  # the last query has taught nobody
    after = -0.3 * LOSS.slopes(np.zeros(3), take_queries(first, 0, 1)) @ first.features[:3]
    np.testing.assert_allclose(averages[0], after / 2)
    with pytest.raises(RankingError, match="at least one round"):
        average_iterate([])


@pytest.mark.parametrize("norm", [0.3, 1.0, 50.0])
def test_the_smallest_loss_in_a_ball_is_that_of_a_grid(norm: float) -> None:
    queries = world(6)
    found = minimise_in_ball(LOSS, queries, norm=norm)
    assert np.linalg.norm(found) <= norm
    angles, lengths = np.meshgrid(np.linspace(0, 2 * np.pi, 120), np.linspace(0, min(norm, 4.0), 60))
    grid = np.stack((lengths * np.cos(angles), lengths * np.sin(angles)), axis=-1).reshape(-1, 2)
    assert mean_loss(LOSS, found, queries) <= min(mean_loss(LOSS, w, queries) for w in grid) + 1e-3


def test_what_is_measured_is_far_below_its_bound() -> None:
    queries = world(60)
    for loss in (LOSS, RankSVMLoss()):
        for row in compare_bounds(loss, queries, queries, norm=NORM):
            assert -1e-3 <= row.measured <= row.value <= row.as_printed * (1 + 1e-9)


def test_queries_without_features_have_no_linear_ranker() -> None:
    empty = QuerySet(np.empty((3, 0)), np.array([0, 3]), np.array([0, 1, 0]), ("q",))
    with pytest.raises(DataError, match="these queries have none"):
        measure_class(empty, empty, 1.0)
