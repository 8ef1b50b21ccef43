"""What PairRank and PePairRank share: a logistic model of pairs, and lists that respect certain orders."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankloop.learning import logistic
from rankloop.learning.preferences import Pairing, check_pairing, pair_differences
from rankloop.policies.state_fields import state
from rankloop.policies.uncertain import ExploresUncertain
from rankloop.scorers import Linear
from rankloop.types import Array, Feedback, FloatArray, Query, RankingError, SettingError

Update: TypeAlias = Literal["online", "exact"]


def prior_variance(policy: PairwiseLogistic) -> float:
    r"""$1 / \lambda$: what the inverse of a matrix that starts as $\lambda I$ has for a new feature."""
    return 1.0 / float(policy.penalty)


@dataclass(kw_only=True, eq=False)
class PairwiseLogistic(ExploresUncertain):
    r"""A policy around $P(i \succ j) = \sigma(\theta^\top (x_i - x_j))$ that explores what is uncertain.

    `update="online"` learns at a constant cost;
    `"exact"` solves the regression over the whole history every time. `prior` is the standard deviation that
    the log-odds of two typical candidates have before any click: 0.4 expects odds of about 3 to 2. It sets
    $\lambda = \operatorname{mean} \lVert x_i - x_j \rVert^2 / \text{prior}^2$ over the candidates of
    the first query that teaches anything; `regularisation` gives $\lambda$ directly.
    """

    pairing: Pairing = "matching"
    update: Update = "online"
    prior: float = 0.4
    regularisation: float | None = None
    parameters: FloatArray = state((0,), feature_axes=(0,))
    curvature: FloatArray = state((0, 0), feature_axes=(0, 1), starts=prior_variance)  # H⁻¹
    penalty: Array = state()  # the λ in use
    history: FloatArray = state((0, 0), feature_axes=(1,))  # all pairs, if exact

    def __post_init__(self) -> None:
        """Refuse ways that nobody knows."""
        super().__post_init__()
        check_pairing(self.pairing)
        if self.update not in ("online", "exact"):
            raise SettingError(f"update must be online or exact, found {self.update!r}")
        if not 0 < self.prior < np.inf:
            raise SettingError(f"prior must be positive, found {self.prior}")
        if self.regularisation is not None and not 0 < self.regularisation < np.inf:
            raise SettingError(f"regularisation must be positive, found {self.regularisation}")

    def _form(self) -> tuple[object, ...]:
        return (self.update,)  # only the exact one has kept the pairs

    @abstractmethod
    def _begin(self, dimensions: int) -> None:
        """Prepare what the certain orders need, before the first pairs."""

    @abstractmethod
    def _take_in(self, pairs: FloatArray, seed: int) -> None:
        """Update what the certain orders need, after the model took in new pairs."""

    def learn(self, feedback: Feedback) -> None:
        """Fit the model to the pairs of this list, too."""
        seed = int(feedback.ranking.evidence["seed"])
        pairs = pair_differences(feedback, self.pairing, seed)
        if not pairs.any():
            return
        if not self.parameters.size:
            self._start(feedback.ranking.query.features)
        if pairs.shape[1] != self.parameters.size:
            raise RankingError(
                f"this ranker knows {self.parameters.size} features but the query has {pairs.shape[1]}"
            )
        self.parameters, self.curvature = logistic.online_newton(self.parameters, self.curvature, pairs)
        if self.update == "exact":
            self._solve(pairs)
        self._take_in(pairs, seed)

    def score(self, query: Query) -> FloatArray:
        """Scores of the learned ranker."""
        known = self.parameters if self._has_learned_of(query) else np.zeros(query.features.shape[1])
        return Linear().score(known, query.features)

    def _has_learned_of(self, query: Query) -> bool:
        """Whether anything is known of such documents: of those without features nobody knows anything."""
        return bool(self.parameters.size and query.features.shape[1])

    def _start(self, features: FloatArray) -> None:
        dimensions = features.shape[1]
        self.penalty = np.array(self.regularisation or typical_squared_distance(features) / self.prior**2)
        self.parameters = np.zeros(dimensions)
        self.curvature = np.eye(dimensions) / self.penalty
        self.history = np.empty((0, dimensions))
        self._begin(dimensions)

    def _solve(self, pairs: FloatArray) -> None:
        """Solve over the whole history, from the online step and with its curvature as guide."""
        before, penalty = len(self.history), float(self.penalty)
        self.history = np.vstack((self.history, pairs))
        self.parameters = logistic.fit(self.history, penalty, self.parameters, preconditioner=self.curvature)
        if _rung(len(self.history)) > _rung(before):
            self.curvature = np.linalg.inv(logistic.curvature(self.history, self.parameters, penalty))


def typical_squared_distance(features: FloatArray) -> float:
    r"""The mean of $\lVert x_i - x_j \rVert^2$ over all pairs of documents; 1 if all are the same.

    >>> typical_squared_distance(np.array([[0.0], [2.0]]))
    4.0
    """
    n = len(features)
    spread = float(features.var(axis=0, dtype=np.float64).sum())
    return 2 * spread * n / (n - 1) if spread > 0 else 1.0


def _rung(n: int) -> int:
    """Steps of ten per cent: how far a history has grown."""
    return int(np.log(max(n, 1)) / np.log(1.1))
