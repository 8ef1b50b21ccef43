r"""Regret of dueling bandits, and the steps with which document-space projection keeps it small.

Wang, Kim, McCord-Snook, Wu, Wang: Variance reduction in gradient exploration for online learning to rank.
SIGIR 2019, Equation 1 and Theorem 3.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import sqrt

import numpy as np

from rankloop.bounds import Count, Positive, check_settings
from rankloop.types import FloatArray


def duel_losses(best: float, utilities: FloatArray) -> FloatArray:
    r"""How surely the best ranker beats others, $\sigma(v(w^*) - v(w)) - \frac{1}{2}$, by their utilities.

    The document's $f_t(w^*, w) = P(w^* \succ w)$ less a half: without that, a ranker as good as the best
    would lose half a point in every duel, and no regret could grow more slowly than the rounds. That is how
    the work defines it whose theorem the document extends.

    >>> duel_losses(1.0, np.array([1.0, 0.0])).round(3).tolist()
    [0.0, 0.231]

    Yue, Joachims: Interactively optimizing information retrieval systems as a dueling bandits problem. ICML
    2009.
    """
    return np.asarray(np.tanh((best - utilities) / 2) / 2)


@dataclass(frozen=True, kw_only=True)
class DuelSteps:
    r"""The steps and the bound of Theorem 3.3, for DBGD with document-space projection.

    $m$ is the most documents that a space is spanned by: without projection, $d$ takes its place. $L =
    L_\sigma L_v$ with the Lipschitz constants of the logistic function and of the utility of a ranker as a
    function of its weights; $L_2$ is that of the logistic function's slope.

    >>> steps = DuelSteps(rounds=10_000, radius=1.0, examined=10, utility_lipschitz=1.0)
    >>> round(steps.exploration, 3), round(steps.step, 3), round(steps.plain_step, 3)
    (0.248, 0.403, 0.01)
    """

    rounds: Count  # T
    radius: Positive  # R, of the ball in which weights are searched for
    examined: Count  # m
    utility_lipschitz: Positive  # L_v
    link_lipschitz: Positive = 0.25  # L_σ
    link_smoothness: Positive = 1 / (6 * sqrt(3))  # L₂

    def __post_init__(self) -> None:
        """Refuse searches without room."""
        check_settings(self)

    @property
    def lipschitz(self) -> float:
        r"""$L = L_\sigma L_v$."""
        return self.link_lipschitz * self.utility_lipschitz

    @property
    def exploration(self) -> float:
        r"""$\delta = \sqrt{2 R m} / (\sqrt{13 L}\, T^{1/4})$, how far away the candidate is."""
        return sqrt(2 * self.radius * self.examined / (13 * self.lipschitz)) / math.pow(self.rounds, 0.25)

    @property
    def step(self) -> float:
        r"""$\alpha = R m / (\sqrt T \delta)$, how far to follow a winner, as the theorem prints it."""
        return self.radius * self.examined / (sqrt(self.rounds) * self.exploration)

    @property
    def plain_step(self) -> float:
        r"""$R / \sqrt T$, the step of the theorem that it extends.

        There, as in all gradient descent with one estimate a round, the step is the radius over $\sqrt T$ and
        over the length of the estimate, which is $m / \delta$; the printed one multiplies by that length.
        """
        return self.radius / sqrt(self.rounds)

    @property
    def regret(self) -> float:
        r"""$E[R_T] \le 2 \lambda_T T^{3/4} \sqrt{26 R m L}$; no duel loses more than 1, so $T$ is the most.

        $$\lambda_T = \frac{L_\sigma \sqrt{13 L}\, T^{1/4}}
        {L_\sigma \sqrt{13 L}\, T^{1/4} - L_v L_2 \sqrt{2 R m}}$$

        where the denominator is positive: before, the theorem says nothing.
        """
        long = self.link_lipschitz * sqrt(13 * self.lipschitz) * math.pow(self.rounds, 0.25)
        short = self.utility_lipschitz * self.link_smoothness * sqrt(2 * self.radius * self.examined)
        if long <= short:
            return float(self.rounds)
        bound = 2 * math.pow(self.rounds, 0.75) * sqrt(26 * self.radius * self.examined * self.lipschitz)
        return min(float(self.rounds), bound * long / (long - short))
