"""Discounts of ranks, as metrics, losses and views by position have them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rankloop.types import FloatArray


@lru_cache(maxsize=512)
def rank_discounts(n: int) -> FloatArray:
    """How much each of the first `n` ranks is looked at: $1 / log_2(1 + rank)$.

    >>> rank_discounts(3).round(3)
    array([1.   , 0.631, 0.5  ])
    """
    discount = 1.0 / np.log2(np.arange(2, n + 2))
    discount.setflags(write=False)  # one array serves every caller
    return discount
