"""A scorer on top of a fixed one: what is learned is what is to be added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.scorers.gradients import Gradients
from rankloop.scorers.scorer import Scorer
from rankloop.types import FloatArray


@dataclass(frozen=True)
class Offset:
    r"""$f(x; \theta) = w x_0 + g(x; \theta)$: the first feature counts $w$ before anything is learned.

    >>> from rankloop.scorers import Linear
    >>> scorer = Offset(Linear(), 2.0)
    >>> scorer.score(scorer.start(2), np.array([[3.0, 1.0], [0.0, 1.0]])).tolist()
    [6.0, 0.0]
    """

    scorer: Scorer  # g
    weight: float  # w

    def start(self, n_features: int, number: int = 0) -> FloatArray:
        """As the scorer that is added."""
        return self.scorer.start(n_features, number)

    def score(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """Both parts together."""
        return np.asarray(self.scorer.score(parameters, features) + self.weight * features[..., 0])

    def vjp(self, parameters: FloatArray, features: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Of the part that is learned."""
        return self.scorer.vjp(parameters, features, coefficients)

    def gradients(self, parameters: FloatArray, features: FloatArray) -> Gradients:
        """Of the part that is learned."""
        return self.scorer.gradients(parameters, features)
