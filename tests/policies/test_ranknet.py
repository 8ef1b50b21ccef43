"""RankNet's step is the gradient of its loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.policies import EpsilonGreedy, RankNet
from rankloop.types import Feedback, FloatArray, Query, Ranking, RankingError, SettingError


def loss(weights: FloatArray, features: FloatArray, clicks: list[bool]) -> float:
    """Minus the log likelihood of clicked above examined and not clicked."""
    scores = features @ weights
    last = max((rank for rank, clicked in enumerate(clicks) if clicked), default=-2)
    examined = range(min(last + 2, len(clicks)))
    return float(
        sum(
            np.log1p(np.exp(scores[j] - scores[i]))
            for i in examined
            if clicks[i]
            for j in examined
            if not clicks[j]
        )
    )


@given(seed=st.integers(0, 2**32), clicks=st.lists(st.booleans(), min_size=4, max_size=4))
def test_one_step_down_the_numerical_gradient(seed: int, clicks: list[bool]) -> None:
    rng = np.random.default_rng(seed)
    features, weights = rng.normal(size=(4, 3)), rng.normal(size=3)
    policy = RankNet(learning_rate=0.2).from_state({"parameters": weights})
    policy.learn(Feedback(Ranking(Query("q", features), np.arange(4)), np.array(clicks)))
    gradient = [
        (loss(weights + step, features, clicks) - loss(weights - step, features, clicks)) / 2e-6
        for step in 1e-6 * np.eye(3)
    ]
    np.testing.assert_allclose(policy.parameters, weights - 0.2 * np.array(gradient), atol=1e-6)


def test_without_exploration_the_best_is_on_top() -> None:
    policy = RankNet().from_state({"parameters": np.array([1.0, 0.0])})
    ranking = policy.rank(
        Query("q", np.array([[0.1, 0], [0.9, 0], [0.5, 0]])), k=2, rng=np.random.default_rng(0)
    )
    assert ranking.order.tolist() == [1, 2]


def test_weights_never_become_infinite() -> None:
    """Bad input gives a clear error and changes nothing."""
    policy = RankNet(learning_rate=1e300).from_state({"parameters": np.array([1.0])})
    ranking = Ranking(Query("q", np.array([[1e300], [-1e300]])), np.array([1, 0]))
    with pytest.raises(RankingError, match="scale the features"):
        policy.learn(Feedback(ranking, np.array([True, False])))
    assert policy.parameters.tolist() == [1.0]


def test_another_number_of_features_is_explained() -> None:
    policy = RankNet().from_state({"parameters": np.ones(3)})
    with pytest.raises(RankingError, match="knows 3 features but the query has 2"):
        policy.score(Query("q", np.eye(2)))


def test_a_strange_state_is_refused() -> None:
    with pytest.raises(RankingError, match=r"has the state \['parameters'\], found \['weights'\]"):
        RankNet().from_state({"weights": np.ones(3)})


@pytest.mark.parametrize(("make", "name"), [(RankNet, "learning_rate"), (EpsilonGreedy, "epsilon")])
def test_settings_out_of_range_are_refused(make: type[RankNet], name: str) -> None:
    with pytest.raises(SettingError, match=name):
        make(**{name: -0.5})  # type: ignore[arg-type]


def test_the_repr_shows_the_settings() -> None:
    assert (
        repr(EpsilonGreedy(epsilon=0.2)) == "EpsilonGreedy(scorer=Linear(), learning_rate=0.001, epsilon=0.2)"
    )
