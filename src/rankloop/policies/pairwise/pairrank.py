"""PairRank: explore only the pairs whose order is still uncertain."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from rankloop.bounds import Positive
from rankloop.errors import SettingError
from rankloop.learning import logistic
from rankloop.learning.certainty import Belief, Certainty, Posterior, squared_widths
from rankloop.learning.top_orders import TopOrders
from rankloop.learning.weight_ball import project_onto_ball
from rankloop.policies.pairwise.pairwise_logistic import PairwiseLogistic, add_to_diagonal, prior_variance
from rankloop.state_fields import state
from rankloop.types import Array, BoolArray, FloatArray, IntArray, Query

LONG = 256  # documents: with fewer, all pairs are compared in less time than it takes to choose some


@dataclass(kw_only=True, eq=False)
class PairRank(PairwiseLogistic):
    r"""Keeps every order it is sure of, and tries out the others.

    A logistic model of preferences, $P(i \succ j) = \sigma(\theta^\top (x_i - x_j))$, is fitted to pairs of
    clicked and examined, skipped results. A criterion of `certainty` says which orders are kept; the list
    shown is a random one among those that respect them. With clicks more and more are. With
    `longest_weights` $Q$ the weights are projected onto $\lVert\theta\rVert \le Q$, as the paper's analysis
    does, for `update="exact"`. The other settings are those of every `PairwiseLogistic` policy.

    >>> from rankloop.types import Feedback, Query
    >>> policy, query = PairRank(), Query("q", np.eye(3))
    >>> for seed in range(20):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> policy.certain_orders(query)[2].tolist()  # 2 belongs above 0 and above 1
    [True, True, False]

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021.
    """

    certainty: Certainty = field(default_factory=Posterior)
    longest_weights: Positive | None = None  # Q
    design: FloatArray = state((0, 0), feature_axes=(0, 1), new_value=prior_variance)  # M⁻¹
    log_det: Array = state()  # log det M/λI
    energy: FloatArray = state(
        (0,), feature_axes=(0,), new_value=lambda policy: float(policy.penalty)
    )  # diag M

    def __post_init__(self) -> None:
        """Refuse a longest length of weights where nothing is projected onto it."""
        super().__post_init__()
        if self.longest_weights is None:
            return
        if self.update != "exact":
            raise SettingError(
                "longest_weights needs update='exact', as the projection is over all pairs, "
                f"found update={self.update!r}"
            )
        if self.layout.extra:
            raise SettingError(
                "longest_weights is about the weights of features alone: leave out the caller's order, "
                f"found caller_order={self.caller_order!r}"
            )

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: the order of `i` above `j` is certain, and not tried out."""
        informed = self._with_prior(query)
        if informed is None:
            return np.zeros((query.n_docs, query.n_docs), dtype=bool)
        return self.certainty.certain(self.score(query), self.layout.columns(query), informed.belief())

    def top_orders(self, query: Query, k: int) -> TopOrders | None:
        """Find what a list of `k` depends on, for `Posterior` and long lists, without most pairs."""
        own = type(self).certain_orders is PairRank.certain_orders and self.draws_from_certain_orders
        if query.n_docs < LONG or not own or not isinstance(self.certainty, Posterior):
            return None
        informed = self._with_prior(query)
        if informed is None:
            return None
        return self.certainty.top(self.score(query), self.layout.columns(query), informed.belief(), k)

    def order_probabilities(self, query: Query, rows: IntArray) -> FloatArray | None:
        r"""Compute $P(i \succ j \mid \text{clicks})$ of `Posterior` for these documents, [n, n].

        >>> policy = PairRank(caller_order="decent")
        >>> query = Query("q", np.zeros((3, 1)), caller_scores=np.array([3.0, 2.0, 1.0]))
        >>> policy.order_probabilities(query, np.array([0, 2]))[0].round(2).tolist()
        [0.5, 0.92]
        """
        deviations = self.order_deviations(query, rows)
        if deviations is None:
            return None
        scores = self.score(query)[rows].astype(np.float64)
        gaps = np.subtract.outer(scores, scores)
        is_known = deviations > 0
        return np.asarray(ndtr(np.divide(gaps, deviations, out=np.zeros_like(gaps), where=is_known)))

    def order_deviations(self, query: Query, rows: IntArray) -> FloatArray | None:
        """Compute deviations of the score differences of these documents, [n, n]; `None`: unknown."""
        informed = self._with_prior(query)
        if informed is None:
            return None
        seen = self.layout.columns(query)[rows].astype(np.float64)
        return np.sqrt(squared_widths(seen, informed.curvature))

    def belief(self) -> Belief:
        """Say what is known of the weights besides their value."""
        return Belief(self.curvature, self.design, float(self.log_det), float(self.penalty), self.energy)

    def _start_certainty(self, dimensions: int) -> None:
        self.energy = self._precisions(dimensions)
        self.design = np.diag(1 / self.energy)

    def _add_to_penalty(self, more: float) -> None:
        super()._add_to_penalty(more)
        added = self._of_features(more)
        self.energy = self.energy + added
        start = self._precisions(len(added))
        if self.log_det == 0:  # no pair has joined it
            self.design = np.diag(1 / start)
            return
        self.design = add_to_diagonal(self.design, added)
        self.log_det = -np.linalg.slogdet(self.design)[1] - np.log(start).sum()

    def _refit(self, pairs: FloatArray) -> None:
        super()._refit(pairs)
        if self.longest_weights is not None:
            self.parameters = project_onto_ball(
                self.history, self.parameters, float(self.penalty), self.longest_weights
            )

    def _update_certainty(self, pairs: FloatArray, seed: int) -> None:
        del seed  # nothing is random here
        if self.certainty.uses_design:
            self.design, growth = logistic.absorb(self.design, pairs, np.ones(len(pairs)))
            self.log_det = self.log_det + growth
            self.energy = self.energy + np.square(pairs).sum(axis=0)
