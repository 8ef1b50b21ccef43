"""P²NeurRank: networks that learn from perturbed clicks; where they agree, the order is certain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Count, Natural, Positive
from rankloop.errors import SettingError
from rankloop.learning.pair_loss import matching_shares, pair_residuals
from rankloop.policies.neural.neural_pairwise import NeuralPairwise
from rankloop.types import BoolArray, FloatArray, IntArray, Query

SPARE = 8  # networks that learn and are not asked in a round, by default


@dataclass(kw_only=True, eq=False)
class P2NeurRank(NeuralPairwise):
    r"""Asks several networks, each trained on perturbed clicks; what all agree on is certain.

    Where $i$ won against $j$, network $n$ learns by the slope $\sigma(s_j - s_i) + \zeta$ with its own noise
    $\zeta \sim \mathcal{N}(0, \nu^2)$, from a start of its own. No confidence width is needed. All networks
    are one stack of parameters and learn in one computation. Exploitation uses the mean of their scores. The
    other settings are those of every `NeuralPairwise` policy.

    Other rankers must be asked in every round, or what they once agree to put far down is never shown and
    the agreement never put to the test. The paper trains them anew in every round, on the whole history with
    new noise: `training=Exact(restart=True)`. Otherwise more `networks` learn than are asked, the noise of
    each is kept, and after every lesson `rankers` of them are drawn. With `networks=0` the rankers themselves
    learn, with new noise in every round, but go on from where they are.

    >>> from rankloop.scorers import MLP
    >>> from rankloop.types import Feedback, Query
    >>> policy, query = P2NeurRank(scorer=MLP(16)), Query("q", np.eye(3))
    >>> for seed in range(200):  # document 2 is always clicked
    ...     shown = policy.rank(query, k=3, rng=np.random.default_rng(seed))
    ...     policy.learn(Feedback(shown, shown.order == 2))
    >>> policy.certain_orders(query)[2].tolist()  # 2 belongs above 0 and above 1
    [True, True, False]

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
    """

    state_shaping = ("n_networks",)

    rankers: Count = 2  # N
    variance: Positive = 0.25  # ν²: by default that of a coin
    networks: Natural | None = None  # from which the rankers are drawn; None: eight more, if none restarts

    def __post_init__(self) -> None:
        """Refuse fewer networks than are asked."""
        super().__post_init__()
        if self.networks is not None and 0 != self.networks < self.rankers:
            raise SettingError(
                f"networks must be at least rankers={self.rankers}, or 0 for the rankers themselves with new "
                f"noise in every round, found {self.networks}"
            )

    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: all rankers put `i` above `j`."""
        if not self._knows_of(query):
            return self._certain_by_caller(query)
        scores = self._score_rankers(self.layout.columns(query))
        agreed: BoolArray = np.logical_and.reduce(scores[:, :, None] > scores[:, None, :])
        return agreed

    def list_scores(self, query: Query) -> FloatArray:
        """Average the rankers' scores: what all agree on, it agrees with."""
        known = self._knows_of(query)
        return self._score_rankers(self.layout.columns(query)).mean(axis=0) if known else self.score(query)

    def score(self, query: Query) -> FloatArray:
        """Average all networks' scores."""
        scores = super().score(query)
        return scores if scores.ndim == 1 else scores.mean(axis=0)

    def _score_rankers(self, columns: FloatArray) -> FloatArray:
        """Score documents by the rankers of this round, [rankers, n]."""
        drawn = np.random.default_rng(int(self.lists)).permutation(self.n_networks)[: self.rankers]
        networks = self.average if self.average.size else self._origin(columns.shape[1])
        return self.scoring.score(networks[drawn], columns)

    @property
    def n_networks(self) -> int:
        """How many networks learn."""
        if self.networks is None:
            return self.rankers if self.training.restart else self.rankers + SPARE
        return self.networks or self.rankers

    def _origin(self, n_features: int) -> FloatArray:
        return np.stack([self.scorer.start(n_features, number) for number in range(self.n_networks)])

    def _weigh(self, scores: FloatArray, wins: BoolArray, seeds: IntArray) -> FloatArray:
        perturbed = pair_residuals(scores, wins) + math.sqrt(self.variance) * self._noise(wins, seeds)
        return perturbed * matching_shares(wins)

    def _noise(self, wins: BoolArray, seeds: IntArray) -> FloatArray:
        """Draw standard normal numbers for every win and network, [networks, *wins.shape]."""
        noise = np.zeros((self.n_networks, *wins.shape))
        if self.networks == 0 or self.training.restart:  # new in every round; one for all of its steps
            newest = (int(self.lists) - 1) % (self.training.memory or int(self.lists))
            noise[:, wins] = _normal(int(self.seeds[newest]), noise[:, wins].shape)
        else:  # the same whenever a list is learned from
            for number, (won, seed) in enumerate(zip(wins, seeds.tolist(), strict=True)):
                noise[:, number, won] = _normal(seed, noise[:, number, won].shape)
        return noise


def _normal(seed: int, shape: tuple[int, ...]) -> FloatArray:
    return np.random.default_rng((seed, 2)).standard_normal(shape)
