"""The yardstick: every policy written as plainly as its paper allows, with loops one can read.

Scores are NumPy products, as everybody's are; the rest follows the definitions one document, one pair and one
position at a time. The tests hold our own implementations against these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from statistics import NormalDist
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from rankloop.lab.users import Cascade
from rankloop.policies import Policy
from rankloop.query_set import QuerySet
from rankloop.types import Feedback, FloatArray, IntArray, Query, Ranking, Signal


@dataclass(frozen=True)
class PlainUser:
    """Reads from the top, one result at a time."""

    gives: ClassVar[Signal] = "clicks"

    user: Cascade

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Click by click."""
        clicks = [False] * len(ranking)
        for position, doc in enumerate(ranking.order):
            grade = relevance[doc]
            clicks[position] = rng.random() < self.user.click[grade]
            decides = clicks[position] or self.user.stop_at == "every"
            if decides and rng.random() < self.user.stop[grade]:
                break
        return Feedback(ranking, np.array(clicks))


@dataclass(kw_only=True, eq=False)
class PlainPolicy(Policy):
    """A linear scorer."""

    weights: FloatArray = field(default_factory=lambda: np.empty(0), init=False)

    def score(self, query: Query) -> FloatArray:
        """Weighted sums."""
        return query.features @ self.known_weights(query.features)

    def known_weights(self, features: FloatArray) -> FloatArray:
        """The weights, zero at first."""
        return self.weights if self.weights.size else np.zeros(features.shape[1])


def best_first(scores: FloatArray, rng: np.random.Generator) -> list[int]:
    """All documents, the best first, ties in random order."""
    return sorted(range(len(scores)), key=lambda doc: (-scores[doc], rng.random()))


def preferences(feedback: Feedback) -> list[tuple[int, int]]:
    """Positions (clicked, skipped), down to one below the last click."""
    clicked = [position for position, click in enumerate(feedback.clicks) if click]
    if not clicked:
        return []
    examined = range(min(clicked[-1] + 2, len(feedback.clicks)))
    skipped = [position for position in examined if not feedback.clicks[position]]
    return [(i, j) for i in clicked for j in skipped]


@dataclass(kw_only=True, eq=False)
class PlainRandom(PlainPolicy):
    """Shuffles."""

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Draw the documents one by one."""
        left = list(range(query.n_docs))
        order = [left.pop(int(rng.integers(len(left)))) for _ in range(min(k, len(left)))]
        return Ranking(query, np.array(order))

    def learn(self, feedback: Feedback) -> None:
        """Nothing to learn."""


@dataclass(kw_only=True, eq=False)
class PlainRankNet(PlainPolicy):
    """One gradient step, pair by pair."""

    learning_rate: float = 0.001

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """The best first."""
        return Ranking(query, np.array(best_first(self.score(query), rng)[:k]))

    def learn(self, feedback: Feedback) -> None:
        """Sum the gradients of the pairs 1-2, 3-4, ... in which one was clicked."""
        shown = feedback.ranking.query.features[feedback.ranking.order]
        weights = self.known_weights(shown)
        step = np.zeros_like(weights)
        for i, j in preferences(feedback):
            if i // 2 == j // 2:
                difference = shown[i] - shown[j]
                step += difference / (1 + np.exp(weights @ difference))
        self.weights = weights + self.learning_rate * step


@dataclass(kw_only=True, eq=False)
class PlainEpsilonGreedy(PlainRankNet):
    """A coin for each position."""

    epsilon: float = 0.1

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Mostly the best of what is left."""
        left = best_first(self.score(query), rng)
        order = []
        for _ in range(min(k, len(left))):
            explore = rng.random() < self.epsilon
            order.append(left.pop(int(rng.integers(len(left))) if explore else 0))
        return Ranking(query, np.array(order))


