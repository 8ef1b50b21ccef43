"""DLA: a ranker and a model of examination that correct each other, learned from logged clicks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Positive
from rankloop.lab.baselines.click_weights import inverse_weights, softmax_votes
from rankloop.lab.baselines.counterfactual import CounterfactualPolicy
from rankloop.learning.adam import adam
from rankloop.learning.replay_memory import enlarge
from rankloop.state_fields import state
from rankloop.types import BoolArray, FloatArray

EXAMINATION_RATE = 0.001  # of Adam, for the logits of positions


@dataclass(kw_only=True, eq=False)
class DLA(CounterfactualPolicy):
    r"""Learns from logged clicks how relevant results are and how positions are examined, both at once.

    With the scores $s$ of a list and a logit $g$ for each position, two losses are minimised together:

    $$-\sum_{i:\, c_i = 1} \frac{P(o_1)}{P(o_i)} \log \frac{e^{s_i}}{\sum_j e^{s_j}}
    \quad\text{and}\quad
    -\sum_{i:\, c_i = 1} \frac{P(r_1)}{P(r_i)} \log \frac{e^{g_i}}{\sum_j e^{g_j}},$$

    where the ranker's clicks are weighed by inverse examination, $P(o_1) / P(o_i) = e^{g_1 - g_i}$, and those
    of examination by inverse relevance, $P(r_1) / P(r_i) = e^{s_1 - s_i}$. Both take a step on each batch,
    with the weights from before it.

    >>> from rankloop.types import Feedback, Query
    >>> policy, query = DLA(), Query("q", np.eye(3), caller_scores=np.array([3.0, 2.0, 1.0]))
    >>> for seed in range(50):  # document 0 is always on top; clicked is document 1
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 1))
    >>> int(policy.score(query).argmax())
    1

    Ai, Bi, Luo, Guo, Croft: Unbiased learning to rank with unbiased propensity estimation. SIGIR 2018.
    """

    learning_rate: Positive = 0.001
    positions: FloatArray = state((0,), feature_axes=())  # the logit of each position's examination
    position_moments: FloatArray = state((2, 0), feature_axes=())  # of Adam

    def examination(self, k: int) -> FloatArray:
        """How often each of the first `k` positions is thought to be examined, compared with the first.

        >>> DLA().examination(3).tolist()  # nothing is known yet
        [1.0, 1.0, 1.0]
        """
        logits = self._logits(k)
        return np.asarray(np.exp(logits - logits[0]))

    def _votes(self, scores: FloatArray, clicks: BoolArray, shown: BoolArray) -> FloatArray:
        weights = inverse_weights(self._logits(clicks.shape[1]), self.clip)
        return softmax_votes(scores, clicks * weights, shown)

    def _learn_examination(
        self, scores: FloatArray, clicks: BoolArray, shown: BoolArray, counts: FloatArray
    ) -> None:
        logits = self._logits(clicks.shape[1])
        relevance = inverse_weights(scores, self.clip)
        votes = softmax_votes(np.broadcast_to(logits, clicks.shape), clicks * relevance, shown) * counts
        moments = enlarge(self.position_moments, (2, logits.size))
        direction, self.position_moments = adam(moments, votes.sum(axis=0), int(self.steps))
        self.positions = logits + EXAMINATION_RATE * direction

    def _logits(self, k: int) -> FloatArray:
        """Read the logits of the first `k` positions; those never seen are 0."""
        return enlarge(self.positions, (max(k, self.positions.size),))[:k]

    def _restart(self, n_features: int) -> None:
        super()._restart(n_features)
        self.positions, self.position_moments = np.zeros(0), np.zeros((2, 0))
