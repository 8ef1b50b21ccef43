"""P²NeurRank: networks that learn from perturbed clicks; where they agree, the order is certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.policies.neural import NeuralPairwise
from rankloop.policies.pairloss import fair_share, surprise
from rankloop.types import BoolArray, FloatArray, SettingError


@dataclass(kw_only=True, eq=False)
class P2NeurRank(NeuralPairwise):
    r"""Asks several networks, each trained on freshly perturbed clicks; what all agree on is certain.

    Each network learns from labels $y + \zeta$ with $\zeta \sim \mathcal{N}(0, \nu^2)$, drawn anew for every
    pair in every round: where $i$ won against $j$, the slope is $\sigma(s_j - s_i) + \zeta$. No confidence
    width is needed. All networks are one stack of parameters and learn in one computation. Exploitation uses
    the mean of their scores. The other settings are those of every `NeuralPairwise` policy.

    No order is certain before `warm_up` lists were learned from, by default one for each feature. Networks
    that start alike and have seen little agree on most documents by guessing alike from few others; what is
    guessed to belong far down is not shown, and so the guess is never put to the test.

    >>> from rankloop.scorers import MLP
    >>> from rankloop.types import Feedback, Query
    >>> policy, query = P2NeurRank(scorer=MLP(16)), Query("q", np.eye(3))
    >>> for seed in range(200):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> policy.certain_orders(query.features)[2].tolist()  # 2 belongs above 0 and above 1
    [True, True, False]

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
    """

    name: ClassVar[str] = "p2neurrank"

    rankers: int = 2  # N
    variance: float = 0.1  # ν²
    warm_up: int | None = None  # lists; None: one for each feature

    def __post_init__(self) -> None:
        """Refuse ensembles that could not disagree."""
        super().__post_init__()
        if self.rankers < 1 or self.rankers != int(self.rankers) or not 0 < self.variance < np.inf:
            raise SettingError(
                "rankers must be a whole number of at least 1 and variance positive, "
                f"found rankers={self.rankers}, variance={self.variance}"
            )
        if self.warm_up is not None and self.warm_up < 0:
            raise SettingError(
                f"warm_up must be a number of lists, or none for one per feature, found {self.warm_up}"
            )

    def certain_orders(self, features: FloatArray) -> BoolArray:
        """`certain[i, j]`: all rankers put `i` above `j`, and have seen enough to be asked."""
        n, n_features = features.shape
        enough = n_features if self.warm_up is None else self.warm_up
        if not self.parameters.size or self.lists < enough:
            return np.zeros((n, n), dtype=bool)
        scores = super().score(features)
        agreed: BoolArray = np.logical_and.reduce(scores[:, :, None] > scores[:, None, :])
        return agreed

    def score(self, features: FloatArray) -> FloatArray:
        """The mean of the rankers' scores: what all agree on, it agrees with."""
        scores = super().score(features)
        return scores if scores.ndim == 1 else scores.mean(axis=0)

    def _origin(self, n_features: int) -> FloatArray:
        return np.tile(self.scorer.start(n_features), (self.rankers, 1))

    def _weigh(self, scores: FloatArray, wins: BoolArray, seed: int) -> FloatArray:
        rng = np.random.default_rng((seed, 2))  # the same for all steps of a round
        noise = np.sqrt(self.variance) * rng.standard_normal((*scores.shape, scores.shape[-1]))
        return (surprise(scores, wins) + np.where(wins, noise, 0)) * fair_share(wins)
