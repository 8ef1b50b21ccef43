"""What policies share that learn from the grades of a list, or from clicks read as grades."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from rankloop.exploration import draw_by_score
from rankloop.policies.scorer_policy import ScorerPolicy
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class GradedPolicy(ScorerPolicy):
    r"""Shows its best list, and takes a step on the grades that come back.

    Clicks are grades, too: examined results are known, 1 if clicked and 0 if not. With `averaged` it ranks by
    the average $\frac{1}{t} \sum_{s \le t} \theta_s$ of the parameters before each of its rounds. A list with
    fewer than two known grades is no round.
    """

    signals = ("grades", "clicks")
    evidence_scope = "documents"  # grades hold wherever a document stands

    averaged: bool = False
    total: FloatArray = state((0,), feature_axes=(0,))  # of the parameters before each round
    rounds: Array = state(dtype=np.int64)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Show the best first."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def learn(self, feedback: Feedback) -> None:
        """One round on the results whose grades are known, as they were shown."""
        grades, known = feedback.graded()
        query, order = feedback.ranking.query, feedback.ranking.order
        if not known.all():
            grades, order = grades[known], order[known]
        if order.size < 2 or not query.features.shape[1]:
            return
        features = query.features.take(order, axis=0)
        start = super().parameters_for(features)
        self._step(start, features, grades)
        self.total = self.total + start if self.total.size else start
        self.rounds = self.rounds + 1

    def parameters_for(self, features: FloatArray) -> FloatArray:
        """Give the parameters to rank by: the present ones or, if asked for, their average."""
        if self.averaged and self.rounds:
            return np.asarray(self.total / self.rounds)
        return super().parameters_for(features)

    @abstractmethod
    def _step(self, start: FloatArray, features: FloatArray, grades: FloatArray) -> None:
        """Go on from these parameters; the results and their grades are in the order shown."""
