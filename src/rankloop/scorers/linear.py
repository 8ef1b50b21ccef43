"""The linear scorer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.errors import RankingError
from rankloop.scorers.gradients import Gradients
from rankloop.scorers.scorer import Scorer
from rankloop.types import FloatArray


@dataclass(frozen=True)
class Linear(Scorer):
    r"""Scores that are weighted sums of the features: $f(x; \theta) = \theta^\top x$.

    >>> features = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> Linear().score(np.array([2.0, 0.0]), features).tolist()
    [2.0, 1.0]
    >>> Linear().vjp(np.zeros(2), features, np.array([1.0, -1.0])).tolist()
    [0.5, -0.5]
    """

    def start(self, n_features: int, number: int = 0) -> FloatArray:
        """All weights zero: every document is as good as another."""
        del number  # there is one way to know nothing
        return np.zeros(n_features)

    def score(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """Weighted sums, in the precision of the features."""
        if parameters.shape[-1] != features.shape[-1]:
            raise RankingError(
                f"this ranker knows {parameters.shape[-1]} features but the query has {features.shape[-1]}"
            )
        weights = parameters.astype(features.dtype, copy=False)
        if weights.ndim == 1:
            return features @ weights
        with np.errstate(invalid="ignore"):  # OpenBLAS was seen to raise it over finite numbers
            return np.asarray(weights @ features.T)

    def vjp(self, parameters: FloatArray, features: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Give the features: they are the gradient of a linear score themselves."""
        del parameters  # the gradient of a linear function is the same everywhere
        return coefficients @ features

    def gradients(self, parameters: FloatArray, features: FloatArray) -> Gradients:
        """Give the features, whatever the parameters."""
        given = np.broadcast_to(features, (*parameters.shape[:-1], *features.shape))
        return Gradients([(np.ones_like(given[..., :1]), given)])
