"""RankNet trained on labels before its first round: a skyline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Count
from rankloop.exploration import draw_by_score
from rankloop.lab.baselines.label_trained import LearnsFromGrades
from rankloop.learning.pair_loss import pair_residuals
from rankloop.state_fields import state
from rankloop.types import BoolArray, Feedback, FloatArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class OfflineRankNet(LearnsFromGrades):
    r"""RankNet trained on labels: every document should stand above those of a lower grade.

    Each of `steps` steps of Adam is on the next `queries` judged lists; the ranker is the average of the last
    half of the steps, and then it learns no more. In a simulation it gets its lists before the first round,
    drawn at random from the training queries: what a network can reach that is shown the truth.

    >>> from rankloop.checks import small_world, share_of_right_pairs
    >>> from rankloop.scorers import MLP
    >>> from rankloop.lab.users import LabelJudge
    >>> world, rng = small_world(), np.random.default_rng(0)
    >>> policy = OfflineRankNet(scorer=MLP(16), steps=100, learning_rate=0.01)
    >>> for index in rng.integers(len(world), size=policy.warm_up).tolist():
    ...     query, relevance = world[index].query, world[index].relevance
    ...     policy.learn(LabelJudge().respond(Ranking(query, np.arange(query.n_docs)), relevance, rng))
    >>> share_of_right_pairs(policy, world) > 0.97
    True

    Burges et al.: Learning to rank using gradient descent. ICML 2005.
    """

    steps: Count = 2000
    total: FloatArray = state((0,), feature_axes=(0,))  # of the parameters after the last half of the steps
    average: FloatArray = state((0,), feature_axes=(0,))

    @property
    def warm_up(self) -> int:
        """All the lists of all the steps."""
        return self.steps * self.queries

    @property
    def warm_up_batch(self) -> int:
        """The lists of a step are drawn together."""
        return self.queries

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Rank the best first."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def learn(self, feedback: Feedback) -> None:
        """Keep the list, and take a step when there are enough; after the last step nothing is learned."""
        if int(self.steps_taken) == self.steps or not self._remember(feedback):
            return
        if int(self.lists) == self.queries:
            self._step(range(self.queries))
            self.lists = np.zeros_like(self.lists)
            self._average()

    def parameters_for(self, features: FloatArray) -> FloatArray:
        """Give the averaged parameters, or the present ones while there is no average."""
        return self.average if self.average.size else super().parameters_for(features)

    def _average(self) -> None:
        """Take the present parameters in, if the first half of the steps is over."""
        late = int(self.steps_taken) - self.steps // 2
        if late > 0:
            self.total = self.total + self.parameters if self.total.size else self.parameters
            self.average = self.total / late

    def _weigh(self, scores: FloatArray, wins: BoolArray, gains: FloatArray) -> FloatArray:
        del gains  # every pair counts the same
        return pair_residuals(scores, wins)
