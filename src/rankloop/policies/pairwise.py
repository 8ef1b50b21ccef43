"""What PairRank and PePairRank share: a logistic model of pairs, and lists that respect certain orders."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from rankloop.learning import logistic
from rankloop.learning.preferences import Pairing, check_pairing, pair_differences
from rankloop.policies.state_fields import state
from rankloop.policies.uncertain import ExploresUncertain
from rankloop.scorers import Linear
from rankloop.types import Array, Feedback, FloatArray, Query, RankingError, SettingError

Update: TypeAlias = Literal["online", "exact"]

WEAK = 6.0  # log-odds: 400 to 1, before any click


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
    the first `prior_lists` queries that teach anything; `regularisation` gives $\lambda$ directly.

    The online step takes the past as a quadratic. It is a good picture as long as the prior is no weaker than
    the clicks are: with a $\lambda$ that stands for log-odds beyond `WEAK` it warns, once.
    """

    former: ClassVar[Mapping[str, object]] = {"prior_lists": 1}

    pairing: Pairing = "matching"
    update: Update = "online"
    prior: float = 0.4
    prior_lists: int = 10
    regularisation: float | None = None
    parameters: FloatArray = state((0,), feature_axes=(0,))
    curvature: FloatArray = state((0, 0), feature_axes=(0, 1), starts=prior_variance)  # H⁻¹
    penalty: Array = state()  # the λ in use
    history: FloatArray = state((0, 0), feature_axes=(1,))  # all pairs, if exact
    prior_seen: Array = state(
        dtype=np.int64, lacking=lambda state: np.array(int(state["parameters"].size > 0))
    )

    def __post_init__(self) -> None:
        """Refuse ways that nobody knows."""
        super().__post_init__()
        check_pairing(self.pairing)
        if self.update not in ("online", "exact"):
            raise SettingError(f"update must be online or exact, found {self.update!r}")
        if not 0 < self.prior < np.inf:
            raise SettingError(f"prior must be positive, found {self.prior}")
        if type(self.prior_lists) is not int or self.prior_lists < 1:
            raise SettingError(f"prior_lists must be a whole number of at least 1, found {self.prior_lists}")
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
        if self.parameters.size not in (0, pairs.shape[1]):
            raise RankingError(
                f"this ranker knows {self.parameters.size} features but the query has {pairs.shape[1]}"
            )
        self._consider_prior(feedback.ranking.query.features)
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

    def _consider_prior(self, features: FloatArray) -> None:
        """Start with the first list, and let the next few have their say on what is typical."""
        seen = int(self.prior_seen)
        if seen >= (self.prior_lists if self.regularisation is None else 1):
            return
        typical = typical_squared_distance(features)
        if not seen:
            self._start(features.shape[1], self.regularisation or typical / self.prior**2)
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

    def _add_to_penalty(self, more: float) -> None:
        r"""Go on as if $\lambda$ were larger by $\delta$: $H' = H + \delta I$, $H' \theta' = H \theta$."""
        self.penalty = self.penalty + more
        weighed = np.linalg.solve(self.curvature, self.parameters)
        self.curvature = with_more(self.curvature, more)
        self.parameters = self.curvature @ weighed

    def _start(self, dimensions: int, penalty: float) -> None:
        self.penalty = np.array(penalty)
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


def with_more(inverse: FloatArray, more: float) -> FloatArray:
    r"""$(A + \delta I)^{-1}$ from $A^{-1}$.

    >>> with_more(np.array([[0.5]]), 2.0).tolist()
    [[0.25]]
    """
    matrix = np.linalg.inv(inverse)
    changed: FloatArray = np.linalg.inv((matrix + matrix.T) / 2 + more * np.eye(len(inverse)))
    return (changed + changed.T) / 2


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
