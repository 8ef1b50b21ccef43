"""SquareCB: ads are shown the less, the further behind the best their predicted click rate is."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import expit

from rankloop.bounds import Positive
from rankloop.exploration import inverse_gap_propensities
from rankloop.policies.ads.belief_ad_policy import LogisticAdPolicy
from rankloop.types import FloatArray, Query


@dataclass(kw_only=True, eq=False)
class SquareCB(LogisticAdPolicy):
    r"""Shows every ad but the best with a probability that falls with its gap.

    $$p_a = \frac{1}{K + \gamma_t (\hat r^* - \hat r_a)}, \qquad \gamma_t = \text{scale} \cdot \sqrt{t},$$

    where $\hat r_a = \sigma(\mu_a \cdot x)$ is the predicted click rate after $t$ rows.

    >>> import numpy as np
    >>> from rankloop.types import Context
    >>> query = Query("visitor", np.empty((2, 0)), ("tea", "coffee"), context=Context("", np.ones(1)))
    >>> SquareCB().propensities(query).tolist()
    [0.5, 0.5]

    Foster, Rakhlin: Beyond UCB: optimal and efficient contextual bandits with regression oracles. ICML 2020.
    """

    scale: Positive = 10.0

    def propensities(self, query: Query) -> FloatArray:
        """By the gaps."""
        gamma = self.scale * max(float(self.rows), 1.0) ** 0.5
        return inverse_gap_propensities(expit(self.score(query)), gamma)
