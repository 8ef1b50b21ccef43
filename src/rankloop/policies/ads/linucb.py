"""LinUCB: the ad whose click rate may well be the highest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import NonNegative
from rankloop.exploration import epsilon_greedy_propensities
from rankloop.policies.ads.belief_ad_policy import BeliefAdPolicy, add_precision
from rankloop.types import FloatArray, Query


@dataclass(kw_only=True, eq=False)
class LinUCB(BeliefAdPolicy):
    r"""Ridge regression of clicks for each ad, and the highest upper bound is shown.

    $$\pi(x) = \arg\max_a\, \left(\mu_a \cdot x + \alpha \sqrt{x^\top \Sigma_a x}\right), \qquad
    \Sigma_a = \left(\tfrac{1}{\text{prior}} I + \sum_i x_i x_i^\top\right)^{-1}$$

    It draws nothing but ties, so its propensities are 0 and 1, and its log cannot tell how another policy
    would have done.

    >>> from rankloop.types import Context
    >>> query = Query("visitor", np.empty((2, 0)), ("tea", "coffee"), context=Context("", np.ones(1)))
    >>> LinUCB().propensities(query).tolist()
    [0.5, 0.5]

    Li, Chu, Langford, Schapire: A contextual-bandit approach to personalized news article recommendation.
    WWW 2010.
    """

    alpha: NonNegative = 0.3

    def propensities(self, query: Query) -> FloatArray:
        """1 for the highest bound; several take turns."""
        means, variances = self._belief(query)
        return epsilon_greedy_propensities(means + self.alpha * np.sqrt(np.maximum(variances, 0.0)), 0.0)

    def _step(
        self, mean: FloatArray, covariance: FloatArray, x: FloatArray, clicked: bool
    ) -> tuple[FloatArray, FloatArray]:
        shrunk = add_precision(covariance, x, 1.0)
        return mean + shrunk @ x * (clicked - float(mean @ x)), shrunk
