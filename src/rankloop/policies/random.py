"""Random lists: the floor every learner is measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.policy import Policy
from rankloop.types import Feedback, FloatArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class Random(Policy):
    """Shows a uniformly random list, and never learns.

    >>> from rankloop.types import Query
    >>> Random().rank(Query("q", np.eye(4)), k=2, rng=np.random.default_rng(0)).order.tolist()
    [2, 0]
    """

    signals = ("clicks", "grades")
    evidence_scope = "documents"  # it has none

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Shuffle the candidates."""
        return Ranking(query, rng.permutation(query.n_docs)[:k])

    def learn(self, feedback: Feedback) -> None:
        """Nothing to learn."""

    def score(self, query: Query) -> FloatArray:
        """All documents alike."""
        return np.zeros(query.n_docs)
