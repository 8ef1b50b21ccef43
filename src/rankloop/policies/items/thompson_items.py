"""Thompson sampling for fixed items: each is as good as a draw from what is believed of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.policies.items.item_policy import MeanGradePolicy
from rankloop.types import Query, Ranking


@dataclass(kw_only=True, eq=False)
class ThompsonItems(MeanGradePolicy):
    r"""Draws for each item how good it may be, and shows the best draws first.

    $$\theta_i \sim \text{Beta}(1 + S_i,\ 1 + n_i - S_i),$$

    where $n_i$ grades of item $i$ were seen and $S_i$ is the sum of their gains, as shares of the highest.
    What is unsure is drawn high now and then, so it explores where there is something to learn.

    >>> from rankloop.types import Feedback
    >>> policy, rng = ThompsonItems(), np.random.default_rng(0)
    >>> query = Query("any", np.empty((3, 0)), ("tea", "coffee", "water"))
    >>> for _ in range(100):
    ...     shown = policy.rank(query, k=1, rng=rng)
    ...     policy.learn(Feedback(shown, np.array([0, 1, 0])[shown.order], signal="grades"))
    >>> int(policy.score(query).argmax())
    1

    Thompson: On the likelihood that one unknown probability exceeds another. Biometrika, 1933.
    """

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Show the best draws first."""
        good, seen = self.values_of(query, "totals", "counts")
        return Ranking(query, (-rng.beta(1 + good, 1 + seen - good)).argsort()[:k])
