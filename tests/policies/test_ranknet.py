"""RankNet's step is the gradient of its loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.errors import RankingError
from rankloop.learning.click_pairs import Pairing
from rankloop.policies import EpsilonGreedy, RankNet
from rankloop.types import Feedback, FloatArray, Query, Ranking


def loss(weights: FloatArray, features: FloatArray, clicks: list[bool], pairing: Pairing) -> float:
    """Minus the log likelihood of clicked above skipped: of the neighbours 1-2, 3-4, ..., or of all."""
    scores = features @ weights
    last = max((rank for rank, clicked in enumerate(clicks) if clicked), default=-2)
    examined = range(min(last + 2, len(clicks)))
    return float(
        sum(
            np.log1p(np.exp(scores[j] - scores[i]))
            for i in examined
            if clicks[i]
            for j in examined
            if not clicks[j] and (pairing == "all" or i // 2 == j // 2)
        )
    )


@given(
    seed=st.integers(0, 2**32),
    clicks=st.lists(st.booleans(), min_size=5, max_size=5),
    pairing=st.sampled_from(["adjacent", "all"]),
)
def test_one_step_down_the_numerical_gradient(seed: int, clicks: list[bool], pairing: Pairing) -> None:
    rng = np.random.default_rng(seed)
    features, weights = rng.normal(size=(5, 3)), rng.normal(size=3)
    policy = RankNet(learning_rate=0.2, pairing=pairing).from_state(
        {**RankNet().state(), "parameters": weights}
    )
    policy.learn(Feedback(Ranking(Query("q", features), np.arange(5)), np.array(clicks)))
    gradient = [
        (loss(weights + step, features, clicks, pairing) - loss(weights - step, features, clicks, pairing))
        / 2e-6
        for step in 1e-6 * np.eye(3)
    ]
    np.testing.assert_allclose(policy.parameters, weights - 0.2 * np.array(gradient), atol=1e-6)


def test_matched_pairs_follow_from_the_list_alone() -> None:
    """The seed travels with the list; each of two skipped results loses half of the time."""
    query, losers = Query("q", np.eye(3)), []
    for seed in range(400):
        policy = RankNet(pairing="matching", learning_rate=1.0)
        shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
        for twin in (policy, again := RankNet(pairing="matching", learning_rate=1.0)):
            twin.learn(Feedback(shown, np.array([False, True, False])))
        np.testing.assert_array_equal(policy.parameters, again.parameters)
        assert sorted(policy.parameters) == [-0.5, 0.0, 0.5]
        losers.append(int(policy.parameters[shown.order].argmin()))
    assert losers.count(0) + losers.count(2) == 400
    assert abs(losers.count(0) - 200) < 4 * np.sqrt(100)


def test_without_exploration_the_best_is_on_top() -> None:
    policy = RankNet().from_state({**RankNet().state(), "parameters": np.array([1.0, 0.0])})
    ranking = policy.rank(
        Query("q", np.array([[0.1, 0], [0.9, 0], [0.5, 0]])), k=2, rng=np.random.default_rng(0)
    )
    assert ranking.order.tolist() == [1, 2]


def test_weights_never_become_infinite() -> None:
    """Bad input gives a clear error and changes nothing."""
    policy = RankNet(learning_rate=1e300).from_state({**RankNet().state(), "parameters": np.array([1.0])})
    ranking = Ranking(Query("q", np.array([[1e300], [-1e300]])), np.array([1, 0]))
    with pytest.raises(RankingError, match="scale the features"):
        policy.learn(Feedback(ranking, np.array([True, False])))
    assert policy.parameters.tolist() == [1.0]


def test_another_number_of_features_is_explained() -> None:
    policy = RankNet().from_state({**RankNet().state(), "parameters": np.ones(3)})
    with pytest.raises(RankingError, match="knows 3 features but the query has 2"):
        policy.score(Query("q", np.eye(2)))


def test_a_strange_state_is_refused() -> None:
    with pytest.raises(RankingError, match=r"has the state \[.*'parameters'\], found \[.*'weights'\]"):
        RankNet().from_state({"weights": np.ones(3)})


def test_the_repr_shows_the_settings() -> None:
    settings = (
        "caller_order=None, learn_caller_order=True, learning_rate=0.001, pairing='adjacent', epsilon=0.2"
    )
    assert repr(EpsilonGreedy(epsilon=0.2)) == f"EpsilonGreedy(scorer=Linear(), {settings})"