@dataclass(kw_only=True, eq=False)
class PlainPDGD(PlainPolicy):
    """Plackett-Luce lists, and the probabilities of a list and its reverse, position by position."""

    learning_rate: float = 0.1

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Draw position after position from the softmax of what is left."""
        scores = self.score(query)
        left, order = list(range(query.n_docs)), []
        for _ in range(min(k, query.n_docs)):
            lift = np.exp(scores[left] - scores[left].max())
            order.append(left.pop(int(rng.choice(len(left), p=lift / lift.sum()))))
        return Ranking(query, np.array(order), {"scores": scores})

    def learn(self, feedback: Feedback) -> None:
        """Weigh every pair by the probability of the list in which it is reversed."""
        ranking = feedback.ranking
        scores = ranking.evidence["scores"]
        order = ranking.order.tolist()
        weights = self.known_weights(ranking.query.features)
        step = np.zeros_like(weights)
        for i, j in preferences(feedback):
            reversed_order = list(order)
            reversed_order[i], reversed_order[j] = order[j], order[i]
            odds = np.exp(log_probability(scores, order) - log_probability(scores, reversed_order))
            margin = scores[order[i]] - scores[order[j]]
            weight = 1 / (1 + odds) / (1 + np.exp(-margin)) / (1 + np.exp(margin))
            step += weight * (ranking.query.features[order[i]] - ranking.query.features[order[j]])
        self.weights = weights + self.learning_rate * step


def log_probability(scores: FloatArray, order: list[int]) -> float:
    """Of a list under the Plackett-Luce model."""
    lift = np.exp(scores - scores.max())
    left, total = float(lift.sum()), 0.0
    for doc in order:
        total += float(np.log(lift[doc] / left))
        left -= float(lift[doc])
    return total


@dataclass(kw_only=True, eq=False)
class PlainMGD(PlainPolicy):
    """Duels with many neighbours."""

    candidates: int = 9
    step: float = 0.01
    combine: Callable[[list[list[int]], int, np.random.Generator], tuple[list[int], FloatArray]]

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Make every ranker's list, then one list of them."""
        weights = self.known_weights(query.features)
        directions = []
        for _ in range(self.candidates):
            direction = rng.standard_normal(weights.size)
            directions.append(direction / np.linalg.norm(direction))
        rankers = [weights, *(weights + direction for direction in directions)]
        lists = [best_first(query.features @ ranker, rng) for ranker in rankers]
        order, owners = self.combine(lists, min(k, query.n_docs), rng)
        return Ranking(query, np.array(order), {"owners": owners, "directions": np.array(directions)})

    def learn(self, feedback: Feedback) -> None:
        """Count the clicks of every ranker."""
        evidence = feedback.ranking.evidence
        weights = self.known_weights(feedback.ranking.query.features)
        earned = [0.0] * (self.candidates + 1)
        for ranker in range(self.candidates + 1):
            for position, click in enumerate(feedback.clicks):
                if click:
                    earned[ranker] += evidence["owners"][ranker, position]
        winners = [evidence["directions"][i] for i in range(self.candidates) if earned[i + 1] > earned[0]]
        if winners:
            self.weights = weights + self.step * np.mean(winners, axis=0)


def team_draft(lists: list[list[int]], k: int, rng: np.random.Generator) -> tuple[list[int], FloatArray]:
    """Captains in random order, round by round; an agreed head is nobody's."""
    order: list[int] = []
    owners = np.zeros((len(lists), k))
    while len(order) < k and all(ranker[len(order)] == lists[0][len(order)] for ranker in lists):
        order.append(lists[0][len(order)])
    while len(order) < k:
        for captain in rng.permutation(len(lists)):
            if len(order) < k:
                owners[captain, len(order)] = 1
                order.append(next(doc for doc in lists[captain] if doc not in order))
    return order, owners


def probabilistic(lists: list[list[int]], k: int, rng: np.random.Generator) -> tuple[list[int], FloatArray]:
    """Each position: a ranker by lot, a document from its distribution; then who else might have done it."""
    order: list[int] = []
    owners = np.zeros((len(lists), k))
    for position in range(k):
        chances = []
        for ranker in lists:
            weights = {doc: 1 / rank**3 for rank, doc in enumerate(ranker, 1) if doc not in order}
            total = sum(weights.values())
            chances.append({doc: weight / total for doc, weight in weights.items()})
        drawn = chances[int(rng.integers(len(lists)))]
        doc = list(drawn)[int(rng.choice(len(drawn), p=np.array(list(drawn.values()))))]
        shares = np.array([chance[doc] for chance in chances])
        owners[:, position] = shares / shares.sum()
        order.append(doc)
    return order, owners


