"""LambdaMART: its arrays are LightGBM's trees."""

from __future__ import annotations

import sys
from typing import Any

import lightgbm
import numpy as np
import pytest

from rankloop.checks import share_of_right_pairs, small_world
from rankloop.errors import RankingError, SettingError
from rankloop.lab.baselines.boosted_trees import Boosting, lambdamart, sums
from rankloop.lab.baselines.lambdamart import LambdaMART
from rankloop.lab.simulation.loop import warm_up
from rankloop.types import Feedback, Query, Ranking


def test_the_arrays_score_as_lightgbm_does(monkeypatch: pytest.MonkeyPatch) -> None:
    grown: list[lightgbm.Booster] = []
    train = lightgbm.train

    def remembered(*arguments: Any, **settings: Any) -> lightgbm.Booster:
        grown.append(train(*arguments, **settings))
        return grown[-1]

    monkeypatch.setattr(lightgbm, "train", remembered)
    world = small_world(queries=40)
    rows = np.hstack((np.full((len(world.features), 1), 0.5), world.features))  # the first never varies
    forest = lambdamart(rows, world.relevance * 0.5, world.offsets[1:], Boosting(30, 8, 5, 0.2))
    others = np.random.default_rng(0).normal(0.5, 0.4, (500, rows.shape[1])).astype(np.float32)
    others[:100] = rows[:100]
    np.testing.assert_allclose(sums(forest, others), grown[0].predict(others[:, 1:]), rtol=0, atol=1e-12)


def test_it_grows_when_lists_have_doubled_and_rests_after_the_last() -> None:
    world, policy, rng = small_world(), LambdaMART(lists=40, trees=5), np.random.default_rng(0)
    grown_after, before = [], policy.nodes
    for number in range(50):
        judged = world[number % len(world)]
        shown = Ranking(judged.query, rng.permutation(judged.query.n_docs))
        policy.learn(Feedback(shown, judged.relevance[shown.order], signal="grades"))
        if policy.nodes is not before:
            grown_after.append(number + 1)
        before = policy.nodes
    assert grown_after == [16, 32, 40]
    assert int(policy.kept) == 40


def test_taught_before_the_first_round_it_orders_what_no_line_can() -> None:
    world, policy = small_world(), LambdaMART(lists=100, trees=40)
    bent = np.abs(world.features - 0.5)
    world = type(world)(bent, world.offsets, np.digitize(bent @ [1, -1, 1, -1, 0, 0], [0, 0.3]), world.ids)
    warm_up(policy, world, np.random.default_rng(0))
    assert share_of_right_pairs(policy, world) > 0.95


def test_lists_of_another_width_and_clicks_are_refused() -> None:
    policy = LambdaMART(lists=1, trees=1)
    query = Query("q", np.eye(3))
    with pytest.raises(RankingError, match="learns from grades, found clicks"):
        policy.learn(Feedback(Ranking(query, np.arange(3)), np.array([True, False, False])))
    policy.learn(Feedback(Ranking(query, np.arange(3)), np.array([2, 0, 1]), signal="grades"))
    with pytest.raises(RankingError, match="knows 3 features but the query has 4"):
        policy.score(Query("wider", np.eye(4)))


def test_without_lightgbm_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(SettingError, match=r"pip install 'rankloop\[lightgbm\]'"):
        LambdaMART().check_installed()
