"""P²NeurRank: rankers that differ by the noise they learned, and nothing else."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from rankloop.policies import Exact, P2NeurRank, Replay
from rankloop.scorers import Linear
from rankloop.types import Feedback, Query, Ranking, SettingError


def feedback_on(seed: int, n: int = 6) -> Feedback:
    rng = np.random.default_rng(seed)
    ranking = Ranking(Query("q", rng.random((n, 3))), rng.permutation(n), {"seed": np.array(seed)})
    return Feedback(ranking, np.arange(n) % 3 == 1)


def certain_share(policy: P2NeurRank) -> float:
    shares = [
        policy.certain_orders(feedback_on(seed).ranking.query.features).sum() / 15 for seed in range(20)
    ]
    return float(np.mean(shares))


def test_every_pairs_label_is_perturbed() -> None:
    """A first step of a linear scorer follows Σ (σ(s_j - s_i) + ζ_ij)(x_i - x_j); Adam keeps its signs."""
    policy, feedback = P2NeurRank(scorer=Linear(), rankers=5, variance=2.0, learning_rate=1.0), feedback_on(3)
    policy.learn(feedback)
    documents, wins = policy.documents[0], policy.wins[0]
    noise = np.sqrt(2.0) * np.random.default_rng((3, 2)).standard_normal((5, 1, len(wins), len(wins)))
    for parameters, zeta in zip(policy.parameters, noise[:, 0], strict=True):
        expected = sum((expit(0) + zeta[i, j]) * (documents[i] - documents[j]) for i, j in np.argwhere(wins))
        np.testing.assert_array_equal(np.sign(parameters), np.sign(expected))


def test_all_steps_of_a_round_meet_the_same_noise() -> None:
    """So many exact steps solve one perturbed problem, as in the paper; the next round perturbs anew."""
    policy = P2NeurRank(scorer=Linear(), training=Exact(800), learning_rate=0.01, variance=0.5)
    for seed in (4, 5):
        policy.learn(feedback_on(seed))
        rng = np.random.default_rng((seed, 2))
        shape = policy.wins[: int(policy.lists)].shape
        noise = np.sqrt(0.5) * rng.standard_normal((2, *shape))
        for parameters, zeta in zip(policy.parameters, noise, strict=True):
            slope = -policy.regularisation * parameters
            for number, i, j in np.argwhere(policy.wins):
                difference = policy.documents[number, i] - policy.documents[number, j]
                share = max(policy.wins[number, i].sum(), policy.wins[number, :, j].sum())
                slope += (expit(-difference @ parameters) + zeta[number, i, j]) / share * difference
            assert np.abs(slope).max() < 0.05


def test_rankers_without_noise_are_one() -> None:
    policy = P2NeurRank(scorer=Linear(), rankers=3, variance=1e-30)
    for seed in range(20):
        policy.learn(feedback_on(seed))
    np.testing.assert_allclose(policy.parameters[1:], policy.parameters[:1].repeat(2, axis=0))
    assert certain_share(policy) == 1


@pytest.mark.parametrize(("warm_up", "lists"), [(None, 3), (0, 1), (5, 5)])  # there are three features
def test_no_order_is_certain_while_warming_up(warm_up: int | None, lists: int) -> None:
    policy = P2NeurRank(scorer=Linear(), variance=1e-30, warm_up=warm_up)  # they always agree
    assert certain_share(policy) == 0
    for number in range(1, 2 * lists + 1):
        policy.learn(feedback_on(number))
        assert certain_share(policy) == (number >= lists)


@given(seed=st.integers(0, 2**32), rankers=st.integers(1, 4))
def test_certain_is_what_all_rankers_agree_on(seed: int, rankers: int) -> None:
    rng = np.random.default_rng(seed)
    weights, features = rng.integers(-2, 3, size=(rankers, 3)), rng.integers(-2, 3, size=(6, 3))
    policy = P2NeurRank(scorer=Linear(), rankers=rankers, warm_up=0)
    policy = policy.from_state(
        {**policy.state(), "parameters": weights.astype(float), "average": weights.astype(float)}
    )
    certain = policy.certain_orders(features.astype(float))
    scores = policy.score(features.astype(float))
    for i, j in itertools.product(range(6), repeat=2):
        assert certain[i, j] == all(int(w @ features[i]) > int(w @ features[j]) for w in weights)
        assert not certain[i, j] or scores[i] > scores[j]


def test_exploitation_is_the_mean_of_the_rankers() -> None:
    policy = P2NeurRank(scorer=Linear(), rankers=3)
    for seed in range(20):
        policy.learn(feedback_on(seed))
    features = np.eye(3)
    np.testing.assert_allclose(policy.score(features), policy.average.mean(axis=0))


@pytest.mark.parametrize("setting", ["variance", "rankers"])
def test_more_noise_and_more_rankers_leave_more_to_explore(setting: str) -> None:
    shares = []
    for value in {"variance": (0.001, 0.1, 10.0), "rankers": (1, 2, 8)}[setting]:
        choice: dict[str, Any] = {setting: value}
        policy = P2NeurRank(scorer=Linear(), learning_rate=0.01, training=Replay(8, memory=100), **choice)
        for seed in range(40):
            policy.learn(feedback_on(seed))
        shares.append(certain_share(policy))
    assert shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize(
    "settings",
    [{"rankers": 0}, {"rankers": 1.5}, {"variance": 0.0}, {"variance": float("inf")}, {"warm_up": -1}],
    ids=str,
)
def test_settings_without_a_meaning_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        P2NeurRank(**settings)
