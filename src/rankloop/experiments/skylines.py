"""Skylines: what the same networks reach when they see the true labels. No policy may; an experiment can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise

import numpy as np

from rankloop.experiments.loop import Record
from rankloop.experiments.protocol import Protocol
from rankloop.explorers import greedy
from rankloop.metrics import NDCG, discounted_cumulative, mean_over_queries
from rankloop.policies.adam import adam
from rankloop.policies.ollambdarank import lambdas
from rankloop.policies.pairloss import descent, surprise
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
    >>> ranker = skyline.fit(world)
    >>> round(mean_over_queries(NDCG(k=5), skyline.scorer.score(ranker, world.features), world), 1)
    1.0
    """

    scorer: Scorer = field(default_factory=MLP)
    steps: int = 2000
    queries: int = 16
    learning_rate: float = 1e-4
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse never to learn."""
        if self.steps < 1 or self.queries < 1 or not 0 < self.learning_rate < np.inf:
            raise SettingError(f"steps, queries and learning_rate must be positive, found {self}")

    def fit(self, train: QuerySet) -> FloatArray:
        """The parameters that the labels of a whole training set teach."""
        rng = np.random.default_rng(self.seed)
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

    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        del gains  # every pair counts the same
        return surprise(scores, wins)


@dataclass(frozen=True, kw_only=True)
class OfflineLambdaRank(OfflineRankNet):
    r"""LambdaRank trained on labels: pairs count by the nDCG@10 that swapping them would change."""

    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        return lambdas(scores, wins, gains)


def with_labels(
    skyline: OfflineRankNet, train: QuerySet, test: QuerySet, *, seed: int, protocol: Protocol
) -> Iterator[Record]:
    """The papers' olLambdaRank GT: an online life in which every query asked shows its true labels.

    It meets the same queries as a policy with the same seed in `simulate`, shows its best list, and takes a
    step on the labels of the new query and of others asked before.

    >>> from rankloop.checks import small_world
    >>> world, skyline = small_world(), OfflineLambdaRank(scorer=MLP(16), learning_rate=0.01)
    >>> records = list(with_labels(skyline, world, world, seed=0, protocol=Protocol(rounds=100, k=5)))
    >>> [round(record.value, 1) for record in records if record.metric == "offline nDCG@5"][-1]
    1.0
    """
    queries, _, policies = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    draws = queries.integers(len(train), size=protocol.rounds).tolist()
    ndcg, shown = NDCG(k=protocol.k), np.zeros(protocol.rounds)
    batches = (_asked(train, draws[: past + 1], skyline.queries, policies) for past in range(protocol.rounds))
    path = skyline.path(batches, train.n_features)
    parameters = skyline.scorer.start(train.n_features)
    for start, end in pairwise(protocol.checkpoint_rounds()):
        for past in range(start, end):
            judged = train[draws[past]]
            scores = skyline.scorer.score(parameters, judged.query.features)
            shown[past] = ndcg(greedy(scores, protocol.k, policies), judged.relevance)
            parameters = next(path)
        scores = skyline.scorer.score(parameters, test.features)
        value = mean_over_queries(ndcg, scores, test, without_relevant=protocol.without_relevant)
        yield Record(end, f"offline {ndcg}", value)
        cumulative = discounted_cumulative(shown[:end], discount=protocol.discount)
        yield Record(end, f"online {ndcg}", float(shown[start:end].mean()))
        yield Record(end, f"cumulative {ndcg}", float(cumulative[-1]))


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
