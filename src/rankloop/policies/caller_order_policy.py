"""What policies share that can start from the caller's own order: it is one more column, with a prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from rankloop.caller_order import CallerOrder, ColumnLayout, parse_order
from rankloop.policy import Policy


@dataclass(kw_only=True, eq=False)
class CallerOrderPolicy(Policy):
    r"""A policy that begins with the order in which candidates come, and departs from it as clicks teach it.

    `caller_order` says how good that order is: `"good"`, `"decent"`, `"poor"`, `"unknown"`, or a weight. The
    policy then sees one more column, before all features: $\text{deviation} \cdot c$ with
    $c = -\log_2(1 + \text{rank})$, whose weight has the prior $\mathcal{N}(w, 1)$ with
    $w = \text{mean} / \text{deviation}$. Queries that come in no order have 0 there. With `None` or 0 nothing
    of this is there.

    >>> import numpy as np
    >>> from rankloop.policies import PairRank
    >>> from rankloop.types import Query
    >>> query = Query("q", np.zeros((3, 1)), caller_scores=np.array([0.2, 0.9, 0.5]))
    >>> PairRank(caller_order="decent").rank(query, k=3, rng=np.random.default_rng(0)).order.tolist()
    [1, 2, 0]
    """

    state_shaping = ("layout.order",)
    position_column: ClassVar[bool] = False  # beside the order, where results were shown

    caller_order: CallerOrder = None

    @cached_property
    def layout(self) -> ColumnLayout:
        """The columns that it sees of a query: those of the caller's order, then the features."""
        return ColumnLayout(parse_order(self.caller_order), self.position_column)
