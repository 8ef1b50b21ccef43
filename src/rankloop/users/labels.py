"""A judge: someone who grades the results instead of clicking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.types import Feedback, IntArray, Query, Ranking, SettingError, Signal


@dataclass(frozen=True)
class Labels:
    """Explicit grades of all results shown, or of the first `top_k` of them only.

    The grades are the true ones and cost no random draw. What lies below `top_k` stays unknown: its grade
    reads 0 and `known` says that it means nothing.

    >>> shown = Ranking(Query("q", np.eye(3)), np.array([2, 1, 0]))
    >>> graded = Labels(top_k=2).respond(shown, np.array([1, 0, 2]), np.random.default_rng(0))
    >>> graded.reward.tolist(), graded.known.tolist()
    ([2, 0, 0], [True, True, False])
    """

    gives: ClassVar[Signal] = "grades"

    top_k: int | None = None

    def __post_init__(self) -> None:
        """Refuse to grade nothing."""
        if self.top_k is not None and (type(self.top_k) is not int or self.top_k < 1):
            raise SettingError(f"top_k must be a whole number of at least 1, or None, found {self.top_k}")

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Grade the list from the top."""
        del rng  # a judge does not depend on luck
        graded = len(ranking) if self.top_k is None else self.top_k
        known = np.arange(len(ranking)) < graded
        return Feedback(ranking, np.where(known, relevance[ranking.order], 0), known, "grades")

    def judge(self, query: Query, relevance: IntArray) -> Feedback:
        """Grades of all candidates in the order of the input, as if each had been shown.

        >>> Labels().judge(Query("q", np.eye(3)), np.array([1, 0, 2])).reward.tolist()
        [1, 0, 2]
        """
        return Feedback(Ranking(query, np.arange(query.n_docs)), relevance, signal="grades")
