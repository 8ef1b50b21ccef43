"""Online ListNet: cross entropy between grades and scores, one list at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import NonNegative, Positive
from rankloop.policies.graded.graded_policy import GradedPolicy
from rankloop.types import FloatArray


@dataclass(kw_only=True, eq=False)
class ListNet(GradedPolicy):
    r"""Draws the distribution that the scores give over the list's top towards that of the grades.

    $$\theta \leftarrow \theta - \eta_t \, X^\top \bigl(\operatorname{softmax}(s) -
    \operatorname{softmax}(R)\bigr),$$

    a gradient step on $-\sum_i \operatorname{softmax}(R)_i \log \operatorname{softmax}(s)_i$ in every round,
    whether there was a mistake or not. The size of the step in round $t$ is $\eta_t = \eta_1 / t^a$ with
    $\eta_1$ = `learning_rate` and $a$ = `decay_exponent`. With $a = 1/2$ there is no regret in the long run
    against any fixed ranker; with $a = 0$ steps keep their size, and what was learned long ago fades.

    >>> from rankloop.types import Feedback, Query
    >>> policy = ListNet()
    >>> shown = policy.rank(Query("q", np.eye(2)), k=2, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, np.array([0.0, np.log(3)]), signal="grades"))
    >>> policy.score(shown.query)[shown.order].round(9).tolist()  # 1/2 each, and 1/4 and 3/4 by the grades
    [-0.25, 0.25]

    Cao, Qin, Liu, Tsai, Li: Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    Zinkevich: Online convex programming and generalized infinitesimal gradient ascent. ICML 2003.
    """

    learning_rate: Positive = 1.0  # in the first round
    decay_exponent: NonNegative = 0.5

    def _step(self, start: FloatArray, features: FloatArray, grades: FloatArray) -> None:
        scores = self.scorer.score(start, features).astype(np.float64, copy=False)
        residuals = softmax(grades) - softmax(scores)
        rate = self.learning_rate / (int(self.rounds) + 1) ** self.decay_exponent
        self.step_to(start, rate, self.scorer.vjp(start, features, residuals))


def softmax(values: FloatArray) -> FloatArray:
    """Shares that grow with the exponential of the values.

    >>> softmax(np.array([1e4, 1e4])).tolist()
    [0.5, 0.5]
    """
    shares = np.exp(values - values.max())
    return np.asarray(shares / shares.sum())
