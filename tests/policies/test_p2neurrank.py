"""P²NeurRank: rankers that differ by the noise they learned, and by where they started."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from rankloop.errors import RankingError, SettingError
from rankloop.policies import Exact, P2NeurRank, ReplayMemory
from rankloop.scorers import MLP, Linear
from rankloop.types import Feedback, FloatArray, Query, Ranking


def feedback_on(seed: int, n: int = 6) -> Feedback:
    rng = np.random.default_rng(seed)
    ranking = Ranking(Query("q", rng.random((n, 3))), rng.permutation(n), {"seed": np.array(seed)})
    return Feedback(ranking, np.arange(n) % 3 == 1)


def certain_share(policy: P2NeurRank) -> float:
    shares = [policy.certain_orders(feedback_on(seed).ranking.query).sum() / 15 for seed in range(20)]
    return float(np.mean(shares))


def steepest(policy: P2NeurRank, parameters: FloatArray, noise: FloatArray) -> FloatArray:
    """Σ (σ(s_j - s_i) + ζ_ij)(x_i - x_j) / max(wins of i, losses of j) - λθ of a linear ranker."""
    slope = -policy.regularisation * parameters
    for number, i, j in np.argwhere(policy.wins):
        difference = policy.documents[number, i] - policy.documents[number, j]
        share = max(policy.wins[number, i].sum(), policy.wins[number, :, j].sum())
        slope += (expit(-difference @ parameters) + noise[number, i, j]) / share * difference
    return slope


def noise_of_lists(policy: P2NeurRank, number: int, networks: int) -> FloatArray:
    """What network `number` adds to every win, list by list: each list's seed decides about its own wins."""
    noise = np.zeros(policy.wins.shape)
    for each, won, seed in zip(noise, policy.wins, policy.seeds.tolist(), strict=True):
        drawn = np.random.default_rng((seed, 2)).standard_normal((networks, int(won.sum())))[number]
        for (i, j), zeta in zip(np.argwhere(won), drawn, strict=True):
            each[i, j] = np.sqrt(policy.variance) * zeta
    return noise


def test_every_pairs_label_is_perturbed() -> None:
    """A first step of a linear scorer goes where the perturbed loss falls; Adam keeps its signs."""
    policy = P2NeurRank(scorer=Linear(), rankers=5, networks=5, variance=2.0, learning_rate=1.0)
    policy.learn(feedback_on(3))
    for number, parameters in enumerate(policy.parameters):
        expected = steepest(policy, np.zeros(3), noise_of_lists(policy, number, 5))
        np.testing.assert_array_equal(np.sign(parameters), np.sign(expected))


def test_each_network_keeps_its_noise() -> None:
    """So each solves one perturbed problem, whatever its lists are learned from again with."""
    policy = P2NeurRank(scorer=Linear(), training=Exact(800), learning_rate=0.01, variance=0.5)
    for seed, n in ((4, 6), (5, 3), (6, 12)):  # the last list is longer than the memory's are
        policy.learn(feedback_on(seed, n))
    policy.wins, policy.documents, policy.seeds = policy.wins[:3], policy.documents[:3], policy.seeds[:3]
    for number, parameters in enumerate(policy.parameters):
        assert np.abs(steepest(policy, parameters, noise_of_lists(policy, number, 10))).max() < 0.05


def test_as_in_the_paper_every_round_has_noise_of_its_own() -> None:
    """With `networks=0` all steps of a round solve one perturbed problem; the next round perturbs anew."""
    policy = P2NeurRank(scorer=Linear(), networks=0, training=Exact(800), learning_rate=0.01, variance=0.5)
    for seed in (4, 5):
        policy.learn(feedback_on(seed))
        noise = np.zeros((2, *policy.wins.shape))
        shape = (2, int(policy.wins.sum()))
        noise[:, policy.wins] = np.sqrt(0.5) * np.random.default_rng((seed, 2)).standard_normal(shape)
        for parameters, zeta in zip(policy.parameters, noise, strict=True):
            assert np.abs(steepest(policy, parameters, zeta)).max() < 0.05


def test_the_papers_noise_is_the_newest_lists_also_where_the_memory_is_full() -> None:
    policy = P2NeurRank(scorer=Linear(), networks=0, training=ReplayMemory(1, memory=3), variance=0.5)
    for seed in (4, 5, 6, 7, 8):  # the last takes the place of the second
        policy.learn(feedback_on(seed))
    expected = np.random.default_rng((8, 2)).standard_normal((2, int(policy.wins[:3].sum())))
    found = policy._noise(policy.wins[:3], policy.seeds[:3])
    np.testing.assert_array_equal(found[:, policy.wins[:3]], expected)


def test_a_copy_has_a_memory_of_its_own() -> None:
    policy = P2NeurRank(scorer=Linear(), training=ReplayMemory(1, memory=2))
    for seed in (4, 5):
        policy.learn(feedback_on(seed))
    twin, before = copy.copy(policy), policy.seeds.copy()
    twin.learn(feedback_on(6))
    np.testing.assert_array_equal(policy.seeds, before)
    assert twin.seeds.tolist() == [6, 5]


