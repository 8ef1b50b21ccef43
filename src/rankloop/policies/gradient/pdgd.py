"""Pairwise differentiable gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Factor, Positive
from rankloop.errors import RankingError
from rankloop.exploration import draw_plackett_luce
from rankloop.learning.click_pairs import clicked_over_skipped, sum_votes
from rankloop.policies.order_scorer_policy import OrderScorerPolicy
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class PDGD(OrderScorerPolicy):
    r"""Draws lists from its scores, and learns from every clicked result that beat an examined one.

    The list $R$ comes from a Plackett-Luce model over the scores. For each preference $i \succ j$ that the
    clicks suggest,

    $$\theta \leftarrow \theta + \eta \sum_{i \succ j} \rho(i, j) \,
    \sigma(s_i - s_j) \, \sigma(s_j - s_i) \, \nabla_\theta (s_i - s_j),
    \qquad \rho = \frac{P(R^*)}{P(R) + P(R^*)},$$

    where $R^*$ is $R$ with $i$ and $j$ swapped: a preference counts the less, the more the shown order
    favoured it. The pairs' weights come from the scores the list was drawn from, however late the clicks.

    >>> from rankloop.types import Feedback, Query
    >>> policy = PDGD(learning_rate=1.0)
    >>> shown = policy.rank(Query("q", np.eye(2)), k=2, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, np.array([False, True])))
    >>> policy.score(shown.query)[shown.order].tolist()  # ρ = 1/2, σσ = 1/4
    [-0.125, 0.125]

    Oosterhuis, de Rijke: Differentiable unbiased online learning to rank. CIKM 2018.
    """

    evidence_scope = "documents"  # their scores

    learning_rate: Positive = 0.1
    decay: Factor = 1.0  # of the learning rate, at each update
    updates: Array = state(dtype=np.int64)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Draw a list from the scores."""
        scores = self.score(query)
        return Ranking(query, draw_plackett_luce(scores, k, rng), {"scores": scores})

    def learn(self, feedback: Feedback) -> None:
        """One debiased gradient step on the pairs of this list."""
        better, worse = clicked_over_skipped(feedback)
        ranking = feedback.ranking
        if not (better.size and ranking.query.features.shape[1]):
            return
        scores = ranking.evidence["scores"].astype(np.float64, copy=False)
        if scores.size != ranking.query.n_docs:
            raise RankingError(f"evidence of {scores.size} scores for {ranking.query.n_docs} documents")
        shown = scores[ranking.order]
        # σ(x)σ(-x) = 1 / (2 + 2 cosh x); beyond 700 the pair is settled and cosh would overflow
        undecided = 0.5 / (1.0 + np.cosh(np.clip(shown[better] - shown[worse], -700, 700)))
        weights = swap_probability(scores, ranking.order, better, worse) * undecided
        votes = sum_votes(better, worse, weights, len(ranking))
        rows = self.layout.columns(ranking.query)[ranking.order]
        parameters = self.parameters_for(rows)
        size = self.learning_rate * self.decay ** float(self.updates)
        self.step_to(parameters, size, self.scorer.vjp(parameters, rows, votes))
        self.updates = self.updates + 1
        self.learn_order(feedback)


def swap_probability(scores: FloatArray, order: IntArray, a: IntArray, b: IntArray) -> FloatArray:
    r"""$P(R^*) / (P(R) + P(R^*))$ for lists $R^*$ that are $R$ with positions $a$ and $b$ swapped.

    Only the softmax denominators between the two positions change. With $D_m$ the denominator at rank $m$
    and $i < j$ the two ranks, $\rho = 1 / \bigl(1 + \prod_{m=i+1}^{j} (D_m + e^{s_i} - e^{s_j}) / D_m\bigr)$.

    >>> even = np.zeros(3)
    >>> swap_probability(even, np.arange(3), np.array([0]), np.array([2])).tolist()
    [0.5]
    """
    lift = np.exp(scores - scores.max())
    shown = lift[order]
    lift[order] = 0.0
    # summed from the end of the list, so that nothing is lost to cancellation
    denominators = np.maximum(lift.sum() + shown[::-1].cumsum()[::-1], np.finfo(np.float64).tiny)
    upper, lower = np.minimum(a, b)[:, None], np.maximum(a, b)[:, None]
    rank = np.arange(order.size)
    between = (rank > upper) & (rank <= lower)
    change = np.where(between, 1.0 + (shown[upper] - shown[lower]) / denominators, 1.0)
    with np.errstate(over="ignore"):  # infinitely unlikely is 0
        rho: FloatArray = 1.0 / (1.0 + np.maximum(change, 0.0).prod(axis=1))
    return rho