@dataclass(kw_only=True, eq=False)
class PlainPairRank(PlainPolicy):
    """Every pair asked one by one whether it is certain; the regression solved anew after every list."""

    level: float = 0.6
    prior: float = 0.4
    history: FloatArray = field(default_factory=lambda: np.empty((0, 0)), init=False)
    penalty: FloatArray = field(default_factory=lambda: np.zeros(()), init=False)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Draw each position from the documents that no remaining one certainly beats."""
        seed = int(rng.integers(2**63))
        certain = self.certain_orders(query)
        left = set(range(query.n_docs))
        order: list[int] = []
        while left and len(order) < k:
            free = [doc for doc in sorted(left) if not any((other, doc) in certain for other in left)]
            order.append(free[int(rng.integers(len(free)))])
            left.remove(order[-1])
        return Ranking(query, np.array(order), {"seed": np.array(seed)})

    def certain_orders(self, query: Query) -> set[tuple[int, int]]:
        """All (i, j) for which the model is sure that i is better than j."""
        if not self.weights.size:
            return set()
        features = query.features
        needed = NormalDist().inv_cdf(self.level)
        covariance = np.linalg.inv(self.curvature())
        certain = set()
        for i in range(len(features)):
            for j in range(len(features)):
                difference = features[i].astype(np.float64) - features[j]
                lead = self.weights @ difference
                if lead > 0 and lead >= needed * np.sqrt(difference @ covariance @ difference):
                    certain.add((i, j))
        return certain

    def learn(self, feedback: Feedback) -> None:
        """Match clicked with skipped results, and solve over the whole history."""
        features = feedback.ranking.query.features
        rng = np.random.default_rng(int(feedback.ranking.evidence["seed"]))
        examined = min(max(np.flatnonzero(feedback.clicks), default=-2) + 2, len(feedback.clicks))
        clicked = rng.permutation([p for p in range(examined) if feedback.clicks[p]])
        skipped = rng.permutation([p for p in range(examined) if not feedback.clicks[p]])
        order = feedback.ranking.order
        pairs = [
            features[order[int(i)]].astype(np.float64) - features[order[int(j)]]
            for i, j in zip(clicked, skipped, strict=False)
        ]
        if not np.any(pairs):
            return
        if not self.weights.size:
            distances = [float(((a - b) ** 2).sum()) for a, b in permutations(features.astype(np.float64), 2)]
            self.penalty = np.array(np.mean(distances) / self.prior**2)
            self.weights, self.history = np.zeros(features.shape[1]), np.empty((0, features.shape[1]))
        self.history = np.vstack((self.history, pairs))
        self.weights = minimize(self.loss, self.weights, jac=self.gradient, method="L-BFGS-B", tol=1e-9).x

    def loss(self, weights: FloatArray) -> float:
        """Logistic loss of all pairs so far, regularised."""
        return float(np.logaddexp(0, -self.history @ weights).sum() + self.penalty / 2 * weights @ weights)

    def gradient(self, weights: FloatArray) -> FloatArray:
        """Its derivative."""
        doubt = 1 / (1 + np.exp(self.history @ weights))
        return self.penalty * weights - self.history.T @ doubt

    def curvature(self) -> FloatArray:
        """Its second derivative, pair by pair."""
        total = self.penalty * np.eye(self.weights.size)
        for pair in self.history:
            margin = pair @ self.weights
            total += np.outer(pair, pair) / (1 + np.exp(margin)) / (1 + np.exp(-margin))
        return total


def read_plainly(path: Path) -> QuerySet:
    """A LETOR file, line by line into lists, as everybody's first reader does it."""
    rows: list[dict[int, float]] = []
    grades: list[int] = []
    queries: list[str] = []
    with path.open() as file:
        for line in file:
            grade, query, *features = line.partition("#")[0].split()
            grades.append(int(grade))
            queries.append(query.removeprefix("qid:"))
            rows.append({int(index): float(value) for index, value in (pair.split(":") for pair in features)})
    matrix = np.zeros((len(rows), max(max(row) for row in rows)), dtype=np.float32)
    for number, row in enumerate(rows):
        for index, value in row.items():
            matrix[number, index - 1] = value
    starts = [n for n in range(len(queries)) if n == 0 or queries[n] != queries[n - 1]]
    return QuerySet(matrix, np.array([*starts, len(rows)]), np.array(grades), [queries[n] for n in starts])
