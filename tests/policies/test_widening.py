"""Features come and go: every policy goes on with them, or says that it cannot."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pytest

from rankloop.checks import Make
from rankloop.errors import RankingError
from rankloop.policies import (
    DBGD,
    MGD,
    NSGD,
    PDGD,
    DocumentSpace,
    OlRankNet,
    PairRank,
    Policy,
    RankNet,
    Theory,
)
from rankloop.scorers import MLP
from rankloop.state_fields import state
from rankloop.types import Feedback, FloatArray, Query
from tests.checks.test_policies_obey import POLICIES

BY_FEATURES = {name: make for name, make in POLICIES.items() if make().identifies_by == "features"}
NAMELESS = Query("names only", np.empty((4, 0)), ("a", "b", "c", "d"))


def taught(policy: Policy, width: int, *, rounds: int = 30, first: int = 0) -> Policy:
    """A policy after some lists in which the first feature matters."""
    for seed in range(first, first + rounds):
        rng = np.random.default_rng(seed)
        query = Query("q", rng.random((6, width)))
        ranking = policy.rank(query, k=6, rng=rng)
        reward = query.features[ranking.order, 0] > 0.6
        if policy.signals[0] == "grades":
            policy.learn(Feedback(ranking, reward.astype(int), signal="grades"))
        else:
            policy.learn(Feedback(ranking, reward))
    return policy


def wide(policy: Policy, width: int) -> Policy:
    wider = policy.widened(width)
    assert wider is not None
    return wider


@dataclass(kw_only=True, eq=False)
class Diary(RankNet):
    """A policy with an array of which nobody knows what it is."""

    history: FloatArray = field(default_factory=lambda: np.zeros(0), init=False, repr=False)

    def learn(self, feedback: Feedback) -> None:
        super().learn(feedback)
        self.history = np.append(self.history, feedback.clicks.sum())


def test_an_array_that_says_nothing_of_its_features_is_not_touched() -> None:
    assert taught(Diary(), 3).widened(5) is None


@pytest.mark.parametrize("policy", [OlRankNet(), RankNet(scorer=MLP(4)), DBGD(scorer=MLP(4))], ids=repr)
def test_a_network_says_that_it_takes_no_more_features(policy: Policy) -> None:
    assert policy.widened(5) is None
    assert taught(policy, 3, rounds=3).widened(5) is None


def test_what_new_features_start_as_is_the_prior() -> None:
    policy = taught(PairRank(certainty=Theory(longest_weights=1.0, longest_difference=1.0)), 2)
    assert isinstance(policy, PairRank)
    wider = wide(policy, 3)
    assert isinstance(wider, PairRank)
    penalty = float(policy.penalty)
    for old, new, start in (
        (policy.curvature, wider.curvature, 1 / penalty),
        (policy.design, wider.design, 1 / penalty),
        (np.diag(policy.energy), np.diag(wider.energy), penalty),
    ):
        np.testing.assert_array_equal(new[:2, :2], old)
        assert new[2].tolist() == new[:, 2].tolist() == [0.0, 0.0, start]


def test_difficult_lists_and_lost_directions_get_a_column_for_a_new_feature() -> None:
    policy = taught(NSGD(projection=DocumentSpace()), 3)
    assert isinstance(policy, NSGD)
    wider = wide(policy, 5)
    assert isinstance(wider, NSGD)
    for old, new in (
        (policy.lists, wider.lists),
        (policy.losers, wider.losers),
        (policy.examined, wider.examined),
    ):
        assert old.size
        np.testing.assert_array_equal(new, np.pad(old, ((0, 0), (0, 2))))
    again = taught(wider, 5, first=100)
    assert isinstance(again, NSGD)
    assert again.lists.shape[1] == 2 + 5


def test_widening_leaves_nothing_behind_and_takes_nothing_away() -> None:
    policy = taught(PDGD(), 3)
    wide(policy, 5).state()["parameters"][:] = 7.0
    assert policy.state()["parameters"].shape == (3,)
    with pytest.raises(RankingError, match="cannot do with 1 features fewer"):
        policy.widened(2)


def test_before_anything_was_learned_there_is_nothing_to_widen() -> None:
    for policy in (PairRank(), PDGD(), MGD(), NSGD()):
        for name, value in wide(policy, 5).state().items():
            assert value.shape == policy.state()[name].shape, name


@pytest.mark.parametrize("make", BY_FEATURES.values(), ids=BY_FEATURES.keys())
@pytest.mark.parametrize("rounds", [0, 3])
def test_lists_without_features_are_ranked_and_their_clicks_teach_nothing(make: Make, rounds: int) -> None:
    policy = taught(make(), 3, rounds=rounds)
    before = policy.state()
    ranking = policy.rank(NAMELESS, k=3, rng=np.random.default_rng(0))
    assert len(ranking) == 3
    assert not policy.score(NAMELESS).any()
    reward = np.array([False, True, False])
    grades = policy.signals[0] == "grades"
    with suppress(RankingError):
        policy.learn(Feedback(ranking, reward.astype(int) if grades else reward, signal=policy.signals[0]))
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    taught(policy, 3, rounds=3, first=50)


@pytest.mark.parametrize("make", BY_FEATURES.values(), ids=BY_FEATURES.keys())
def test_a_list_of_another_width_is_refused_before_anything_is_changed(make: Make) -> None:
    """Its evidence is its own: from a twin that met no other width."""
    if make is POLICIES["Random"]:
        return
    policy, twin = taught(make(), 3), taught(make(), 5)
    ranking = twin.rank(
        Query("q", np.random.default_rng(1).random((6, 5))), k=6, rng=np.random.default_rng(1)
    )
    before = policy.state()
    with pytest.raises(RankingError):
        policy.learn(Feedback(ranking, np.arange(6) == 1))
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


@dataclass(kw_only=True, eq=False)
class Counting(RankNet):
    """A policy that counts how often each position was shown."""

    counts: FloatArray = state((0,), feature_axes=())


def test_an_array_without_features_stays_as_it_is() -> None:
    policy = taught(Counting(), 3)
    assert isinstance(policy, Counting)
    policy.counts = np.arange(7.0)
    wider = wide(policy, 5)
    assert isinstance(wider, Counting)
    assert wider.counts.tolist() == list(range(7))
    assert wider.parameters.shape == (5,)
