"""PePairRank: rankers that learn from perturbed clicks; where they agree, the order is certain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Count, Positive
from rankloop.policies.pairwise.pairwise_logistic import PairwiseLogistic
from rankloop.scorers import Linear
from rankloop.state_fields import state
from rankloop.types import BoolArray, FloatArray, Query


@dataclass(kw_only=True, eq=False)
class PePairRank(PairwiseLogistic):
    r"""Asks several rankers, each trained on freshly perturbed clicks; what all agree on is certain.

    After every round ranker $n$ minimises the pairwise loss with labels $y + \zeta$, where
    $\zeta \sim \mathcal{N}(0, \nu^2)$ is drawn anew for the whole history. No confidence width is needed.

    A perturbed label adds $-\zeta\, x^\top \theta$ to the loss, so all noise together adds a linear term
    $-g^\top \theta$ with $g \sim \mathcal{N}(0, \nu^2 \sum x x^\top)$. `update="exact"` draws every $\zeta$
    and solves; `"online"` draws $g$ itself and takes one Newton step, $\theta_n = \theta + H^{-1} g$: the
    same distribution to first order, at a cost that does not grow. Exploitation uses the unperturbed ranker.

    The analysis of the thesis takes the penalty for pairs $\sqrt{\lambda} e_i$ and perturbs them, too. With
    `perturb_prior` $g \sim \mathcal{N}(0, \nu^2 (\lambda I + \sum x x^\top))$: rankers then disagree
    also about what no pair has spoken of.

    >>> from rankloop.types import Feedback, Query
    >>> policy, query = PePairRank(), Query("q", np.eye(3))
    >>> for seed in range(20):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> policy.certain_orders(query)[2].tolist()  # 2 belongs above 0 and above 1
    [True, True, False]

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
    """

    rankers: Count = 2  # N
    variance: Positive = 0.1  # ν²
    perturb_prior: bool = False
    perturbed: FloatArray = state((0, 0), feature_axes=(1,))  # [N, d]
    scatter: FloatArray = state((0, 0), feature_axes=(0, 1))  # Σ x xᵀ

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: all rankers put `i` above `j`."""
        informed = self._with_prior(query)
        if informed is None:
            return np.zeros((query.n_docs, query.n_docs), dtype=bool)
        scores = Linear().score(informed.perturbed, self.layout.columns(query))
        agreed: BoolArray = np.logical_and.reduce(scores[:, :, None] > scores[:, None, :])
        return agreed

    def list_scores(self, query: Query) -> FloatArray:
        """Average the rankers' scores: what all agree on, it agrees with."""
        informed = self._with_prior(query)
        if informed is None:
            return self.score(query)
        return Linear().score(informed.perturbed.mean(axis=0), self.layout.columns(query))

    def _start_certainty(self, dimensions: int) -> None:
        self.scatter = np.zeros((dimensions, dimensions))
        self.perturbed = self.parameters[None]  # without clicks there is nothing to perturb

    def _update_certainty(self, pairs: FloatArray, seed: int) -> None:
        rng = np.random.default_rng((seed, 1))  # (seed,) itself may have matched the pairs
        self.scatter = self.scatter + pairs.T @ pairs
        if self.update == "exact":
            noise = np.sqrt(self.variance) * rng.standard_normal((self.rankers, len(self.history)))
            tilts = noise @ self.history + self._prior_tilts(rng)
            starts = (self.parameters + self.curvature @ tilt for tilt in tilts)
            self.perturbed = np.array([self._fit_history(*each) for each in zip(starts, tilts, strict=True)])
        else:
            self.perturbed = self.parameters + (self._tilts(rng) + self._prior_tilts(rng)) @ self.curvature

    def _prior_tilts(self, rng: np.random.Generator) -> FloatArray | float:
        r"""Draws from $\mathcal{N}(0, \nu^2 \lambda I)$, [rankers, d]; nothing, if the prior is as it is."""
        if not self.perturb_prior:
            return 0.0
        deviations = np.sqrt(self.variance * self._precisions(len(self.scatter)))
        draws: FloatArray = deviations * rng.standard_normal((self.rankers, len(deviations)))
        return draws

    def _tilts(self, rng: np.random.Generator) -> FloatArray:
        r"""Draws from $\mathcal{N}(0, \nu^2 \sum x x^\top)$, [rankers, d]."""
        dimensions = len(self.scatter)
        jitter = 1e-9 * np.trace(self.scatter) / dimensions  # few pairs span only a few directions
        factor = np.linalg.cholesky(self.scatter + jitter * np.eye(dimensions))
        draws: FloatArray = np.sqrt(self.variance) * rng.standard_normal((self.rankers, dimensions))
        return draws @ factor.T
