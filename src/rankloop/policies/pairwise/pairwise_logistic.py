"""What PairRank and PePairRank share: a logistic model of pairs, and lists that respect certain orders."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np

from rankloop.bounds import Count, Positive
from rankloop.errors import RankingError
from rankloop.learning import logistic
from rankloop.learning.click_pairs import Pairing, pair_differences, preferred_pairs
from rankloop.policies.caller_order_policy import CallerOrderPolicy
from rankloop.policies.explores_uncertain import ExploresUncertain
from rankloop.scorers import Linear
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, Query

Update: TypeAlias = Literal["online", "exact"]
POSITION = 1  # the column that says where results stood, in lessons

WEAK = 6.0  # log-odds: 400 to 1, before any click


def prior_variance(policy: PairwiseLogistic) -> float:
    r"""$1 / \lambda$: what the inverse of a matrix that starts as $\lambda I$ has for a new feature."""
    return 1.0 / float(policy.penalty)


@dataclass(kw_only=True, eq=False)
class PairwiseLogistic(CallerOrderPolicy, ExploresUncertain):
    r"""A policy around $P(i \succ j) = \sigma(\theta^\top (x_i - x_j))$ that explores what is uncertain.

    `update="online"` learns at a constant cost;
    `"exact"` solves the regression over the whole history every time. `prior` is the standard deviation that
    the log-odds of two typical candidates have before any click: 0.4 expects odds of about 3 to 2. It sets
    $\lambda = \operatorname{mean} \lVert x_i - x_j \rVert^2 / \text{prior}^2$ over the candidates of
    the first `prior_lists` queries that teach anything; `regularisation` gives $\lambda$ directly.

    The online step takes the past as a quadratic. It is a good picture as long as the prior is no weaker than
    the clicks are: with a $\lambda$ that stands for log-odds beyond `WEAK` it warns, once.

    With `caller_order`, that order is one more column, whose weight has a prior of its own.
    Lists then look like that order, and clicks depend on where results stand: so that the order does not
    confirm itself,
    $P(i \succ j) = \sigma(\theta^\top (x_i - x_j) + b\,(p_i - p_j))$ with
    $p = -\log_2(1 + \text{position})$ and $b \sim \mathcal{N}(0, 1)$, which is learned beside the weights and
    is part of no score.
    """

    state_shaping = ("update",)  # only the exact one has kept the pairs
    position_column = True

    pairing: Pairing = "matching"
    update: Update = "online"
    prior: Positive = 0.4
    prior_lists: Count = 10
    regularisation: Positive | None = None
    parameters: FloatArray = state((0,), feature_axes=(0,))
    curvature: FloatArray = state((0, 0), feature_axes=(0, 1), new_value=prior_variance)  # H⁻¹
    penalty: Array = state()  # the λ in use
    history: FloatArray = state((0, 0), feature_axes=(1,))  # all pairs, if exact
    prior_seen: Array = state(dtype=np.int64)

    @abstractmethod
    def _start_certainty(self, dimensions: int) -> None:
        """Prepare what the certain orders need, before the first pairs."""

    @abstractmethod
    def _update_certainty(self, pairs: FloatArray, seed: int) -> None:
        """Update what the certain orders need, after the model took in new pairs."""

    def learn(self, feedback: Feedback) -> None:
        """Fit the model to the pairs of this list, too."""
        query, seed = feedback.ranking.query, int(feedback.ranking.evidence["seed"])
        pairs = self.pairs(feedback, seed)
        if pairs.any() and query.features.shape[1]:
            self.fit_pairs(query, pairs, seed)

    def fit_pairs(self, query: Query, pairs: FloatArray, seed: int) -> None:
        """Fit the model to these pairs of a query, [n_pairs, n]; of none, only the prior takes note."""
        if self.parameters.size not in (0, pairs.shape[1]):
            known = self.parameters.size - self.layout.extra
            raise RankingError(
                f"this ranker knows {known} features but the query has {query.features.shape[1]}"
            )
        self._update_prior(query.features)
        if not len(pairs):
            return
        self.parameters, self.curvature = logistic.online_newton(self.parameters, self.curvature, pairs)
        if self.update == "exact":
            self._refit(pairs)
        self._update_certainty(pairs, seed)

    def score(self, query: Query) -> FloatArray:
        """Scores of the learned ranker."""
        informed = self._with_prior(query)
        if informed is None:
            return np.zeros(query.n_docs, dtype=query.features.dtype)
        return Linear().score(informed.parameters, self.layout.columns(query))

    def _with_prior(self, query: Query) -> Self | None:
        """Who knows something of such documents: this policy or, before it has learned, its prior.

        Of those without features, and in no order of the caller's, nobody knows anything.
        """
        if self.parameters.size and query.features.shape[1]:
            return self
        if not self.layout.applies_to(query):
            return None
        prior = self._bare_twin()
        prior._start(query.features)
        return prior

    def pairs(self, feedback: Feedback, seed: int) -> FloatArray:
        """Find what the pairs of a list differ in, [n_pairs, n]: beside the order in where they stood."""
        pairs = pair_differences(feedback, self.layout.columns(feedback.ranking.query), self.pairing, seed)
        if self.layout.position and self.layout.extra and pairs.any():
            better, worse = preferred_pairs(feedback, self.pairing, seed)
            shown = -np.log2(np.arange(2, 2 + len(feedback.ranking)))
            pairs[:, POSITION] = shown[better] - shown[worse]
        return pairs

    def _update_prior(self, features: FloatArray) -> None:
        """Start with the first list, and let the next few have their say on what is typical."""
        seen = int(self.prior_seen)
        if seen >= (self.prior_lists if self.regularisation is None else 1):
            return
        typical = typical_squared_distance(features)
        if not seen:
            self._start(features)
            self._warn_of_weak_prior(typical)
        else:
            mean = (seen * float(self.penalty) + typical / self.prior**2) / (seen + 1)
            self._add_to_penalty(mean - float(self.penalty))
        self.prior_seen = self.prior_seen + 1

    def _warn_of_weak_prior(self, typical: float) -> None:
        expected = float(np.sqrt(typical / float(self.penalty)))
        if self.update == "online" and expected > WEAK:
            warnings.warn(
                f"regularisation={float(self.penalty):.3g} expects log-odds of {expected:.0f} between "
                "typical candidates: with so weak a prior the online update may come no closer to the exact "
                "weights than a cosine of .8 to .99; use update='exact', or a regularisation above "
                f"{typical / WEAK**2:.2g}",
                stacklevel=4,
            )

    def _of_features(self, more: float) -> FloatArray:
        """Give a number for each weight that the penalty is on; 0 for those with a prior of their own."""
        added = np.full(self.parameters.size, more)
        added[: self.layout.extra] = 0.0
        return added

    def _add_to_penalty(self, more: float) -> None:
        r"""Go on as if $\lambda$ were larger by $\delta$: $H' = H + \delta I$, $H' \theta' = H \theta$."""
        self.penalty = self.penalty + more
        weighed = np.linalg.solve(self.curvature, self.parameters)
        self.curvature = add_to_diagonal(self.curvature, self._of_features(more))
        self.parameters = self.curvature @ weighed

    def _start(self, features: FloatArray) -> None:
        """Make the prior; its scale is that of the candidates at hand."""
        self.penalty = np.array(self.regularisation or typical_squared_distance(features) / self.prior**2)
        dimensions = features.shape[1] + self.layout.extra
        self.parameters = self._centre(dimensions)
        self.curvature = np.diag(1 / self._precisions(dimensions))
        self.history = np.empty((0, dimensions))
        self._start_certainty(dimensions)

    def _centre(self, dimensions: int) -> FloatArray:
        """Give the weights that are expected before any click: those of features are 0."""
        centre = np.zeros(dimensions)
        if self.layout.order is not None:
            centre[0] = self.layout.order.weight
        return centre

    def _precisions(self, dimensions: int) -> FloatArray:
        r"""How surely: $\lambda$ for features, 1 for the caller's order in its own unit, and for $b$."""
        precisions = np.full(dimensions, float(self.penalty))
        precisions[: self.layout.extra] = 1.0
        return precisions

    def _fit_history(self, start: FloatArray, tilt: FloatArray | None = None) -> FloatArray:
        r"""Fit the best weights for the whole history; a prior around $\mu$ is a tilt $\Lambda \mu$."""
        penalty: float | FloatArray = float(self.penalty)
        if self.layout.extra:
            penalty = self._precisions(start.size)
            tilt = penalty * self._centre(start.size) + (0.0 if tilt is None else tilt)
        return logistic.fit(self.history, penalty, start, preconditioner=self.curvature, tilt=tilt)

    def _refit(self, pairs: FloatArray) -> None:
        """Solve over the whole history, from the online step and with its curvature as guide."""
        before = len(self.history)
        self.history = np.vstack((self.history, pairs))
        self.parameters = self._fit_history(self.parameters)
        penalty = self._precisions(len(self.parameters)) if self.layout.extra else float(self.penalty)
        if _growth_step(len(self.history)) > _growth_step(before):
            self.curvature = np.linalg.inv(logistic.curvature(self.history, self.parameters, penalty))


def add_to_diagonal(inverse: FloatArray, more: FloatArray) -> FloatArray:
    r"""Compute $(A + \operatorname{diag} \delta)^{-1}$ from $A^{-1}$.

    >>> add_to_diagonal(np.array([[0.5]]), np.array([2.0])).tolist()
    [[0.25]]
    """
    matrix = np.linalg.inv(inverse)
    changed: FloatArray = np.linalg.inv((matrix + matrix.T) / 2 + np.diag(more))
    return (changed + changed.T) / 2


def typical_squared_distance(features: FloatArray) -> float:
    r"""Average $\lVert x_i - x_j \rVert^2$ over all pairs of documents; 1 if all are the same.

    >>> typical_squared_distance(np.array([[0.0], [2.0]]))
    4.0
    """
    n = len(features)
    spread = float(features.var(axis=0, dtype=np.float64).sum())
    return 2 * spread * n / (n - 1) if spread > 0 else 1.0


def _growth_step(n: int) -> int:
    """Count steps of ten per cent: how far a history has grown."""
    return int(np.log(max(n, 1)) / np.log(1.1))
