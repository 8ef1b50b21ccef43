"""RankNet by stochastic gradient descent, without exploration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from rankloop.bounds import Positive
from rankloop.exploration import draw_by_score
from rankloop.learning.click_pairs import Pairing, preferred_pairs, sum_votes
from rankloop.policies.order_scorer_policy import OrderScorerPolicy
from rankloop.types import Array, Feedback, Query, Ranking


@dataclass(kw_only=True, eq=False)
class RankNet(OrderScorerPolicy):
    r"""Shows what it thinks best and takes one gradient step on the pairs each list teaches.

    A clicked result should stand above an examined one that was not clicked. With
    $P(i \succ j) = \sigma(s_i - s_j)$ the loss of a list is $-\sum_{(i, j)} \log \sigma(s_i - s_j)$, and

    $$\theta \leftarrow \theta + \eta \sum_{(i, j)} \sigma(s_j - s_i) \, \nabla_\theta (s_i - s_j).$$

    `pairing` says which pairs: by default no result is in two of them, so that one mistaken click makes one
    mistaken pair. Exploration comes only from luck: from the random order of ties, and from noisy clicks.

    >>> from rankloop.types import Feedback, Query
    >>> policy = RankNet(learning_rate=1.0)
    >>> shown = policy.rank(Query("q", np.eye(2)), k=2, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, np.array([False, True])))
    >>> policy.score(shown.query)[shown.order].tolist()  # half a step: the model was undecided
    [-0.5, 0.5]

    Burges et al.: Learning to rank using gradient descent. ICML 2005.
    """

    evidence_scope = "documents"  # a seed for their pairs, if any

    learning_rate: Positive = 0.001
    pairing: Pairing = "adjacent"

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Show the best first."""
        seed = self._pairing_seed(rng)
        return Ranking(query, draw_by_score(self.score(query), k, rng), seed)

    def learn(self, feedback: Feedback) -> None:
        """One gradient step on the pairs of this list."""
        # a list that was shown before the pairs were matched has no seed of its own
        seed = int(feedback.ranking.evidence.get("seed", 0))
        better, worse = preferred_pairs(feedback, self.pairing, seed)
        query = feedback.ranking.query
        if not (better.size and query.features.shape[1]):
            return
        rows = self.layout.columns(query)[feedback.ranking.order]
        parameters = self.parameters_for(rows)
        scores = self.scoring.score(parameters, rows)
        residual = expit(scores[worse] - scores[better])
        votes = sum_votes(better, worse, residual, len(rows))
        self.step_to(parameters, self.learning_rate, self.scorer.vjp(parameters, rows, votes))
        self.learn_order(feedback)

    def _pairing_seed(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw the evidence: what `learn` needs to match clicked with skipped results, if it is to."""
        return {"seed": np.array(rng.integers(2**63))} if self.pairing == "matching" else {}
