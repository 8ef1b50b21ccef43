"""Ranking with the grades of the top k (RTop-kF), for candidates with features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from rankloop.bounds import Bound, Count, Positive, Probability, describe_bound
from rankloop.errors import RankingError, SettingError
from rankloop.exploration import draw_by_score
from rankloop.learning.topk_losses import LOSSES, LossName, TopKLoss
from rankloop.learning.topk_propensities import TopKPropensities
from rankloop.policies.scorer_policy import ScorerPolicy, check_size
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query, Ranking

TINY = 1e-12


@dataclass(kw_only=True, eq=False)
class RTopK(ScorerPolicy):
    r"""Shows its best list or, seldom, any list, and descends a loss estimated from the grades on top.

    With probability $1 - \gamma$ the list is greedy, otherwise uniform; the grades $R$ of its first $k$ are
    seen. A term of the loss counts the more, the less likely it was to be seen. With RankSVM,

    $$\theta \leftarrow \theta - \eta \, X^\top
    \sum_{i, j \text{ seen},\, R_i > R_j,\, 1 + s_j > s_i} w(q_{ij}) \, (e_j - e_i), \qquad
    q_{ij} = (1 - \gamma)\,[i, j \in T] + \gamma \frac{k (k - 1)}{m (m - 1)},$$

    where $T$ is the greedy top $k$ of the $m$ candidates when the list was drawn. With $w(q) = 1 / q$ the
    expectation is the gradient. `top_k` is how many results are rated, `None` for all that are shown;
    `radius` bounds $\lVert \theta \rVert$.

    Exploration falls as $\gamma_t = \gamma / t^{1/3}$. With `steps="adagrad"` every parameter goes at a pace
    of its own, $\eta \, g / \sqrt{\sum g^2}$, and $w(q) = \min(1 / q, \text{cap})$: the cap costs a bias and
    takes the rare, huge steps away. With `steps="published"` a step is $\eta \, g / t^{2/3}$, and a term that
    the greedy list would not have shown counts $1 / \min(1, c \, q)$ with $c$ = `scale`. With $c = 1$ the
    weights are exact, and the steps at times so large that what was learned is lost: the document scaled its
    $\gamma$ up in such rounds, by a constant that it does not give. 100 works, for RankSVM 1000.

    >>> from rankloop.types import Feedback, Query
    >>> policy = RTopK(top_k=2)
    >>> shown = policy.rank(Query("q", np.eye(3)), k=3, rng=np.random.default_rng(0))
    >>> policy.learn(Feedback(shown, np.array([0, 2, 0]), np.array([True, True, False]), "grades"))
    >>> policy.score(shown.query)[shown.order].round(9).tolist()
    [-0.1, 0.1, 0.0]

    Chaudhuri: Learning to rank: online learning, statistical theory and applications. University of Michigan,
    2016, Algorithm 5. Duchi, Hazan, Singer: Adaptive subgradient methods for online learning and stochastic
    optimization. JMLR 2011.
    """

    signals = ("grades", "clicks")
    evidence_scope = "list"  # propensities of another list nobody knows

    loss: LossName = "ranksvm"
    top_grade: Positive = 1.0  # of unnormalised KL
    smoothing: Positive = 0.01  # of SmoothDCG, ε
    steps: Literal["adagrad", "published"] = "adagrad"
    learning_rate: Positive = 0.1  # η; in the first round, if published
    gamma: Probability = 0.1  # in the first round
    cap: Annotated[float, Bound(above=0, at_most=np.inf)] = 10.0  # of AdaGrad's weights
    scale: Annotated[float, Bound(at_least=1)] = 100.0  # c of the published weights
    top_k: Count | None = None
    radius: Positive | None = None
    sums: FloatArray = state((0,), feature_axes=(0,))  # of squared gradients
    rounds: Array = state(dtype=np.int64)  # lists learned from

    def __post_init__(self) -> None:
        """Refuse losses that the top k cannot teach."""
        if str(self.loss).casefold() == "listnet":
            raise SettingError(
                f"RTopK: loss must be {describe_bound(LossName)}, found {self.loss!r}: each term of its "
                "gradient depends on all grades of the query, so the top k cannot teach it"
            )
        super().__post_init__()
        if self.top_k is not None and self.top_k < self._loss.needs:
            raise SettingError(
                f"RTopK: top_k must be None or at least {self._loss.needs}, the grades that a term of "
                f"{self.loss} depends on, found {self.top_k}"
            )

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        r"""Show the best first or, with probability γ, anything; the greedy top and γ are the evidence."""
        gamma = float(self.gamma / (int(self.rounds) + 1) ** (1 / 3))
        explores = rng.random() < gamma
        best = draw_by_score(self.score(query), k, rng)
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
        weights = self._weights(rows, drawn)
        settings = {name: getattr(self, name) for name in self._loss.settings}
        slope = self._loss.estimate(scores, rows, grades, weights, **settings)
        gradient = self.scorer.vjp(start, features, slope.astype(features.dtype, copy=False))
        return gradient.astype(np.float64, copy=False)

    @property
    def _loss(self) -> TopKLoss:
        return LOSSES[self.loss]

    def _weights(self, rows: IntArray, drawn: TopKPropensities) -> FloatArray:
        """Say what the terms of these rows count, by the propensities with which they are seen."""
        needs = self._loss.needs
        likely, chance = drawn.greedy(needs), drawn.chance(needs)
        if self.steps == "published":
            chance = min(1.0, self.scale * chance)
        greedy, others = (1.0 / each if each > 0 else 0.0 for each in (likely, chance))
        if self.steps == "adagrad":
            greedy, others = min(greedy, self.cap), min(others, self.cap)
        return drawn.term_weights(rows, greedy=greedy, chance=others, needs=needs)

    def _descend(self, start: FloatArray, gradient: FloatArray) -> None:
        sums = self.sums if self.sums.size else np.zeros(start.size)
        if self.steps == "adagrad":
            sums = add_squares(sums, gradient)
            step = self.learning_rate * gradient / (np.sqrt(sums) + TINY)
        else:
            step = self.learning_rate / (int(self.rounds) + 1) ** (2 / 3) * gradient
        self.step_to(start, -1.0, step)
        self.parameters = within_ball(self.parameters, self.radius)
        self.sums, self.rounds = sums, self.rounds + 1


def propensities(ranking: Ranking) -> TopKPropensities:
    """Read the propensities that the evidence of a ranking speaks of."""
    top, gamma, n_docs = ranking.evidence["top"], float(ranking.evidence["gamma"]), ranking.query.n_docs
    if not top.size or top.min() < 0 or top.max() >= n_docs:
        raise RankingError(f"evidence of a greedy top {top.tolist()} for {n_docs} documents")
    return TopKPropensities(top, gamma, n_docs)


def add_squares(sums: FloatArray, gradient: FloatArray) -> FloatArray:
    """Add the squares of a gradient to those of the gradients before, and refuse what is no number.

    >>> add_squares(np.array([1.0, 0.0]), np.array([2.0, 3.0])).tolist()
    [5.0, 9.0]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = sums + gradient * gradient
    if not np.isfinite(sums).all():
        raise RankingError(
            "learning from this feedback would make the sums of squared gradients infinite: "
            "scale the features, for example to 0..1 within the query"
        )
    return sums


def within_ball(parameters: FloatArray, radius: float | None) -> FloatArray:
    r"""Find the nearest parameters with $\lVert \theta \rVert \le$ `radius`; without a radius, as they are.

    >>> within_ball(np.array([3.0, 4.0]), 2.5).tolist()
    [1.5, 2.0]
    """
    if radius is None or (length := float(np.linalg.norm(parameters))) <= radius:
        return parameters
    return parameters * (radius / length)
