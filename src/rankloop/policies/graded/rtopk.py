"""Ranking with the grades of the top k (RTop-kF), for candidates with features."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankloop.errors import RankingError, SettingError
from rankloop.exploration import greedy
from rankloop.learning.topk_losses import RankSVM, TopKLoss
from rankloop.learning.topk_propensities import TopKPropensities, term_weights
from rankloop.policies.graded.topk_steps import AdaGrad, Step, within_ball
from rankloop.policies.scorer_policy import ScorerPolicy, check_part, check_size
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class RTopK(ScorerPolicy):
    r"""Shows its best list or, seldom, any list, and descends a loss estimated from the grades on top.

    With probability $1 - \gamma$ the list is greedy, otherwise uniform; the grades $R$ of its first $k$ are
    seen. A term of the loss counts the more, the less likely it was to be seen. With RankSVM,

    $$\theta \leftarrow \theta - \eta \, X^\top
    \sum_{i, j \text{ seen},\, R_i > R_j,\, 1 + s_j > s_i} w(q_{ij}) \, (e_j - e_i), \qquad
    q_{ij} = (1 - \gamma)\,[i, j \in T] + \gamma \frac{k (k - 1)}{m (m - 1)},$$

    where $T$ is the greedy top $k$ of the $m$ candidates when the list was drawn. With $w(q) = 1 / q$ the
    expectation is the gradient; the default caps it, $w(q) = \min(1 / q, 10)$. `top_k` is how many results
    are rated, `None` for all that are shown; `radius` bounds $\lVert \theta \rVert$.

    >>> from rankloop.types import Feedback, Query
    >>> policy = RTopK(top_k=2)
    >>> shown = policy.rank(Query("q", np.eye(3)), k=3, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, np.array([0, 2, 0]), np.array([True, True, False]), "grades"))
    >>> policy.score(shown.query)[shown.order].round(9).tolist()
    [-0.1, 0.1, 0.0]

    Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
    2016, Algorithm 5.
    """

    signals = ("grades", "clicks")
    evidence_scope = "list"  # propensities of another list nobody knows

    loss: TopKLoss = field(default_factory=RankSVM)
    step: Step = field(default_factory=AdaGrad)
    top_k: int | None = None
    radius: float | None = None
    sums: FloatArray = state((0,), feature_axes=(0,))  # of squared gradients
    rounds: Array = state(dtype=np.int64)  # lists learned from

    def __post_init__(self) -> None:
        """Refuse losses that the top k cannot teach."""
        super().__post_init__()
        check_part("step", self.step, "exploration", "AdaGrad() or DocumentSchedule()")
        _check_loss(self.loss)
        if self.top_k is not None and (type(self.top_k) is not int or self.top_k < self.loss.needs):
            raise SettingError(
                f"top_k must be None or a whole number of at least {self.loss.needs}, the grades that "
                f"a term of {type(self.loss).__name__} depends on, found {self.top_k}"
            )
        if self.radius is not None and not 0 < self.radius < np.inf:
            raise SettingError(f"radius must be positive, or None for no bound, found {self.radius}")

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        r"""The best first or, with probability γ, anything; the greedy top and γ are the evidence."""
        gamma = self.step.exploration(int(self.rounds))
        explores = rng.random() < gamma
        best = greedy(self.score(query), k, rng)
        order = rng.permutation(query.n_docs)[:k] if explores else best
        return Ranking(query, order, {"top": best[: self.top_k], "gamma": np.array(gamma)})

    def learn(self, feedback: Feedback) -> None:
        """One step on what is rated among the first k."""
        ranking, features = feedback.ranking, feedback.ranking.query.features
        drawn = propensities(ranking)
        grades, known = feedback.graded()
        rated = known[: len(drawn.top)].nonzero()[0]
        if not (rated.size and features.shape[1]):
            return
        gradient = self._gradient(features, ranking.order[rated], grades[rated], drawn)
        self._descend(self.parameters_for(features), gradient)

    def _gradient(
        self, features: FloatArray, rows: IntArray, grades: FloatArray, drawn: TopKPropensities
    ) -> FloatArray:
        """Estimate of the gradient over the parameters."""
        check_size(features)
        start = self.parameters_for(features)
        scores = self.scorer.score(start, features).astype(np.float64, copy=False)
        weights = term_weights(rows, drawn, self.step, needs=self.loss.needs)
        slope = self.loss.gradient(scores, rows, grades, weights)
        gradient = self.scorer.vjp(start, features, slope.astype(features.dtype, copy=False))
        return gradient.astype(np.float64, copy=False)

    def _descend(self, start: FloatArray, gradient: FloatArray) -> None:
        sums = self.sums if self.sums.size else np.zeros(start.size)
        step, sums = self.step.step(gradient, sums, int(self.rounds))
        self.step_to(start, -1.0, step)
        self.parameters = within_ball(self.parameters, self.radius)
        self.sums, self.rounds = sums, self.rounds + 1


def propensities(ranking: Ranking) -> TopKPropensities:
    """The propensities that the evidence of a ranking speaks of."""
    top, gamma, n_docs = ranking.evidence["top"], float(ranking.evidence["gamma"]), ranking.query.n_docs
    if not top.size or top.min() < 0 or top.max() >= n_docs:
        raise RankingError(f"evidence of a greedy top {top.tolist()} for {n_docs} documents")
    return TopKPropensities(top, gamma, n_docs)


def _check_loss(loss: object) -> None:
    if isinstance(loss, type) or not callable(getattr(loss, "gradient", None)):
        raise SettingError(
            f"loss must be a value such as RankSVM() or Squared(), found {loss!r}; the loss of ListNet "
            "is none of them, because each term of its gradient depends on all grades of the query"
        )
