"""IPS: relevance regressed on features, each click weighed by how seldom its position is examined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Positive
from rankloop.errors import RankingError
from rankloop.exploration import draw_by_score
from rankloop.exposure import VIEW, Examination, check_examination, views_at
from rankloop.learning.logistic import absorb
from rankloop.policies.scorer_policy import check_size
from rankloop.policy import Policy
from rankloop.state_fields import state
from rankloop.types import Feedback, FloatArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class IPS(Policy):
    r"""Shows the best estimates first, and corrects clicks for the position they came from.

    If position $p$ is examined with probability $P(p)$, a click there counts $1 / P(p)$, which makes
    $c / P(p)$ right on average (inverse propensity scoring). The estimate $\hat R(d) = \theta^\top (1, x_d)$
    is the ridge regression on that over everything shown:

    $$\theta = \Bigl(\lambda I + \sum x x^\top\Bigr)^{-1} \sum x\, c / P(p).$$

    It does not explore: it is the learner of `FairCo`, without its control.

    >>> policy, query = IPS(), Query("q", np.eye(3))
    >>> for seed in range(20):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> int(policy.score(query).argmax())
    2

    Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM 2017.
    """

    evidence_scope = "documents"  # it has none: what counts is what was shown where
    refused_in_service = (
        "shows its best list and explores nothing, for comparison with fair policies: serve pairrank"
    )

    ridge: Positive = 1.0
    examination: Examination = "log2"
    parameters: FloatArray = state((0,), feature_axes=(0,), leading=1)  # the first is of the constant 1
    inverse: FloatArray = state(
        (0, 0), feature_axes=(0, 1), new_value=lambda policy: 1 / policy.ridge, leading=1
    )
    moment: FloatArray = state((0,), feature_axes=(0,), leading=1)

    def __post_init__(self) -> None:
        """Refuse what no examination could be."""
        super().__post_init__()
        check_examination(self.examination)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Rank the best first; equals in random order."""
        return Ranking(query, draw_by_score(self.score(query), k, rng))

    def learn(self, feedback: Feedback) -> None:
        """Take in what was shown, clicked or not."""
        ranking = feedback.ranking
        features, clicks = ranking.query.features, feedback.clicks
        if not features.shape[1]:
            return
        self._fit_width(features.shape[1])
        examined = views_at(self.examination, len(ranking)) / VIEW
        looked = examined > 0
        rows = with_constant(features[ranking.order[looked]])
        check_size(rows)
        self.inverse, _ = absorb(self.inverse, rows, np.ones(len(rows)))
        self.moment = self.moment + (clicks[looked] / examined[looked]) @ rows
        self.parameters = self.inverse @ self.moment

    def score(self, query: Query) -> FloatArray:
        """Estimate the relevance."""
        if not (self.parameters.size and query.features.shape[1]):
            return np.zeros(query.n_docs)
        estimates: FloatArray = query.features @ self.parameters[1:] + self.parameters[0]
        return estimates

    def _fit_width(self, width: int) -> None:
        """Start with the first list; refuse later ones of another width."""
        if not self.parameters.size:
            self.parameters, self.moment = np.zeros(width + 1), np.zeros(width + 1)
            self.inverse = np.eye(width + 1) / self.ridge
        elif self.parameters.size != width + 1:
            raise RankingError(
                f"this ranker knows {self.parameters.size - 1} features but the query has {width}"
            )


def with_constant(features: FloatArray) -> FloatArray:
    """Put the features of documents after a constant 1.

    >>> with_constant(np.array([[0.5], [2.0]])).tolist()
    [[1.0, 0.5], [1.0, 2.0]]
    """
    rows = np.ones((len(features), features.shape[1] + 1))
    rows[:, 1:] = features
    return rows
