"""The fast policies and the plain ones they are measured against are the same policies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import reference as plain
from benchmarks.loading import write_letor
from benchmarks.rounds import PAIRS, bench_world, pace
from rankloop.checks import LAWS
from rankloop.lab.data import read_letor
from rankloop.lab.users import PresetUser
from rankloop.policies import PairRank, Policy, Posterior
from rankloop.types import Feedback, Query

RNG = np.random.default_rng(0)
QUERY = Query("q", RNG.random((15, 6)))


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in ("random", "pairrank")])
def test_both_learn_the_same_from_the_same_list(name: str) -> None:
    ours, other, _ = PAIRS[name]
    ours, other = ours.from_state(ours.state()), other.from_state(other.state())
    for seed in range(30):
        ranking = ours.rank(QUERY, k=8, rng=np.random.default_rng(seed))
        feedback = Feedback(ranking, np.random.default_rng(seed).random(8) < 0.4)
        ours.learn(feedback)
        other.learn(feedback)
    scores = ours.score(QUERY)
    assert np.ptp(scores) > 0
    np.testing.assert_allclose(scores, other.score(QUERY), atol=1e-9 * float(np.ptp(scores)))


def test_pairrank_learns_and_is_sure_of_the_same() -> None:
    ours, other = PairRank(update="exact", certainty=Posterior(0.6)), plain.PlainPairRank(level=0.6)
    for seed in range(30):
        ranking = ours.rank(QUERY, k=8, rng=np.random.default_rng(seed))
        feedback = Feedback(ranking, np.random.default_rng(seed).random(8) < 0.4)
        ours.learn(feedback)
        other.learn(feedback)
    np.testing.assert_allclose(ours.parameters, other.weights, atol=1e-4 * float(np.abs(other.weights).max()))
    found = {(int(i), int(j)) for i, j in zip(*ours.certain_orders(QUERY).nonzero(), strict=True)}
    assert len(found ^ other.certain_orders(QUERY)) <= 1  # the curvature is renewed in steps of 10 %
    assert len(found) > 20


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "pairrank"])
def test_both_show_lists_of_the_same_distribution(name: str) -> None:
    """How often each document is shown in the top 3, over many lists of the same ranker."""
    scores = np.linspace(1.5, -1.5, QUERY.n_docs)
    features = np.column_stack((scores, RNG.random((QUERY.n_docs, 2))))
    query, weights = Query("q", features), np.array([1.0, 0.0, 0.0])
    tops = []
    for policy, key in zip(PAIRS[name][:2], ("parameters", "weights"), strict=True):
        state = {**policy.state(), key: weights} if key in policy.state() else policy.state()
        tops.append(top_shares(policy.from_state(state), query))
    np.testing.assert_allclose(tops[0], tops[1], atol=5 * np.sqrt(0.5 / 1500))


def top_shares(policy: Policy, query: Query) -> np.ndarray:
    rng, counts = np.random.default_rng(1), np.zeros(query.n_docs)
    for _ in range(1500):
        counts[policy.rank(query, k=3, rng=rng).order] += 1
    return counts / 1500


def test_the_plain_policies_obey_the_laws_too() -> None:
    for law in LAWS:
        law(plain.PlainPDGD)
        law(lambda: plain.PlainMGD(combine=plain.team_draft))


def test_the_plain_user_is_the_same_user() -> None:
    user = PresetUser("navigational").for_grades(3)
    grades = np.arange(15) % 3
    shown = plain.PlainRandom().rank(QUERY, k=5, rng=np.random.default_rng(0))
    shares = []
    for model in (user, plain.PlainUser(user)):
        rng = np.random.default_rng(2)
        shares.append(np.mean([model.respond(shown, grades, rng).clicks for _ in range(4000)], axis=0))
    np.testing.assert_allclose(shares[0], shares[1], atol=5 * np.sqrt(0.5 / 4000))


def test_both_readers_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    write_letor(path, megabytes=0.5)
    ours, other = read_letor(path), plain.read_plainly(path)
    np.testing.assert_array_equal(ours.features, other.features)
    np.testing.assert_array_equal(ours.offsets, other.offsets)
    np.testing.assert_array_equal(ours.relevance, other.relevance)
    assert list(ours.ids) == list(other.ids)


def test_the_benchmark_measures_something() -> None:
    world = bench_world(queries=3)
    assert (len(world), world.n_features, world.grades) == (3, 136, 5)
    found = pace(
        PAIRS["pdgd"][0], PresetUser("perfect").for_grades(5), world, rounds=3, rng=np.random.default_rng(0)
    )
    assert found.total == found.serve + found.click + found.learn > 0
