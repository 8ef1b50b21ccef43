"""What bandits over fixed items share: how often each was graded, and how good it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import RankingError
from rankloop.policies.items.item_policy import FixedItems, mean_worth
from rankloop.state_fields import state
from rankloop.types import Array, Feedback, FloatArray, IntArray, Query


@dataclass(kw_only=True, eq=False)
class ItemMeans(FixedItems):
    """Keeps, of every item, how many grades were seen and the sum of what they are worth.

    Each is a share of what `top_grade` is worth. A grade above that is refused, one below 0 counts as 0.
    """

    evidence_scope = "documents"  # there is none: grades hold wherever an item stands
    item_arrays: ClassVar[tuple[str, ...]] = ("totals", "counts")

    totals: FloatArray = state((0,), feature_axes=())
    counts: IntArray = state((0,), np.int64, feature_axes=())
    lists: Array = state(dtype=np.int64)

    def learn(self, feedback: Feedback) -> None:
        """Count every grade that is known."""
        grades, known = feedback.graded()
        seen = known.nonzero()[0]
        highest = grades[seen].max(initial=0.0)
        if highest > self.top_grade:
            raise RankingError(
                f"expected grades of at most top_grade={self.top_grade:g}, found {highest:g}: give the "
                f"policy the highest grade there is, as in {type(self).__name__}(top_grade={highest:g})"
            )
        items = self._meet(feedback.ranking.query)[feedback.ranking.order[seen]]
        shares = np.maximum(self._worth(grades[seen]) / self.top_worth, 0.0)
        self.totals, self.counts = self.totals.copy(), self.counts.copy()
        np.add.at(self.totals, items, shares)
        np.add.at(self.counts, items, 1)
        self.lists = self.lists + 1

    def score(self, query: Query) -> FloatArray:
        """The mean share of the highest worth; 0 for items never graded."""
        totals, counts = self._known(query, "totals", "counts")
        return mean_worth(totals, counts)
