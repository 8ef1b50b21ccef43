"""Skylines see the labels, and reach more than anyone who does not."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rankloop.checks import share_of_right_pairs, small_world
from rankloop.data import Dataset
from rankloop.experiments import Protocol, Run, Sweep, execute, simulate, summarise
from rankloop.experiments.simulation.skylines import (
    OfflineLambdaRank,
    OfflineRankNet,
    OnlineLambdaRank,
    judged_lists,
)
from rankloop.experiments.sweeps.ledger import SCHEMA
from rankloop.metrics import NDCG, mean_over_queries
from rankloop.policies import OlLambdaRank, Random, RankNet
from rankloop.scorers import MLP, Linear
from rankloop.types import QuerySet, SettingError
from rankloop.users import Preset

SMALL = MLP((16, 8))
PROTOCOL = Protocol(rounds=150, k=5, checkpoints=3)


def offline(skyline: OfflineRankNet) -> float:
    world = small_world(seed=2)
    ranker = skyline.fit(small_world(seed=1), np.random.default_rng(0))
    scores = skyline.scorer.score(ranker, world.features)
    return mean_over_queries(NDCG(k=5), scores, world)


@pytest.mark.parametrize("kind", [OfflineRankNet, OfflineLambdaRank])
def test_labels_teach_nearly_everything(kind: type[OfflineRankNet]) -> None:
    assert offline(kind(scorer=SMALL, steps=300, learning_rate=0.01)) > 0.95
    assert offline(kind(scorer=Linear(), steps=300, learning_rate=0.1)) > 0.95


def test_a_fit_depends_on_its_seed() -> None:
    skyline = OfflineRankNet(scorer=SMALL, steps=20)
    once, again, other = (skyline.fit(small_world(), np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(once, again)
    assert not np.allclose(once, other)


def test_a_sweep_runs_a_skyline_once_and_shows_it_to_every_user() -> None:
    skyline = OfflineRankNet(scorer=Linear(), steps=20, learning_rate=0.1)
    world = Dataset("small", small_world(), small_world(seed=1), None, "small")
    sweep = Sweep(
        data=[world],
        users={name: Preset(name) for name in ("perfect", "navigational")},
        policies={"random": Random()},
        seeds=range(2),
        protocol=PROTOCOL,
        skylines={"sky": skyline},
    )
    started: list[Run] = []
    results = execute(sweep, watch=lambda tick: started.append(tick.run))
    assert {run.user for run in started if run.policy == "sky"} == {"perfect"}
    sky = results.filter(pl.col("policy") == "sky").drop("user", "fold", "data")
    halves = sky[: len(sky) // 2], sky[len(sky) // 2 :]
    assert_frame_equal(*halves)
    alone = [record.value for record in skyline.records(world.train, world.test, seed=0, protocol=PROTOCOL)]
    assert halves[0].filter(pl.col("seed") == 0)["value"].to_list() == alone


def test_skylines_do_not_compete() -> None:
    rows = [
        ("w", "f", "u", name, seed, 1, "offline nDCG@10", value + seed / 100)
        for name, value in (("a", 0.5), ("sky", 0.9), ("b", 0.4))
        for seed in range(3)
    ]
    results = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    summary = summarise(results, outside={"sky"})
    assert [(row.policy, row.best) for row in summary] == [("a", True), ("b", False), ("sky", False)]
    assert summary[2].p_value is None


def test_a_skyline_needs_a_name_of_its_own() -> None:
    with pytest.raises(SettingError, match="name of its own, found random"):
        Sweep(
            data=["synthetic:linear"],
            users={"perfect": Preset("perfect")},
            policies={"random": Random()},
            skylines={"random": OfflineRankNet()},
        )


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
    skyline = OnlineLambdaRank(scorer=SMALL, learning_rate=0.01)
    seeing = list(skyline.records(world, world, seed=0, protocol=PROTOCOL))
    last = [
        {record.metric: record.value for record in records if record.round == 150}
        for records in (blind, seeing)
    ]
    assert set(last[1]) == set(last[0]) - {"pairwise regret"}
    for metric in last[1]:
        assert last[1][metric] > last[0][metric]
    assert share_of_right_pairs(policy, world) < 1


def test_lambdarank_counts_what_a_swap_would_change() -> None:
    rng = np.random.default_rng(0)
    scores, grades = rng.permutation(5).astype(float), np.array([0, 2, 1, 0, 2])
    wins, gains = np.greater.outer(grades, grades), 2.0**grades - 1
    (even,), (weighed,) = (
        skyline._weigh(scores[None], wins[None], gains[None])
        for skyline in (OfflineRankNet(), OfflineLambdaRank())
    )
    ndcg, order = NDCG(k=10), np.argsort(-scores)
    for i, j in np.argwhere(wins):
        swapped = order.copy()
        swapped[[*np.flatnonzero(order == i), *np.flatnonzero(order == j)]] = j, i
        change = abs(ndcg(order, grades) - ndcg(swapped, grades))
        assert weighed[i, j] == pytest.approx(change * even[i, j])


def test_labels_of_queries_never_asked_are_not_known() -> None:
    """The same life, were they other labels."""
    world = small_world(seed=1)
    protocol, skyline = Protocol(rounds=5, k=5, checkpoints=5), OnlineLambdaRank(scorer=SMALL)
    draws = np.random.default_rng(np.random.SeedSequence(0).spawn(3)[0]).integers(len(world), size=5)
    relevance = world.relevance.copy()
    for index in set(range(len(world))) - set(draws.tolist()):
        part = slice(world.offsets[index], world.offsets[index + 1])
        relevance[part] = relevance[part].max() - relevance[part]
    other = QuerySet(world.features, world.offsets, relevance, world.ids)
    assert not np.array_equal(relevance, world.relevance)
    lives = [list(skyline.records(each, world, seed=0, protocol=protocol)) for each in (world, other)]
    assert lives[0] == lives[1]


def test_it_meets_the_queries_that_policies_meet() -> None:
    """Of queries with one document, nobody can show a better or a worse list than another."""
    world = QuerySet(np.eye(6), np.arange(7), np.arange(6) % 2, tuple("abcdef"))
    protocol, user = Protocol(rounds=20, checkpoints=20), Preset("perfect").for_grades(2)
    ours = OfflineRankNet(scorer=Linear(), steps=3).records(world, world, seed=4, protocol=protocol)
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
