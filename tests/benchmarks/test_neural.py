"""What is measured of neural rankers is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.neural import MUCH, _alike, agreement, training
from rankloop.learning.training import Batch
from rankloop.policies import Exact, NeuralPairwise, OlRankNet
from rankloop.query_set import JudgedQuery
from rankloop.scorers import Linear
from rankloop.types import Query


def asked() -> list[JudgedQuery]:
    rng = np.random.default_rng(1)
    return [JudgedQuery(Query("q", rng.random((7, 3))), np.zeros(7, dtype=np.int64)) for _ in range(4)]


def linear(*weights: float) -> OlRankNet:
    """A ranker that is sure of everything its weights say."""
    policy, array = OlRankNet(scorer=Linear(), covariance="diagonal"), np.array(weights)
    nothing = np.zeros((0, 0, len(weights)))  # is remembered
    state = {"parameters": array, "average": array, "known": np.ones(len(weights)), "documents": nothing}
    return policy.from_state({**policy.state(), **state})


def test_rankers_agree_with_themselves_and_never_with_their_opposite() -> None:
    one, opposite = linear(1.0, -2.0, 0.5), linear(-1.0, 2.0, -0.5)
    assert _alike(one, one, asked(), 0.0) == 1
    assert _alike(one, opposite, asked(), 0.0) == 0
    assert _alike(one, opposite, asked(), 1e9) == 1  # nothing is certain


def test_every_covariance_is_asked_at_every_moment() -> None:
    rows = agreement(moments=(1, 2), queries=1)
    assert [row["rounds"] for row in rows] == [1, 1, 1, 2, 2, 2]
    assert len({row["name"] for row in rows}) == 3
    shares = np.array([row["alike"] for row in rows])
    assert ((shares >= 0) & (shares <= 1)).all()


def test_exact_training_is_timed_where_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    step = NeuralPairwise._step

    def counted(policy: NeuralPairwise, batch: Batch) -> None:
        sizes.append(len(batch.slots))
        step(policy, batch)

    monkeypatch.setattr(NeuralPairwise, "_step", counted)
    (row,) = training(moments=(70,), rounds=5, much_rounds=1, exact_rounds=1)
    assert row["lists"] == 70
    assert sizes.count(1 + MUCH.lists) == MUCH.steps
    assert max(sizes) >= 70  # everything
    assert sizes.count(max(sizes)) == Exact().steps
