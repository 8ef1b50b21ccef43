"""What policies around one scorer share that start from the caller's order: they learn what it counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.learning.click_pairs import preferred_pairs
from rankloop.learning.logistic import online_newton
from rankloop.policies.caller_order_policy import CallerOrderPolicy
from rankloop.policies.scorer_policy import ScorerPolicy
from rankloop.scorers import Offset, Scorer
from rankloop.state_fields import state
from rankloop.types import Feedback, FloatArray, Query


@dataclass(kw_only=True, eq=False)
class OrderScorerPolicy(CallerOrderPolicy, ScorerPolicy):
    r"""A policy around one scorer, which says what is to be added to the caller's order.

    How much that order counts, $w$, is learned beside the scorer, as PairRank learns it: of each pair that
    clicks suggest, $P(i \succ j) = \sigma(g_i - g_j + w (c_i - c_j) + b (p_i - p_j))$ with the scorer's $g$
    as it is, $p = -\log_2(1 + \text{position})$, and priors $\mathcal{N}(w_0, 1)$ for $w$ and
    $\mathcal{N}(0, 1)$ for $b \ge 0$, which is part of no score: nobody clicks a result because it stands
    low, so clicks far down speak against the order also where lists are always shown in it. With
    `learn_caller_order=False` $w$ stays $w_0$.
    """

    learn_caller_order: bool = True
    order_belief: FloatArray = state((0,), feature_axes=())  # w and b
    order_spread: FloatArray = state((0, 0), feature_axes=())  # covariance

    @property
    def order_weight(self) -> float:
        """How much the caller's order counts, by what was learned so far."""
        if self.order_belief.size:
            return float(self.order_belief[0])
        return 0.0 if self.layout.order is None else self.layout.order.weight

    def learn_order(self, feedback: Feedback) -> None:
        """Learn how much the caller's order counts, if it is looked at; at the end of a lesson."""
        query, order = feedback.ranking.query, feedback.ranking.order
        learns = self.learn_caller_order and feedback.signal == "clicks"
        if not (learns and self.layout.applies_to(query)):
            return
        better, worse = preferred_pairs(feedback, "matching", 0)
        if not better.size:
            return
        weight = self.order_weight
        by_order = self.layout.columns(query)[order, 0].astype(np.float64)
        rest = self.score(query)[order].astype(np.float64) - weight * by_order
        stood = -np.log2(np.arange(2.0, 2.0 + len(order)))
        pairs = np.stack([each[better] - each[worse] for each in (rest, by_order, stood)], axis=1)
        if not self.order_belief.size:
            self.order_belief, self.order_spread = np.array([weight, 0.0]), np.eye(2)
        belief, spread = order_step(self.order_belief, self.order_spread, pairs)
        if np.isfinite(belief).all():
            self.order_belief, self.order_spread = belief, spread

    @property
    def scoring(self) -> Scorer:
        """The scorer, on top of the caller's order if it is looked at."""
        return Offset(self.scorer, self.order_weight) if self.layout.extra else self.scorer

    def score(self, query: Query) -> FloatArray:
        """Scores of the learned ranker; without features, those of the caller's order."""
        columns = self.layout.columns(query)
        if not query.features.shape[1]:
            by_order = self.layout.extra > 0
            return np.asarray(self.order_weight * columns[:, 0]) if by_order else np.zeros(len(columns))
        return self.scoring.score(self.parameters_for(columns), columns)


def order_step(belief: FloatArray, spread: FloatArray, pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""$w$ and $b$ after some pairs, [n, 3]: what the scorer says of each, and differences in $c$ and $p$.

    The most probable values with $b \ge 0$, the past taken as a quadratic.

    >>> order_step(np.array([0.5, 0.0]), np.eye(2), np.array([[0.0, -1.0, -1.0]]))[0].round(3).tolist()
    [0.0, 0.0]
    """
    whole = np.zeros((3, 3))  # the scorer's part is taken as it is: it has no spread
    whole[1:, 1:] = spread
    found, after = online_newton(np.append(1.0, belief), whole, pairs)
    if found[2] < 0:  # then it is 0, and the weight what it is best if b is 0
        weight = belief[0] - spread[0, 1] / spread[1, 1] * belief[1]
        alone = np.diag([0.0, spread[0, 0] - spread[0, 1] ** 2 / spread[1, 1], 0.0])
        found, _ = online_newton(np.array([1.0, weight, 0.0]), alone, pairs)
    return found[1:], after[1:, 1:]
