"""Steps of top-k feedback: exploration, weights, and how far to go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError
from rankloop.learning.topk_propensities import TopKPropensities
from rankloop.policies import RTopK
from rankloop.policies.graded.rtopk import within_ball
from rankloop.types import FloatArray, Query

GAMMAS = st.floats(1e-9, 1.0)
PUBLISHED: dict[str, Any] = {"loss": "squared", "steps": "published", "learning_rate": 0.01}


def weights(policy: RTopK, gamma: float) -> tuple[float, float]:
    """What two of four candidates count: one of the greedy top two, and one that only chance can show."""
    drawn = TopKPropensities(np.array([0, 1]), gamma, n_docs=4)
    top, other = policy._weights(np.array([0, 2]), drawn).tolist()
    return top, other


def propensities(gamma: float) -> tuple[float, float]:
    return 1 - gamma + gamma / 2, gamma / 2


def at_round(rounds: int, **settings: Any) -> RTopK:
    policy = RTopK(**settings)
    policy.rounds = np.array(rounds)
    return policy


def test_adagrad_is_the_adagrad_of_pytorch() -> None:
    """On a bowl, step by step."""
    policy = RTopK()
    policy.parameters = np.array([1.0, -2.0])
    theirs = torch.tensor(policy.parameters, requires_grad=True)
    optimizer = torch.optim.Adagrad([theirs], lr=0.1, eps=1e-12)
    for _ in range(20):
        policy._descend(policy.parameters, np.array([2.0, 20.0]) * policy.parameters)
        optimizer.zero_grad()
        (theirs**2 @ torch.tensor([1.0, 10.0], dtype=torch.float64)).backward()
        optimizer.step()
        np.testing.assert_allclose(policy.parameters, theirs.detach().numpy(), atol=1e-9)


@pytest.mark.parametrize("steps", ["adagrad", "published"])
def test_exploration_falls_with_the_third_root_of_the_round(steps: str) -> None:
    found = []
    for rounds in (0, 7, 999):
        shown = at_round(rounds, steps=steps).rank(Query("q", np.eye(2)), k=2, rng=np.random.default_rng(0))
        found.append(float(shown.evidence["gamma"]))
    assert found == pytest.approx([0.1, 0.1 / 2, 0.1 / 10])


def test_published_steps_fall_with_the_root_of_the_squared_round() -> None:
    for rounds, size in ((0, 0.01), (7, 0.01 / 4), (999, 0.01 / 100)):
        policy = at_round(rounds, **PUBLISHED)
        policy._descend(np.zeros(1), -np.ones(1))
        assert policy.parameters[0] == pytest.approx(size)


@given(gamma=GAMMAS)
def test_without_cap_or_scale_weights_are_exact(gamma: float) -> None:
    exact = tuple(1 / each for each in propensities(gamma))
    for settings in ({"cap": np.inf}, {"cap": 1e10}, {"steps": "published", "scale": 1.0}):
        assert weights(RTopK(loss="squared", **settings), gamma) == exact


@given(gamma=GAMMAS)
def test_a_cap_or_a_scale_only_ever_takes_weight_away(gamma: float) -> None:
    top, other = propensities(gamma)
    assert weights(RTopK(loss="squared"), gamma) == (min(1 / top, 10), min(1 / other, 10))
    assert weights(RTopK(**PUBLISHED), gamma) == pytest.approx((1 / top, max(1.0, 0.01 / other)))


def test_what_cannot_be_seen_counts_nothing() -> None:
    for settings in ({}, {"cap": np.inf}, {"steps": "published"}):
        assert weights(RTopK(loss="squared", **settings), 0.0) == (1.0, 0.0)


@given(
    parameters=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4).map(np.array),
    radius=st.floats(1e-3, 1e3),
)
def test_projection_is_the_nearest_point_of_the_ball(parameters: FloatArray, radius: float) -> None:
    found = within_ball(parameters, radius)
    length = np.linalg.norm(parameters)
    assert np.linalg.norm(found) <= radius * (1 + 1e-12)
    assert np.linalg.norm(parameters - found) == pytest.approx(max(0.0, length - radius), rel=1e-9, abs=1e-9)
    assert within_ball(parameters, None) is parameters


def test_sums_that_would_be_infinite_are_explained() -> None:
    policy = RTopK()
    with pytest.raises(RankingError, match="scale the features"):
        policy._descend(np.zeros(1), np.array([1e200]))
    assert not policy.sums.size
