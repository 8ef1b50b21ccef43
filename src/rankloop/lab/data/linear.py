"""A world in which the best ranker is linear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.data.world import World, grade_by_shares
from rankloop.types import QuerySet

GRADE_SHARES = (0.50, 0.25, 0.13, 0.08, 0.04)


@dataclass(frozen=True, kw_only=True)
class Linear(World):
    r"""A hidden weighting of features in [0, 1], plus noise, decides the grades.

    Grades are thresholds on $x^\top w + \epsilon$.

    `noise` is the standard deviation of $\epsilon$ in units of the standard deviation of $x^\top w$.

    >>> Linear(queries=3, test_queries=2, seed=1).dataset().train.n_features
    20
    """

    features: int = 20
    noise: float = 0.3

    def __post_init__(self) -> None:
        """Refuse options outside their range."""
        super().__post_init__()
        if self.features < 1 or self.noise < 0:
            raise SettingError(
                f"expected features >= 1 and noise >= 0, found {self.features} and {self.noise}"
            )

    def query_set(self) -> QuerySet:
        """All queries, those for training first."""
        rng = np.random.default_rng(self.seed)
        offsets = self._offsets(rng)
        weights = rng.standard_normal(self.features)
        features = rng.random((int(offsets[-1]), self.features), np.float32)
        scores = np.einsum("ij,j->i", features.astype(np.float64), weights)
        scores += self.noise * scores.std() * rng.standard_normal(scores.size)
        return self._judged(features, offsets, grade_by_shares(scores, GRADE_SHARES))
