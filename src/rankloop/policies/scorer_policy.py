"""What policies around one scoring function share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from rankloop.errors import RankingError
from rankloop.policy import Policy
from rankloop.scorers import Linear, Scorer
from rankloop.state_fields import state
from rankloop.types import Array, FloatArray, Query


@dataclass(kw_only=True, eq=False)
class ScorerPolicy(Policy):
    """A policy around one scorer, whose parameters are its state.

    How many features there are is known only when the first feedback comes: until then the parameters are
    empty, and the scorer's starting point stands in for them.
    """

    state_shaping = ("scorer",)

    scorer: Scorer = field(default_factory=Linear)
    parameters: FloatArray = state((0,), feature_axes=(0,))

    def score(self, query: Query) -> FloatArray:
        """Scores of the learned ranker; without features all documents are alike."""
        features = query.features
        if not features.shape[1]:
            return np.zeros(len(features))
        return self.scorer.score(self.parameters_for(features), features)

    def parameters_for(self, features: FloatArray) -> FloatArray:
        """Give the parameters, or the scorer's starting point before anything was learned."""
        return self.parameters if self.parameters.size else self.scorer.start(features.shape[1])

    def widened(self, n_features: int) -> Self | None:
        """With a weight more for each new feature; where the scorer has other parameters, `None`."""
        return super().widened(n_features) if isinstance(self.scorer, Linear) else None

    def widened_evidence(self, evidence: Mapping[str, Array], n_features: int) -> dict[str, Array]:
        """Evidence of a list shown when there were fewer features, if features are what it is about."""
        linear = isinstance(self.scorer, Linear)
        return super().widened_evidence(evidence, n_features) if linear else dict(evidence)

    def step_to(self, start: FloatArray, size: float, direction: FloatArray) -> None:
        """Go from `start` this far in that direction, unless it leads out of bounds."""
        if start.shape != direction.shape:
            raise RankingError(f"this ranker knows {start.size} features but the query has {direction.size}")
        with np.errstate(over="ignore", invalid="ignore"):
            parameters = start + size * direction
        if np.count_nonzero(np.isfinite(parameters)) < parameters.size:
            raise RankingError(
                "learning from this feedback would make the weights infinite: "
                "scale the features (for example to 0..1 within the query) or lower the learning rate"
            )
        self.parameters = parameters


def check_size(documents: FloatArray) -> None:
    """Refuse features whose sums of squares would overflow, before anything is remembered."""
    largest, limit = float(np.abs(documents).max()), float(np.finfo(documents.dtype).max) ** (1 / 3)
    if largest > limit:
        raise RankingError(
            f"features of up to {limit:.0e} can be learned from, found {largest:.0e}: "
            "scale them, for example to 0..1 within the query"
        )
