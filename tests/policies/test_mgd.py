"""DBGD and MGD move exactly where their papers say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.exploration import draw_by_score
from rankloop.interleaving import Probabilistic, TeamDraft
from rankloop.policies import DBGD, MGD
from rankloop.policies.dueling.mgd import unit_directions
from rankloop.types import Feedback, Query, Ranking

QUERY = Query("q", np.random.default_rng(0).random((6, 3)))
DIRECTIONS = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])


def shown(owners: Sequence[Sequence[float]]) -> Ranking:
    return Ranking(QUERY, np.array([0, 1, 2]), {"owners": np.array(owners), "directions": DIRECTIONS})


def test_the_step_is_the_mean_of_the_winners() -> None:
    policy = MGD(candidates=3, step=0.6)
    owners: list[list[float]] = [
        [1.0, 0, 0],
        [0, 1.0, 0],
        [0, 0, 0],
        [0, 0, 1.0],
    ]  # the second candidate owns nothing
    policy.learn(Feedback(shown(owners), np.array([False, True, True])))
    np.testing.assert_allclose(policy.parameters, [0.3, 0, 0.3])


def test_a_draw_changes_nothing() -> None:
    policy = MGD(candidates=3)
    owners: list[list[float]] = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 0], [0, 0, 1.0]]
    policy.learn(Feedback(shown(owners), np.array([True, True, False])))
    policy.learn(Feedback(shown(owners), np.zeros(3, dtype=bool)))
    assert policy.parameters.size == 0
    assert policy.updates == 0


def test_half_owned_clicks_count_half() -> None:
    policy = MGD(candidates=3, step=1.0)
    owners: list[list[float]] = [[0.4, 0, 0], [0.6, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]]
    policy.learn(Feedback(shown(owners), np.array([True, False, False])))
    np.testing.assert_allclose(policy.parameters, [1, 0, 0])


def test_the_step_decays_only_with_updates() -> None:
    policy = MGD(candidates=3, step=1.0, decay=0.5)
    owners: list[list[float]] = [[0.0, 0, 0], [1.0, 1.0, 1.0], [0, 0, 0], [0, 0, 0]]
    clicks = np.array([True, False, False])
    for clicked in (clicks, ~clicks & False, clicks):
        policy.learn(Feedback(shown(owners), clicked))
    np.testing.assert_allclose(policy.parameters, [1.5, 0, 0])


@pytest.mark.parametrize("interleaving", [TeamDraft(), Probabilistic()], ids=repr)
def test_dbgd_is_mgd_with_one_candidate(interleaving: TeamDraft | Probabilistic) -> None:
    one, many = (
        DBGD(interleaving=interleaving),
        MGD(candidates=1, decay=DBGD.decay, interleaving=interleaving),
    )
    for seed in range(20):
        clicks = np.random.default_rng(seed).random(5) < 0.5
        for policy in (one, many):
            ranking = policy.rank(QUERY, k=5, rng=np.random.default_rng(seed))
            policy.learn(Feedback(ranking, clicks))
        np.testing.assert_array_equal(one.parameters, many.parameters)
    assert one.updates > 0


def test_candidates_are_as_far_away_as_asked() -> None:
    ranking = MGD(candidates=5, radius=0.3).rank(QUERY, k=3, rng=np.random.default_rng(0))
    assert ranking.evidence["directions"].shape == (5, 3)
    np.testing.assert_allclose(np.linalg.norm(ranking.evidence["directions"], axis=1), 1)


def test_directions_are_uniform_on_the_sphere() -> None:
    directions = unit_directions(20_000, 4, np.random.default_rng(0))
    np.testing.assert_allclose(directions.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(directions.T @ directions / len(directions), np.eye(4) / 4, atol=0.02)


@given(seed=st.integers(0, 2**32), candidates=st.integers(1, 9), radius=st.sampled_from([0.1, 1.0, 3.0]))
def test_rounds_have_the_bits_of_clear_ones(seed: int, candidates: int, radius: float) -> None:
    """Slow and clear: stacked rankers, `norm` and `mean`, whatever they cost."""
    policy, rng, twin = MGD(candidates=candidates, radius=radius), *map(np.random.default_rng, (seed, seed))
    features, weights = np.random.default_rng(seed).normal(size=(20, 12)).astype(np.float32), np.zeros(12)
    for _ in range(3):
        ranking = policy.rank(Query("q", features), k=6, rng=rng)
        drawn = twin.standard_normal((candidates, 12))
        directions = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        rankers = np.vstack((weights, weights + radius * directions)).astype(np.float32)
        shown = TeamDraft().combine(draw_by_score(rankers @ features.T, 20, twin), k=6, rng=twin)
        assert ranking.order.tolist() == shown.order.tolist()
        assert ranking.evidence["directions"].tobytes() == directions.tobytes()
        policy.learn(Feedback(ranking, np.arange(6) % 2 == 0))
        earned = shown.owners[:, ::2].sum(axis=1)
        if (winners := earned[1:] > earned[0]).any():
            weights = weights + policy.step * directions[winners].mean(axis=0)
            assert policy.parameters.tobytes() == weights.tobytes()
