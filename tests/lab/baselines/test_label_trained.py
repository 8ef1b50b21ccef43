"""Policies taught by labels: the same numbers, to the bit, as training written out as a plain loop."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from rankloop.checks import small_world
from rankloop.errors import RankingError
from rankloop.exploration import draw_by_score
from rankloop.lab.baselines.label_trained import LearnsFromGrades
from rankloop.lab.baselines.offline_lambdarank import OfflineLambdaRank
from rankloop.lab.baselines.offline_ranknet import OfflineRankNet
from rankloop.lab.baselines.ollambdarank_gt import OlLambdaRankGT
from rankloop.lab.simulation.loop import warm_up
from rankloop.lab.users import LabelJudge
from rankloop.learning.adam import adam
from rankloop.learning.delta_ndcg import lambdas
from rankloop.learning.pair_loss import loss_direction, pair_residuals
from rankloop.policies import PDGD
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.scorers import MLP
from rankloop.types import BoolArray, Feedback, FloatArray, Query, Ranking

SCORER = MLP((4, 4))
QUERIES, STEPS, ROUNDS, RATE = 3, 7, 25, 0.01
JUDGE = LabelJudge(whole_query=True)


def uneven() -> QuerySet:
    """Lists of different length, in single precision, some of them with one grade only."""
    rng, sizes = np.random.default_rng(3), np.array([5, 1, 9, 4, 12, 2, 7])
    rows = rng.random((sizes.sum(), 4)).astype(np.float32)
    grades = rng.integers(0, 3, size=sizes.sum())
    grades[:6] = 1
    offsets = np.concatenate(([0], sizes.cumsum()))
    return QuerySet(rows, offsets, grades, tuple("abcdefg"))


WORLDS = {"even": small_world(), "uneven": uneven()}


# The reference: parameters step by step, from batches of judged queries.


def weigh(scores: FloatArray, wins: BoolArray, gains: FloatArray, *, by_ndcg: bool) -> FloatArray:
    return lambdas(scores, wins, gains) if by_ndcg else pair_residuals(scores, wins)


def path(batches: Iterator[list[JudgedQuery]], n_features: int, *, by_ndcg: bool) -> Iterator[FloatArray]:
    """The parameters after each batch of judged queries."""
    parameters = SCORER.start(n_features)
    moments: FloatArray = np.zeros((2, parameters.size))
    for step, batch in enumerate(batches):
        documents, wins, gains = judged_lists(batch)
        if wins.any():
            weights = partial(weigh, gains=gains, by_ndcg=by_ndcg)
            direction = loss_direction(SCORER, parameters, documents, wins, weights)
            direction, moments = adam(moments, direction, step)
            parameters = parameters + RATE * direction
        yield parameters


def judged_lists(batch: list[JudgedQuery]) -> tuple[FloatArray, BoolArray, FloatArray]:
    length = max(judged.query.n_docs for judged in batch)
    features = batch[0].query.features
    documents = np.zeros((len(batch), length, features.shape[1]), dtype=features.dtype)
    wins = np.zeros((len(batch), length, length), dtype=bool)
    gains = np.zeros((len(batch), length))
    for number, judged in enumerate(batch):
        n = judged.query.n_docs
        documents[number, :n], gains[number, :n] = judged.query.features, 2.0**judged.relevance - 1
        wins[number, :n, :n] = np.greater.outer(judged.relevance, judged.relevance)
    return documents, wins, gains


def fit(train: QuerySet, rng: np.random.Generator, *, by_ndcg: bool) -> FloatArray:
    """The average of the last half of the steps."""
    batches = ([train[i] for i in rng.integers(len(train), size=QUERIES)] for _ in range(STEPS))
    late = list(path(batches, train.n_features, by_ndcg=by_ndcg))[STEPS // 2 :]
    return np.asarray(sum(late) / len(late))


def asked(train: QuerySet, draws: list[int], rng: np.random.Generator) -> list[JudgedQuery]:
    """The newest query and some of those asked before."""
    others = rng.integers(len(draws), size=QUERIES - 1).tolist()
    return [train[draws[-1]], *(train[draws[index]] for index in others)]


def life(policy: LearnsFromGrades, train: QuerySet, seed: int) -> Iterator[tuple[Ranking, FloatArray]]:
    """What a simulation does with a policy that is taught by labels; the lists, and the scores after each."""
    queries, users, own = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    warm_up(policy, train, own)
    for index in queries.integers(len(train), size=ROUNDS).tolist():
        ranking = policy.rank(train[index].query, k=5, rng=own)
        policy.shown(ranking)
        policy.learn(JUDGE.respond(ranking, train[index].relevance, users))
        yield ranking, policy.score(train.as_one_query())


@pytest.mark.parametrize("train", WORLDS.values(), ids=WORLDS.keys())
@pytest.mark.parametrize("kind", [OfflineRankNet, OfflineLambdaRank])
def test_offline_training_is_the_average_of_its_last_steps(
    kind: type[OfflineRankNet], train: QuerySet
) -> None:
    policy = kind(scorer=SCORER, steps=STEPS, queries=QUERIES, learning_rate=RATE)
    queries, _, own = map(np.random.default_rng, np.random.SeedSequence(5).spawn(3))
    expected = fit(train, own, by_ndcg=kind is OfflineLambdaRank)
    scores = SCORER.score(expected, train.features)
    draws = queries.integers(len(train), size=ROUNDS).tolist()
    for index, (ranking, found) in zip(draws, life(policy, train, 5), strict=True):
        here = SCORER.score(expected, train[index].query.features)
        assert ranking.order.tolist() == draw_by_score(here, 5, own).tolist()
        np.testing.assert_array_equal(found, scores)


@pytest.mark.parametrize("train", WORLDS.values(), ids=WORLDS.keys())
def test_online_training_steps_on_the_newest_query_and_on_some_before(train: QuerySet) -> None:
    policy = OlLambdaRankGT(scorer=SCORER, queries=QUERIES, learning_rate=RATE)
    queries, _, own = map(np.random.default_rng, np.random.SeedSequence(6).spawn(3))
    draws = queries.integers(len(train), size=ROUNDS).tolist()
    batches = (asked(train, draws[: past + 1], own) for past in range(ROUNDS))
    course, parameters = path(batches, train.n_features, by_ndcg=True), SCORER.start(train.n_features)
    for index, (ranking, found) in zip(draws, life(policy, train, 6), strict=True):
        here = SCORER.score(parameters, train[index].query.features)
        assert ranking.order.tolist() == draw_by_score(here, 5, own).tolist()
        parameters = next(course)
        np.testing.assert_array_equal(found, SCORER.score(parameters, train.features))


def test_most_policies_ask_for_no_warm_up() -> None:
    rng = np.random.default_rng(0)
    warm_up(PDGD(), WORLDS["even"], rng)
    assert rng.random() == np.random.default_rng(0).random()


def test_after_its_last_step_nothing_is_learned() -> None:
    policy = OfflineRankNet(scorer=SCORER, steps=2, queries=2)
    warm_up(policy, WORLDS["even"], np.random.default_rng(0))
    before = policy.state()
    warm_up(policy, WORLDS["even"], np.random.default_rng(1))
    for name, value in policy.state().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


def test_only_what_was_judged_teaches() -> None:
    """Grades of the first two of a list are worth as much as a list of these two."""
    query = Query("q", np.random.default_rng(0).random((6, 3)))
    relevance, order = np.array([0, 2, 1, 0, 2, 1]), np.array([4, 3, 5, 0, 1, 2])
    one, other = (OlLambdaRankGT(scorer=SCORER, queries=1) for _ in range(2))
    evidence = {"again": np.zeros(0, dtype=int)}
    rng = np.random.default_rng(0)
    one.learn(LabelJudge(top_k=2).respond(Ranking(query, order, evidence), relevance, rng))
    other.learn(LabelJudge().respond(Ranking(query, order[1::-1], evidence), relevance, rng))
    np.testing.assert_array_equal(one.parameters, other.parameters)
    assert (one.parameters != SCORER.start(3)).any()


@pytest.mark.parametrize("kind", [OfflineRankNet, OfflineLambdaRank, OlLambdaRankGT])
def test_clicks_are_no_grades(kind: type[LearnsFromGrades]) -> None:
    policy, query = kind(), Query("q", np.eye(3))
    shown = policy.rank(query, k=3, rng=np.random.default_rng(0))
    with pytest.raises(RankingError, match="learns from grades, found clicks"):
        policy.learn(Feedback(shown, np.ones(3, dtype=bool)))
