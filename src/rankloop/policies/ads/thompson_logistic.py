"""Thompson sampling with a logistic regression for each ad."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Positive
from rankloop.exploration import highest_of_normals
from rankloop.policies.ads.belief_ad_policy import LogisticAdPolicy
from rankloop.types import FloatArray, Query


@dataclass(kw_only=True, eq=False)
class ThompsonLogistic(LogisticAdPolicy):
    r"""Shows each ad as often as it is believed to be the best.

    $$p_a = P\left(z_a = \max_b z_b\right), \qquad
    z_b \sim N\left(\mu_b \cdot x,\ \text{width}^2\, x^\top \Sigma_b x\right)$$

    The probabilities are integrated, and the ad is drawn from them: so they are the propensities.

    >>> from rankloop.types import Context
    >>> query = Query("visitor", np.empty((2, 0)), ("tea", "coffee"), context=Context("", np.ones(1)))
    >>> ThompsonLogistic().propensities(query).round(9).tolist()
    [0.5, 0.5]

    Chapelle, Li: An empirical evaluation of Thompson sampling. NIPS 2011.
    """

    width: Positive = 0.5

    def propensities(self, query: Query) -> FloatArray:
        """How probably each ad's score is the highest."""
        means, variances = self._belief(query)
        return highest_of_normals(means, self.width * np.sqrt(np.maximum(variances, 0.0)))
