"""Cumulative performance: what users got while the policy was learning."""

from __future__ import annotations

import numpy as np

from rankloop.errors import SettingError
from rankloop.types import FloatArray


def discounted_cumulative(values: FloatArray, *, discount: float = 0.9995) -> FloatArray:
    r"""Running sums in which early rounds weigh most.

    $$\sum_{t=1}^{T} \gamma^{t-1} v_t \quad \text{for every } T$$

    With $\gamma = 0.9995$ the sum of nDCG can never exceed $1 / (1 - \gamma) = 2000$. With
    `discount=1` it is the plain running sum.

    >>> discounted_cumulative(np.array([1.0, 1.0, 1.0]), discount=0.5)
    array([1.  , 1.5 , 1.75])

    Hofmann et al., "Balancing exploration and exploitation in listwise and pairwise online learning
    to rank for information retrieval", Information Retrieval 2013.
    """
    if not 0.0 < discount <= 1.0:
        raise SettingError(f"discount must be above 0 and at most 1, found {discount}")
    return np.cumsum(values * discount ** np.arange(len(values)))
