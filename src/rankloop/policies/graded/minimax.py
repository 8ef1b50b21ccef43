"""The minimax perceptron: as few mistakes on separable lists as any algorithm can promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.learning.graded_hinge import worst_pair
from rankloop.learning.measure_weights import out_of_order
from rankloop.policies.graded.graded_policy import GradedPolicy
from rankloop.scorers import Linear, Scorer
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class Minimax(GradedPolicy):
    r"""When a list has a better result below a worse one, corrects the pair that is furthest from right.

    $$\theta \leftarrow \theta + x_{i^*} - x_{j^*}, \qquad
    (i^*, j^*) = \arg\max_{R_i > R_j} (s_j - s_i) .$$

    It is a subgradient step on $\max_{R_i > R_j} (1 + s_j - s_i)_+$. A size of the step would multiply all
    scores and change no list, so none is offered. If some ranker of length 1 separates all grades by a margin
    $\gamma$, at most $4 R_X^2 / \gamma^2$ lists have a mistake, however long they are and however many there
    are; no deterministic algorithm can promise fewer, but for a constant.

    >>> from rankloop.types import Feedback, Query
    >>> policy = Minimax()
    >>> shown = policy.rank(Query("q", np.eye(3)), k=3, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, np.array([0, 2, 0]), signal="grades"))
    >>> policy.score(shown.query)[shown.order].tolist()
    [-1.0, 1.0, 0.0]

    Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
    2016, Algorithm 3.
    """

    # no setting: a network would need a step size
    scorer: ClassVar[Scorer] = Linear()  # type: ignore[misc]

    def _step(self, start: FloatArray, features: FloatArray, grades: FloatArray) -> None:
        if not out_of_order(grades):
            return
        scores = self.scorer.score(start, features)
        pair = worst_pair(scores, grades)
        if pair is None or scores[pair[0]] > scores[pair[1]]:
            return  # the list was drawn by other weights, and by these no pair is wrong
        better, worse = features[list(pair)].astype(np.float64, copy=False)
        self.step_to(start, 1.0, np.asarray(better - worse))
