"""What policies share that can start from the caller's own order: it is one more feature, with a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankloop.caller_order import OrderPrior, Trust, order_prior
from rankloop.errors import SettingError
from rankloop.learning.click_pairs import preferred_pairs
from rankloop.learning.logistic import online_newton
from rankloop.policies.scorer_policy import ScoredPolicy
from rankloop.policy import Policy
from rankloop.scorers import Offset, Scorer
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class StartsFromBase(Policy):
    r"""A policy that begins with the order in which candidates come, and departs from it as clicks teach it.

    `trust` says how good that order is: `"good"`, `"decent"`, `"poor"`, `"unknown"`, or a weight. The policy
    then sees one more feature, before all others: $\text{deviation} \cdot c$ with
    $c = -\log_2(1 + \text{rank})$, whose weight has the prior $\mathcal{N}(w, 1)$ with
    $w = \text{mean} / \text{deviation}$. Queries without a base order have 0 there. Without trust, nothing of
    this is there.

    >>> from rankloop.policies import PairRank
    >>> query = Query("q", np.zeros((3, 1)), base=np.array([0.2, 0.9, 0.5]))
    >>> PairRank(trust="decent").rank(query, k=3, rng=np.random.default_rng(0)).order.tolist()
    [1, 2, 0]
    """

    state_shaping = ("order_prior",)

    trust: Trust = None

    def __post_init__(self) -> None:
        """Refuse a trust that says nothing."""
        super().__post_init__()
        order_prior(self.trust)

    def widened(self, n_features: int) -> Self | None:
        """With a weight more for each new feature, and one for the base order."""
        return super().widened(n_features + self.base_columns)

    def widened_evidence(self, evidence: Mapping[str, Array], n_features: int) -> dict[str, Array]:
        """Evidence has an entry for the base order, too."""
        return super().widened_evidence(evidence, n_features + self.base_columns)

    def narrowed_evidence(self, evidence: Mapping[str, Array], features: Sequence[int]) -> dict[str, Array]:
        """The entry for the base order comes first, and stays."""
        return super().narrowed_evidence(evidence, [each + self.base_columns for each in features])

    @property
    def order_prior(self) -> OrderPrior | None:
        """What the weight of the caller's order is thought to be; `None`: the order is ignored."""
        return order_prior(self.trust)

    @property
    def base_columns(self) -> int:
        """How many features there are more than the query's: one, or none without trust."""
        return int(order_prior(self.trust) is not None)

    @property
    def base_weight(self) -> float:
        """How much the first feature counts before anything was learned."""
        prior = order_prior(self.trust)
        return 0.0 if prior is None else prior.mean / prior.deviation

    def trusts(self, query: Query) -> bool:
        """Whether there is an order to start from."""
        return query.log_ranks is not None and order_prior(self.trust) is not None

    def based(self, query: Query) -> Query:
        """The query as this policy sees it: with its base order as the first feature."""
        prior = order_prior(self.trust)
        if prior is None:
            return query
        features, more = query.features, self.base_columns
        seen = np.zeros((len(features), more + features.shape[1]), dtype=features.dtype)
        if query.log_ranks is not None:
            seen[:, 0] = prior.deviation * query.log_ranks
        seen[:, more:] = features
        return query.with_features(seen)

    def based_feedback(self, feedback: Feedback) -> Feedback:
        """The feedback on a ranking of the query as this policy sees it."""
        if not self.base_columns:
            return feedback
        ranking = feedback.ranking
        seen = Ranking(self.based(ranking.query), ranking.order, ranking.evidence)
        return Feedback(seen, feedback.reward, feedback.judged, feedback.signal, feedback.truly_examined)


@dataclass(kw_only=True, eq=False)
class ScoredFromBase(StartsFromBase, ScoredPolicy):
    r"""A policy around one scorer, which says what is to be added to the caller's order.

    How much that order counts, $w$, is learned beside the scorer, as PairRank learns it: of each pair that
    clicks suggest, $P(i \succ j) = \sigma(g_i - g_j + w (c_i - c_j) + b (p_i - p_j))$ with the scorer's $g$
    as it is, $p = -\log_2(1 + \text{position})$, and priors $\mathcal{N}(w_0, 1)$ for $w$ and
    $\mathcal{N}(0, 1)$ for $b \ge 0$, which is part of no score: nobody clicks a result because it stands
    low, so clicks far down speak against the order also where lists are always shown in it. With
    `learn_trust=False` $w$ stays $w_0$.
    """

    learn_trust: bool = True
    order_belief: FloatArray = state((0,), feature_axes=())  # w and b
    order_spread: FloatArray = state((0, 0), feature_axes=())  # covariance

    def __post_init__(self) -> None:
        """Refuse what is neither true nor false."""
        super().__post_init__()
        if not isinstance(self.learn_trust, bool):
            raise SettingError(f"learn_trust must be true or false, found {self.learn_trust!r}")

    @property
    def base_weight(self) -> float:
        """How much the caller's order counts, by what was learned so far."""
        return float(self.order_belief[0]) if self.order_belief.size else super().base_weight

    def learn_order(self, feedback: Feedback) -> None:
        """Learn how much the caller's order counts, if it is trusted; at the end of a lesson."""
        ranking = feedback.ranking
        if not (self.learn_trust and feedback.signal == "clicks" and self.trusts(ranking.query)):
            return
        better, worse = preferred_pairs(feedback, "matching", 0)
        if not better.size:
            return
        weight = self.base_weight
        base = self.based(ranking.query).features[ranking.order, 0].astype(np.float64)
        rest = self.score(ranking.query)[ranking.order].astype(np.float64) - weight * base
        stood = -np.log2(np.arange(2.0, 2.0 + len(ranking)))
        pairs = np.stack([each[better] - each[worse] for each in (rest, base, stood)], axis=1)
        if not self.order_belief.size:
            self.order_belief, self.order_spread = np.array([weight, 0.0]), np.eye(2)
        belief, spread = order_step(self.order_belief, self.order_spread, pairs)
        if np.isfinite(belief).all():
            self.order_belief, self.order_spread = belief, spread

    @property
    def scoring(self) -> Scorer:
        """The scorer, on top of the base order if it is trusted."""
        return Offset(self.scorer, self.base_weight) if self.base_columns else self.scorer

    def score(self, query: Query) -> FloatArray:
        """Scores of the learned ranker; without features, those of the base order."""
        seen = self.based(query).features
        if not query.features.shape[1]:
            return np.asarray(self.base_weight * seen[:, 0]) if seen.shape[1] else np.zeros(len(seen))
        return self.scoring.score(self.parameters_for(seen), seen)


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
