"""olRankNet: a neural ranker that explores only the pairs whose order is still uncertain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from rankloop.bounds import Count, NonNegative
from rankloop.exploration import certain_orders
from rankloop.learning.covariance import Covariance, CovarianceKind, make_covariance
from rankloop.learning.replay_memory import Comparisons
from rankloop.policies.neural.neural_pairwise import NeuralPairwise, check_form
from rankloop.scorers import Gradients
from rankloop.state_fields import state
from rankloop.types import BoolArray, FloatArray, Query, State


@dataclass(kw_only=True, eq=False)
class OlRankNet(NeuralPairwise):
    r"""Keeps every order its network is sure of, and tries out the others.

    The gradient $g_i = \nabla_\theta f(x_i; \theta)$ stands for the features of a linear model around the
    present parameters. With $A = \lambda I + \sum g_{ij} g_{ij}^\top$ over the pairs learned from and
    $g_{ij} = g_i - g_j$, an order is certain when

    $$\sigma(s_i - s_j) - \alpha \lVert g_{ij} \rVert_{A^{-1}} > \tfrac{1}{2}.$$

    `covariance` says how $A$ is kept: all of it, its diagonal, or all of it for gradients projected to so
    many `dimensions`. The other settings are those of every `NeuralPairwise` policy.

    >>> from rankloop.scorers import MLP
    >>> from rankloop.types import Feedback, Query
    >>> policy, query = OlRankNet(scorer=MLP(16)), Query("q", np.eye(3))
    >>> for seed in range(200):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> policy.certain_orders(query)[2].tolist()  # 2 belongs above 0 and above 1
    [True, True, False]

    Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022.
    """

    state_shaping = ("_covariance",)

    covariance: CovarianceKind = "projected"
    dimensions: Count = 512  # of the projection
    alpha: NonNegative = 0.03
    known: FloatArray = state((0,))  # of A / λ

    def from_state(self, state: State) -> Self:
        """Make a policy with these settings and that state, if they fit together."""
        twin = super().from_state(state)
        if twin.known.size:
            gradients = twin._gradients(np.zeros((1, twin.documents.shape[2])))
            check_form("sums over pairs", twin.known, self._covariance.start(gradients))
        return twin

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: the order of `i` above `j` is certain, and not tried out."""
        if not self._knows_of(query):
            return self._certain_by_caller(query)
        gradients = self._gradients(self.layout.columns(query))
        known = self.known if self.known.size else self._covariance.start(gradients)
        widths = np.sqrt(self._covariance.squared_widths(known, gradients))
        return certain_orders(self.score(query), self.alpha * widths)

    def _update_certainty(self, compared: Comparisons) -> None:
        gradients = self._gradients(compared.documents)
        known = self.known if self.known.size else self._covariance.start(gradients)
        self.known = self._covariance.absorb(known, gradients, *compared.wins.nonzero())

    @property
    def _covariance(self) -> Covariance:
        return make_covariance(self.covariance, self.dimensions)

    def _gradients(self, features: FloatArray) -> Gradients:
        r"""Gradients in the unit in which $\lambda$ is 1."""
        return self.scorer.gradients(self.parameters_for(features), features).times(
            1 / np.sqrt(self.regularisation).item()
        )
