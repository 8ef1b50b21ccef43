"""A judge: someone who grades the results instead of clicking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.bounds import Count, Probability, check_settings
from rankloop.errors import SettingError
from rankloop.types import Feedback, IntArray, Ranking, Signal


@dataclass(frozen=True)
class LabelJudge:
    """Explicit grades of all results shown, of the first `top_k` only, or of all the query's candidates.

    The grades are the true ones, or with probability `noise` another one, drawn uniformly from 0 up to the
    highest of the query (at least 1: of two grades, noise is a flip). What lies below `top_k` stays unknown:
    its grade reads 0 and `known` says that it means nothing. With `whole_query` the judge goes on where the
    list ends: the feedback is on a list that shows all candidates, what was not shown in the order of the
    input.

    >>> from rankloop.types import Query
    >>> shown = Ranking(Query("q", np.eye(3)), np.array([2, 1, 0]))
    >>> graded = LabelJudge(top_k=2).respond(shown, np.array([1, 0, 2]), np.random.default_rng(0))
    >>> graded.reward.tolist(), graded.judged.tolist()
    ([2, 0, 0], [True, True, False])
    """

    gives: ClassVar[Signal] = "grades"

    top_k: Count | None = None
    whole_query: bool = False
    noise: Probability = 0.0

    def __post_init__(self) -> None:
        """Refuse to grade nothing, or less and more at once, and noise that is no probability."""
        check_settings(self)
        if self.whole_query and self.top_k is not None:
            raise SettingError(f"top_k grades less than the list and whole_query more, found {self}")

    def respond(self, ranking: Ranking, relevance: IntArray, rng: np.random.Generator) -> Feedback:
        """Grade the list from the top."""
        if self.noise:  # without it a judge does not depend on luck
            relevance = _misjudged(relevance, self.noise, rng)
        if self.top_k is not None:
            known = np.arange(len(ranking)) < self.top_k
            return Feedback(ranking, np.where(known, relevance[ranking.order], 0), known, "grades")
        graded = _continued(ranking) if self.whole_query else ranking
        return Feedback(graded, relevance[graded.order], signal="grades")


def _continued(ranking: Ranking) -> Ranking:
    """Put all candidates that a list does not show after its end."""
    unshown = np.ones(ranking.query.n_docs, dtype=bool)
    unshown[ranking.order] = False
    order = np.concatenate((ranking.order, unshown.nonzero()[0]))
    return Ranking(ranking.query, order, ranking.evidence)


def _misjudged(relevance: IntArray, noise: float, rng: np.random.Generator) -> IntArray:
    """Replace some grades of a query's candidates by another one; as many draws, whatever is shown."""
    grades = max(int(relevance.max()), 1) + 1
    shifts = rng.integers(1, grades, size=relevance.size)
    return np.where(rng.random(relevance.size) < noise, (relevance + shifts) % grades, relevance)
