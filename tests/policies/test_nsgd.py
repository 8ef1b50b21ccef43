"""NSGD explores where it has not lost, and lets difficult lists decide."""

from __future__ import annotations

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.learning.difficult_lists import quality, remember
from rankloop.policies import NSGD
from rankloop.types import Feedback, FloatArray, Query, Ranking

QUERY = Query("q", np.random.default_rng(0).random((10, 30)))


def to_current(ranking: Ranking) -> Feedback:
    """All clicks on the results of the current ranker: every candidate loses."""
    return Feedback(ranking, ranking.evidence["owners"][0] > 0)


def duel(directions: FloatArray, owners: FloatArray, query: Query) -> Ranking:
    return Ranking(query, np.arange(owners.shape[1]), {"owners": owners, "directions": directions})


# Where it explores


def test_directions_that_lost_are_not_tried_again() -> None:
    policy = NSGD(candidates=4)
    lost = []
    for seed in range(3):
        shown = policy.rank(QUERY, k=10, rng=np.random.default_rng(seed))
        lost.append(shown.evidence["directions"])
        policy.learn(to_current(shown))
    again = policy.rank(QUERY, k=10, rng=np.random.default_rng(9)).evidence["directions"]
    np.testing.assert_allclose(again @ np.vstack(lost).T, 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(again, axis=1), 1)


def test_the_worst_of_the_latest_losers_are_avoided() -> None:
    policy = NSGD(candidates=2, proposals=2, window=3, avoid=2)
    directions = np.eye(6)[:2]
    for losses in (
        [3, 1],
        [1, 2],
    ):  # newest first: e2 lost by 2, e1 by 1, then e1 by 3; the fourth is forgotten
        owners = np.vstack(([3.0] * 1, [[3.0 - loss] for loss in losses]))
        policy.learn(Feedback(duel(directions, owners, Query("q", np.ones((1, 6)))), np.ones(1, dtype=bool)))
        directions = directions + np.eye(6)[2:4]
    assert policy.losses.tolist() == [-1, -2, -3]
    proposed = policy.draw_directions(np.ones((1, 6)), np.random.default_rng(0))
    inner = proposed @ policy.losers.T
    np.testing.assert_allclose(inner[:, 1:], 0, atol=1e-12)  # lost by 2 and by 3
    assert (np.abs(inner[:, 0]) > 1e-3).all()  # lost by 1


def test_at_least_half_of_the_dimensions_stay_open() -> None:
    policy = NSGD()
    query = Query("q", np.random.default_rng(1).random((10, 4)))
    for seed in range(20):
        policy.learn(to_current(policy.rank(query, k=10, rng=np.random.default_rng(seed))))
    many = np.vstack(
        [policy.draw_directions(query.features, np.random.default_rng(seed)) for seed in range(20)]
    )
    assert len(policy.losers) == 60
    assert np.linalg.matrix_rank(many, tol=1e-9) == 2


def test_proposals_that_move_the_documents_most_are_tried() -> None:
    few, all_of_them = NSGD(candidates=3, proposals=20), NSGD(candidates=20, proposals=20)
    chosen, drawn = (
        policy.draw_directions(QUERY.features, np.random.default_rng(0)) for policy in (few, all_of_them)
    )
    moved = np.abs(drawn @ QUERY.features.mean(axis=0))
    np.testing.assert_array_equal(chosen, drawn[np.argsort(-moved)[:3]])


# Whom it follows


def test_ties_are_broken_on_difficult_lists() -> None:
    """Two candidates tie; the second would have put the late click of an earlier list on top."""
    policy = NSGD(candidates=2, proposals=2, step=1.0)
    hard = Query("hard", np.eye(3))
    policy.learn(Feedback(Ranking(hard, np.arange(3), _nobody()), np.array([False, False, True])))
    directions = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    owners = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    policy.learn(Feedback(duel(directions, owners, Query("q", np.eye(3))), np.array([True, True, False])))
    np.testing.assert_array_equal(policy.parameters, [0, 0, 1])


def test_who_won_clearly_needs_no_tie_break() -> None:
    policy = NSGD(candidates=2, proposals=2, step=1.0)
    hard = Query("hard", np.eye(3))
    policy.learn(Feedback(Ranking(hard, np.arange(3), _nobody()), np.array([False, False, True])))
    directions = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    owners = np.array([[0.0, 0, 0], [1, 0, 1], [0, 1, 0]])  # two clicks against one
    policy.learn(Feedback(duel(directions, owners, Query("q", np.eye(3))), np.ones(3, dtype=bool)))
    np.testing.assert_array_equal(policy.parameters, [1, 0, 0])


def test_without_difficult_lists_the_mean_of_the_tied_is_followed() -> None:
    policy = NSGD(candidates=2, proposals=2, step=1.0, hard=0)
    directions = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    owners = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    policy.learn(Feedback(duel(directions, owners, Query("q", np.eye(3))), np.array([True, True, False])))
    np.testing.assert_array_equal(policy.parameters, [0.5, 0, 0.5])


def _nobody() -> dict[str, FloatArray]:
    return {"owners": np.zeros((3, 3)), "directions": np.zeros((2, 3))}


# Difficult lists


def lists_of(*clicks: tuple[int, ...], most: int = 10, window: int = 50) -> FloatArray:
    """What is remembered of lists of three results with clicks at these positions (from 0)."""
    lists: FloatArray = np.empty((0, 0))
    for number, positions in enumerate(clicks):
        shown = Ranking(Query("q", np.eye(3)), np.arange(3))
        feedback = Feedback(shown, np.isin(np.arange(3), positions))
        lists = remember(lists, feedback, np.eye(3), number, most=most, window=window)
    return lists


def numbers(lists: FloatArray) -> list[int]:
    return sorted({int(number) for number in lists[:, 0]}) if lists.size else []


def test_the_most_difficult_lists_stay() -> None:
    assert numbers(lists_of((0,), (2,), (1,), (1, 2), most=2)) == [1, 2]


def test_of_equally_difficult_lists_the_newer_stay() -> None:
    assert numbers(lists_of((1,), (1,), (1,), most=2)) == [1, 2]


def test_old_lists_and_lists_without_clicks_are_forgotten() -> None:
    assert numbers(lists_of((2,), (0,), (), (), window=3)) == [1]
    assert numbers(lists_of((2,), (), window=1)) == []


def test_quality_is_that_of_a_slow_count() -> None:
    rng = np.random.default_rng(2)
    lists = np.column_stack((np.repeat([3, 5], [4, 6]), rng.random(10) < 0.4, np.zeros(10)))
    scores = rng.integers(5, size=(3, 10)).astype(float)
    expected = np.zeros(3)
    for ranker, row in np.ndindex(3, 10):
        if lists[row, 1]:
            rivals = scores[ranker, lists[:, 0] == lists[row, 0]]
            expected[ranker] += 1 / (1 + (rivals > scores[ranker, row]).sum())
    np.testing.assert_allclose(quality(lists, scores), expected)


def test_fewer_proposals_than_candidates_are_refused() -> None:
    with pytest.raises(SettingError, match="proposals must be at least candidates=9, found 8"):
        NSGD(proposals=8)
