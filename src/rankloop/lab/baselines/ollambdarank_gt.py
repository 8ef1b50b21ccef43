"""olLambdaRank GT: an online life in which every query asked shows its true labels; a skyline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.exploration import draw_by_score
from rankloop.lab.baselines.label_trained import LearnsFromGrades
from rankloop.learning.delta_ndcg import lambdas
from rankloop.types import BoolArray, Feedback, FloatArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class OlLambdaRankGT(LearnsFromGrades):
    r"""LambdaRank on the true labels of the queries asked so far: no clicks, no exploration.

    It shows its best list, and takes a step on the grades of the new query and of `queries - 1` others asked
    before, drawn with the list. With `LabelJudge(whole_query=True)` all candidates are graded, as in the
    papers.

    >>> from rankloop.checks import small_world, share_of_right_pairs
    >>> from rankloop.scorers import MLP
    >>> from rankloop.lab.users import LabelJudge
    >>> world, rng = small_world(), np.random.default_rng(0)
    >>> policy = OlLambdaRankGT(scorer=MLP(16), learning_rate=0.01)
    >>> for judged in [*world] * 5:
    ...     shown = policy.rank(judged.query, k=5, rng=rng)
    ...     policy.learn(LabelJudge(whole_query=True).respond(shown, judged.relevance, rng))
    >>> share_of_right_pairs(policy, world) > 0.9
    True

    Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022.
    """

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Rank the best first; note which lists to learn from again, when this one has joined them."""
        order = draw_by_score(self.score(query), k, rng)
        again = rng.integers(int(self.lists) + 1, size=self.queries - 1)
        return Ranking(query, order, {"again": again})

    def learn(self, feedback: Feedback) -> None:
        """One step on this list and the others drawn with it."""
        again = feedback.ranking.evidence["again"]
        if self._remember(feedback):
            lists = int(self.lists)
            self._step([lists - 1, *(again % lists).tolist()])

    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        return lambdas(scores, wins, gains)
