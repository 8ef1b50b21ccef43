"""SLAM: a perceptron for lists, whose loss bounds that of a ranking measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankloop.bounds import Count, Positive
from rankloop.learning.graded_hinge import listwise_hinge
from rankloop.learning.measure_weights import APWeights, ListWeights, NDCGWeights
from rankloop.policies.graded.graded_policy import GradedPolicy
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class Slam(GradedPolicy):
    r"""Takes a step when the list shown is not the best by its measure, and rests otherwise.

    The step descends a loss that is never below $1 - \text{nDCG@k}$, or $1 - \text{AP}$, whichever `measure`
    the weights $v$ are made for:

    $$\phi(s, R) = \sum_i v_i \max\Bigl(0, \max_{j: R_j < R_i} (1 + s_j - s_i)\Bigr), \qquad
    \theta \leftarrow \theta - \eta \, X^\top \nabla_s \phi .$$

    If some ranker of length 1 separates all grades by a margin $\gamma$, the sum of $1 - \text{nDCG}$ over
    all lists is at most $4 m R_X^2 v_{\max} / \gamma^2$, however many there are.

    >>> from rankloop.types import Feedback, Query
    >>> policy = Slam()
    >>> shown = policy.rank(Query("q", np.eye(3)), k=3, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, np.array([0, 2, 0]), signal="grades"))
    >>> policy.score(shown.query)[shown.order].tolist()
    [-0.1, 0.1, 0.0]

    Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
    2016, Algorithm 2.
    """

    measure: Literal["ndcg", "ap"] = "ndcg"
    k: Count | None = 10  # of nDCG; None: no cutoff
    learning_rate: Positive = 0.1

    def _step(self, start: FloatArray, features: FloatArray, grades: FloatArray) -> None:
        weights: ListWeights = NDCGWeights(self.k) if self.measure == "ndcg" else APWeights()
        levels = weights.levels(grades)
        if not weights.has_mistake(levels):
            return
        scores = self.scorer.score(start, features).astype(np.float64, copy=False)
        _, slope = listwise_hinge(scores, levels, weights.shares)
        rows = slope.nonzero()[0]
        if rows.size:
            self.step_to(start, -self.learning_rate, self.scorer.vjp(start, features[rows], slope[rows]))
