"""Certainty for people: three grades of how sure the model is of an order, with the probability beside them.

It is no criterion of what is tried out: that is the policy's own, and a pair that is not tried out any more
may be far from settled.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from rankloop.policy import KnowsOrders
from rankloop.types import FloatArray, IntArray, Query

Grade: TypeAlias = Literal["leaning", "likely", "settled"]
LIKELY, SETTLED = 0.8, 0.95  # from which probability on


def grade_of(probability: float) -> Grade:
    """In a word, how sure an order is that is right with this probability, or its opposite.

    >>> grade_of(0.6), grade_of(0.85), grade_of(0.95), grade_of(0.01)
    ('leaning', 'likely', 'settled', 'settled')
    """
    sure = max(probability, 1.0 - probability)
    return "settled" if sure >= SETTLED else "likely" if sure >= LIKELY else "leaning"


def sureness(policy: object, query: Query, rows: IntArray) -> FloatArray | None:
    """How probable the likelier order of each pair of these rows is, [n, n]; `None`: nobody can tell."""
    if not isinstance(policy, KnowsOrders) or not len(rows):
        return None
    found = policy.order_probabilities(query, rows)
    return None if found is None else np.maximum(found, 1.0 - found)
