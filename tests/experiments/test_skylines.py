"""Skylines see the labels, and reach more than anyone who does not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from rankloop.checks import share_of_right_pairs, small_world
from rankloop.experiments import Protocol, simulate
from rankloop.experiments.skylines import (
    OfflineLambdaRank,
    OfflineRankNet,
    judged_lists,
    with_labels,
)
from rankloop.metrics import NDCG, mean_over_queries
from rankloop.policies import OlLambdaRank, RankNet
from rankloop.scorers import MLP, Linear
from rankloop.types import QuerySet, SettingError
from rankloop.users import Preset

SMALL = MLP((16, 8))
PROTOCOL = Protocol(rounds=150, k=5, checkpoints=3)


def offline(skyline: OfflineRankNet) -> float:
    world = small_world(seed=2)
    scores = skyline.scorer.score(skyline.fit(small_world(seed=1)), world.features)
    return mean_over_queries(NDCG(k=5), scores, world)


@pytest.mark.parametrize("kind", [OfflineRankNet, OfflineLambdaRank])
def test_labels_teach_nearly_everything(kind: type[OfflineRankNet]) -> None:
    assert offline(kind(scorer=SMALL, steps=300, learning_rate=0.01)) > 0.95
    assert offline(kind(scorer=Linear(), steps=300, learning_rate=0.1)) > 0.95


def test_a_fit_depends_on_its_settings_alone() -> None:
    skyline = OfflineRankNet(scorer=SMALL, steps=20)
    np.testing.assert_array_equal(skyline.fit(small_world()), skyline.fit(small_world()))
    assert not np.allclose(skyline.fit(small_world()), replace(skyline, seed=1).fit(small_world()))


def test_every_document_beats_those_of_a_lower_grade() -> None:
    world = [small_world(documents=4)[0], small_world(documents=6)[1]]
    documents, wins, gains = judged_lists(world)
    assert documents.shape == (2, 6, 6)
    assert not wins[0, 4:].any()
    assert not wins[0, :, 4:].any()
    for number, judged in enumerate(world):
        np.testing.assert_array_equal(documents[number, : judged.query.n_docs], judged.query.features)
        for i, j in itertools.product(range(judged.query.n_docs), repeat=2):
            assert wins[number, i, j] == (judged.relevance[i] > judged.relevance[j])
            assert gains[number, i] == 2 ** judged.relevance[i] - 1


def test_with_labels_an_online_life_is_better() -> None:
    world, user = small_world(), Preset("navigational").for_grades(3)
    policy = OlLambdaRank(scorer=SMALL, learning_rate=0.01)
    blind = list(simulate(policy, user, world, world, seed=0, protocol=PROTOCOL))
    skyline = OfflineLambdaRank(scorer=SMALL, learning_rate=0.01)
    seeing = list(with_labels(skyline, world, world, seed=0, protocol=PROTOCOL))
    last = [
        {record.metric: record.value for record in records if record.round == 150}
        for records in (blind, seeing)
    ]
    assert set(last[1]) == set(last[0]) - {"pairwise regret"}
    for metric in last[1]:
        assert last[1][metric] > last[0][metric]
    assert share_of_right_pairs(policy, world) < 1


def test_it_meets_the_queries_that_policies_meet() -> None:
    """Of queries with one document, nobody can show a better or a worse list than another."""
    world = QuerySet(np.eye(6), np.arange(7), np.arange(6) % 2, tuple("abcdef"))
    protocol, user = Protocol(rounds=20, checkpoints=20), Preset("perfect").for_grades(2)
    ours = with_labels(OfflineRankNet(scorer=Linear()), world, world, seed=4, protocol=protocol)
    theirs = simulate(RankNet(), user, world, world, seed=4, protocol=protocol)
    online = [
        [record.value for record in records if record.metric == "online nDCG@10"]
        for records in (ours, theirs)
    ]
    assert online[0] == online[1]
    assert 0 < np.mean(online[0]) < 1


@pytest.mark.parametrize("settings", [{"steps": 0}, {"queries": 0}, {"learning_rate": 0.0}], ids=str)
def test_settings_without_a_meaning_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        OfflineRankNet(**settings)  # type: ignore[arg-type]
