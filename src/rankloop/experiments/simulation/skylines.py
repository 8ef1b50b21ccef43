"""Skylines: what the same networks reach when they see the true labels. No policy may; an experiment can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, pairwise, repeat
from typing import ClassVar

import numpy as np

from rankloop.experiments.simulation.loop import Record
from rankloop.experiments.simulation.measures import Cumulative, Offline, Online
from rankloop.experiments.simulation.protocol import Protocol
from rankloop.explorers import greedy
from rankloop.learning.adam import adam
from rankloop.learning.delta_ndcg import lambdas
from rankloop.learning.pair_loss import descent, residuals
from rankloop.metrics import NDCG, discounted_cumulative, mean_over_queries
from rankloop.scorers import MLP, Scorer
from rankloop.types import BoolArray, FloatArray, JudgedQuery, QuerySet, SettingError


@dataclass(frozen=True, kw_only=True)
class OfflineRankNet:
    """RankNet trained on labels: every document should stand above those of a lower grade.

    Each of `steps` steps of Adam is on `queries` queries drawn at random; the answer is the average of the
    last half of the steps.

    >>> from rankloop.checks import small_world
    >>> world = small_world()
    >>> skyline = OfflineRankNet(scorer=MLP(16), steps=100, learning_rate=0.01)
    >>> ranker = skyline.fit(world, np.random.default_rng(0))
    >>> round(mean_over_queries(NDCG(k=5), skyline.scorer.score(ranker, world.features), world), 1)
    1.0
    """

    name: ClassVar[str] = "offline-ranknet"

    scorer: Scorer = field(default_factory=MLP)
    steps: int = 2000
    queries: int = 16
    learning_rate: float = 1e-4

    def __post_init__(self) -> None:
        """Refuse never to learn."""
        counts = (self.steps, self.queries)
        if any(type(n) is not int or n < 1 for n in counts) or not 0 < self.learning_rate < np.inf:
            raise SettingError(
                f"steps and queries must be whole numbers of at least 1, learning_rate positive, found {self}"
            )

    def fit(self, train: QuerySet, rng: np.random.Generator) -> FloatArray:
        """The parameters that the labels of a whole training set teach."""
        draws = ([train[i] for i in rng.integers(len(train), size=self.queries)] for _ in range(self.steps))
        late = islice(self.path(draws, train.n_features), self.steps // 2, None)
        return np.asarray(sum(late) / (self.steps - self.steps // 2))

    def path(self, batches: Iterator[list[JudgedQuery]], n_features: int) -> Iterator[FloatArray]:
        """The parameters after each batch of judged queries."""
        parameters = self.scorer.start(n_features)
        moments: FloatArray = np.zeros((2, parameters.size))
        for step, batch in enumerate(batches):
            documents, wins, gains = judged_lists(batch)
            if wins.any():
                direction = descent(
                    self.scorer, parameters, documents, wins, partial(self._weigh, gains=gains)
                )
                direction, moments = adam(moments, direction, step)
                parameters = parameters + self.learning_rate * direction
            yield parameters

    def records(self, train: QuerySet, test: QuerySet, *, seed: int, protocol: Protocol) -> Iterator[Record]:
        """What a policy would be measured by if it were this ranker for all the rounds.

        Queries are those that a policy with the same seed meets in `simulate`.
        """
        queries, _, own = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
        draws = queries.integers(len(train), size=protocol.rounds).tolist()
        course = self._course(train, draws, own)
        ndcg, shown, parameters = NDCG(k=protocol.k), np.zeros(protocol.rounds), next(course)
        for start, end in pairwise(protocol.checkpoint_rounds()):
            for past in range(start, end):
                judged = train[draws[past]]
                scores = self.scorer.score(parameters, judged.query.features)
                shown[past] = ndcg(greedy(scores, protocol.k, own), judged.relevance)
                parameters = next(course)
            scores = self.scorer.score(parameters, test.features)
            value = mean_over_queries(ndcg, scores, test, without_relevant=protocol.without_relevant)
            yield Record(end, Offline(ndcg), value)
            cumulative = discounted_cumulative(shown[:end], discount=protocol.discount)
            yield Record(end, Online(ndcg), float(shown[start:end].mean()))
            yield Record(end, Cumulative(ndcg, protocol.discount), float(cumulative[-1]))

    def _course(self, train: QuerySet, draws: list[int], rng: np.random.Generator) -> Iterator[FloatArray]:
        """The parameters before the first round, and after each."""
        del draws  # it has learned before
        return repeat(self.fit(train, rng))

    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        del gains  # every pair counts the same
        return residuals(scores, wins)


@dataclass(frozen=True, kw_only=True)
class OfflineLambdaRank(OfflineRankNet):
    r"""LambdaRank trained on labels: pairs count by the nDCG@10 that swapping them would change."""

    name: ClassVar[str] = "offline-lambdarank"

    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        return lambdas(scores, wins, gains)


@dataclass(frozen=True, kw_only=True)
class OnlineLambdaRank(OfflineLambdaRank):
    """The papers' olLambdaRank GT: an online life in which every query asked shows its true labels.

    It shows its best list, and takes a step on the labels of the new query and of others asked before.
    `steps` is not used: there is one in every round.

    >>> from rankloop.checks import small_world
    >>> world, skyline = small_world(), OnlineLambdaRank(scorer=MLP(16), learning_rate=0.01)
    >>> records = list(skyline.records(world, world, seed=0, protocol=Protocol(rounds=100, k=5)))
    >>> [round(record.value, 1) for record in records if record.metric == "offline nDCG@5"][-1]
    1.0
    """

    name: ClassVar[str] = "ollambdarank-gt"

    def _course(self, train: QuerySet, draws: list[int], rng: np.random.Generator) -> Iterator[FloatArray]:
        asked = (_asked(train, draws[: past + 1], self.queries, rng) for past in range(len(draws)))
        return chain((self.scorer.start(train.n_features),), self.path(asked, train.n_features))


def judged_lists(batch: Sequence[JudgedQuery]) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Documents [n, length, n_features], who beats whom [n, length, length], and the gains $2^r - 1$.

    Shorter lists end in documents that neither win nor lose.

    >>> queries = QuerySet(np.eye(3), np.array([0, 1, 3]), np.array([1, 0, 2]), ("a", "b"))
    >>> documents, wins, gains = judged_lists(list(queries))
    >>> wins.astype(int).tolist(), gains.tolist()
    ([[[0, 0], [0, 0]], [[0, 0], [1, 0]]], [[1.0, 0.0], [0.0, 3.0]])
    """
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


def _asked(train: QuerySet, draws: list[int], n: int, rng: np.random.Generator) -> list[JudgedQuery]:
    """The newest query and some of those asked before."""
    others = rng.integers(len(draws), size=n - 1).tolist()
    return [train[draws[-1]], *(train[draws[index]] for index in others)]
