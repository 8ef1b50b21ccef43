"""What policies share that can start from the caller's own order: it is one more feature, with a prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from rankloop.learning.trust import Trust, order_prior
from rankloop.policies.base import Policy
from rankloop.policies.scored import ScoredPolicy
from rankloop.scorers import Offset, Scorer
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
        return Feedback(seen, feedback.reward, feedback.known, feedback.signal, feedback.seen)

    def _form(self) -> tuple[object, ...]:
        return (*super()._form(), order_prior(self.trust))


@dataclass(kw_only=True, eq=False)
class ScoredFromBase(StartsFromBase, ScoredPolicy):
    """A policy around one scorer, which says what is to be added to the caller's order."""

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
