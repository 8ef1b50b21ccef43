"""UCB for fixed items: each is as good as it may well be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.bounds import NonNegative
from rankloop.exploration import draw_by_score
from rankloop.policies.items.item_policy import MeanGradePolicy
from rankloop.types import Query, Ranking


@dataclass(kw_only=True, eq=False)
class UCBItems(MeanGradePolicy):
    r"""Shows the highest upper confidence bounds first; what was never seen stands before all else.

    $$\bar g_i + \sqrt{\text{width} \cdot \ln(1 + t) / n_i},$$

    where $n_i$ grades of item $i$ were seen in $t$ lists and $\bar g_i$ is the mean of their gains, as shares
    of the highest. It draws nothing but the order of ties.

    >>> from rankloop.types import Feedback
    >>> policy, rng = UCBItems(), np.random.default_rng(0)
    >>> query = Query("any", np.empty((3, 0)), ("tea", "coffee", "water"))
    >>> for _ in range(100):
    ...     shown = policy.rank(query, k=1, rng=rng)
    ...     policy.learn(Feedback(shown, np.array([0, 1, 0])[shown.order], signal="grades"))
    >>> int(policy.score(query).argmax())
    1

    Auer, Cesa-Bianchi, Fischer: Finite-time analysis of the multiarmed bandit problem. Machine Learning,
    2002.
    """

    width: NonNegative = 0.5

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Show the highest bounds first."""
        good, seen = self.values_of(query, "totals", "counts")
        often = np.maximum(seen, 1)
        bounds = good / often + np.sqrt(self.width * np.log1p(float(self.lists)) / often)
        bounds[seen == 0] = np.inf
        return Ranking(query, draw_by_score(bounds, k, rng))