def test_rankers_without_noise_are_one() -> None:
    policy = P2NeurRank(scorer=Linear(), rankers=3, variance=1e-30)
    for seed in range(20):
        policy.learn(feedback_on(seed))
    np.testing.assert_allclose(policy.parameters, np.tile(policy.parameters[:1], (11, 1)))
    assert certain_share(policy) == 1


def test_every_network_has_a_start_of_its_own() -> None:
    """Without noise they still differ; and a strong penalty holds each where it started."""
    scorer = MLP((4, 4))
    policy = P2NeurRank(scorer=scorer, networks=3, variance=1e-30, regularisation=1e9, learning_rate=1e-6)
    for seed in range(20):
        policy.learn(feedback_on(seed))
    starts = np.stack([scorer.start(3, number) for number in range(3)])
    np.testing.assert_allclose(policy.parameters, starts, atol=2e-5)
    for one, other in itertools.combinations(policy.parameters, 2):
        assert np.abs(one - other).max() > 0.01


def test_other_rankers_are_asked_after_every_lesson() -> None:
    """Each network is asked in its turn, the same ones until something was learned, and never one twice."""
    policy = P2NeurRank(scorer=Linear(), rankers=2, networks=3)
    asked = set()
    for seed in range(40):
        policy.learn(feedback_on(seed))
        before = policy.state()
        first, second = (policy._score_rankers(np.eye(3)) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        assert all(np.array_equal(before[name], array) for name, array in policy.state().items())
        who = [int(np.flatnonzero((policy.average == opinion).all(axis=1))[0]) for opinion in first]
        asked.add(frozenset(who))
    assert asked == {frozenset(pair) for pair in itertools.combinations(range(3), 2)}


@pytest.mark.parametrize(
    ("rankers", "networks", "learning"), [(2, None, 10), (5, None, 13), (2, 0, 2), (2, 3, 3)]
)
def test_so_many_networks_learn(rankers: int, networks: int | None, learning: int) -> None:
    policy = P2NeurRank(scorer=Linear(), rankers=rankers, networks=networks)
    policy.learn(feedback_on(0))
    assert policy.parameters.shape == (learning, 3)
    assert policy._score_rankers(np.eye(3)).shape == (rankers, 3)


def test_a_state_of_other_networks_is_refused() -> None:
    six = P2NeurRank(scorer=Linear(), networks=6)
    ten = P2NeurRank(scorer=Linear()).from_state(six.state())  # nothing was learned yet
    six.learn(feedback_on(0))
    ten.learn(feedback_on(0))
    with pytest.raises(RankingError, match=r"parameters have the shape \(10, 3\), in the state \(6, 3\)"):
        ten.from_state(six.state())
    np.testing.assert_array_equal(ten.from_state(ten.state()).parameters, ten.parameters)


@given(seed=st.integers(0, 2**32), rankers=st.integers(1, 4))
def test_certain_is_what_all_rankers_agree_on(seed: int, rankers: int) -> None:
    rng = np.random.default_rng(seed)
    weights, features = rng.integers(-2, 3, size=(rankers, 3)), rng.integers(-2, 3, size=(6, 3))
    policy = P2NeurRank(scorer=Linear(), rankers=rankers, networks=rankers)
    learned = weights.astype(float)
    policy = policy.from_state(
        {**policy.state(), "parameters": learned, "average": learned, "documents": np.zeros((0, 0, 3))}
    )
    certain = policy.certain_orders(Query("q", features.astype(float)))
    scores = policy.list_scores(Query("q", features.astype(float)))
    for i, j in itertools.product(range(6), repeat=2):
        assert certain[i, j] == all(int(w @ features[i]) > int(w @ features[j]) for w in weights)
        assert not certain[i, j] or scores[i] > scores[j]


def test_exploitation_is_the_mean_of_all_networks() -> None:
    policy = P2NeurRank(scorer=Linear(), rankers=3)
    for seed in range(20):
        policy.learn(feedback_on(seed))
    features = np.eye(3)
    np.testing.assert_allclose(policy.score(Query("q", features)), policy.average.mean(axis=0))


@pytest.mark.parametrize("setting", ["variance", "rankers"])
def test_more_noise_and_more_rankers_leave_more_to_explore(setting: str) -> None:
    shares = []
    for value in {"variance": (0.001, 0.1, 10.0), "rankers": (1, 2, 8)}[setting]:
        choice: dict[str, Any] = {setting: value}
        policy = P2NeurRank(
            scorer=Linear(), learning_rate=0.01, training=ReplayMemory(8, memory=100), **choice
        )
        for seed in range(40):
            policy.learn(feedback_on(seed))
        shares.append(certain_share(policy))
    assert shares[0] > shares[1] > shares[2]


def test_fewer_networks_than_are_asked_are_refused() -> None:
    with pytest.raises(SettingError, match="networks must be at least rankers=2, or 0 for the rankers"):
        P2NeurRank(networks=1)
