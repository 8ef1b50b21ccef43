"""RankNet with a fixed share of random picks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import Probability
from rankloop.exploration import draw_epsilon_greedy
from rankloop.policies.gradient.ranknet import RankNet
from rankloop.types import Query, Ranking


@dataclass(kw_only=True, eq=False)
class EpsilonGreedy(RankNet):
    r"""RankNet that fills each position, with a fixed probability, with a random unranked document.

    The learning is RankNet's. The exploration does not depend on what is known, so it never ends: the
    reason to look for better.

    >>> from rankloop.types import Query
    >>> policy = EpsilonGreedy(epsilon=0.1)
    >>> policy.rank(Query("q", np.eye(4)), k=2, rng=np.random.default_rng(0)).order.tolist()
    [1, 2]

    Hofmann, Whiteson, de Rijke: Balancing exploration and exploitation in listwise and pairwise online
    learning to rank for information retrieval. Information Retrieval, 2013.
    """

    epsilon: Probability = 0.1

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Mostly the best first."""
        seed = self._pairing_seed(rng)
        return Ranking(query, draw_epsilon_greedy(self.score(query), k, self.epsilon, rng), seed)
