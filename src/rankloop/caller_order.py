"""The caller's own order of candidates: how good it is said to be, and the columns that policies see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np

from rankloop.bounds import Bound
from rankloop.types import FloatArray, Query, cache_columns

OrderWord: TypeAlias = Literal["good", "decent", "poor", "unknown"]
OrderWeight: TypeAlias = Annotated[float, Bound(at_least=0, at_most=100)]
CallerOrder: TypeAlias = OrderWord | OrderWeight | None  # how good is the order? None: nothing is said


@dataclass(frozen=True, slots=True)
class OrderPrior:
    r"""What the weight of the caller's order is thought to be before any click.

    A document's score has the part $w c$ with $c = -\log_2(1 + \text{rank})$ and
    $w \sim \mathcal{N}(\text{mean}, \text{deviation}^2)$. With a weight of 1 the log-odds that the caller's
    first result is better than the second are .58, and better than the tenth 2.5; what clicks say of orders
    that are merely decent is about half of that. The deviation is large enough that no order is 95 % sure by
    somebody's word alone, and small enough that a few clicks do not turn the order round.
    """

    mean: float
    deviation: float

    @property
    def weight(self) -> float:
        """The mean in units of the deviation: the first weight of the column with the order."""
        return self.mean / self.deviation


WORDS: Mapping[OrderWord, OrderPrior] = {
    "good": OrderPrior(1.0, 0.7),
    "decent": OrderPrior(0.5, 0.35),
    "poor": OrderPrior(0.2, 0.35),
    "unknown": OrderPrior(0.5, 0.7),
}
DOUBT = 0.7  # deviation of a weight that is given as a number, as a share of it; never less than .35


def parse_order(setting: CallerOrder) -> OrderPrior | None:
    """Read the prior that a setting `caller_order` stands for; `None`: the order is ignored.

    >>> parse_order("decent") == parse_order(0.5), parse_order(None) is parse_order(0) is None
    (True, True)
    """
    if isinstance(setting, str):
        return WORDS[setting]
    return OrderPrior(float(setting), DOUBT * max(float(setting), 0.5)) if setting else None


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """What a policy sees of each candidate: the caller's order and the position, then the features.

    >>> query = Query("q", np.array([[7.0], [8.0]]), caller_scores=np.array([2.0, 1.0]))
    >>> ColumnLayout(OrderPrior(1.0, 0.5)).columns(query).round(2).tolist()
    [[-0.5, 7.0], [-0.79, 8.0]]
    >>> ColumnLayout().columns(query) is query.features
    True
    """

    order: OrderPrior | None = None  # the caller's order, in the unit of its prior
    position: bool = False  # beside it, where a result was shown; 0 in every score

    @property
    def extra(self) -> int:
        """How many columns stand before the features."""
        return 0 if self.order is None else 1 + self.position

    def applies_to(self, query: Query) -> bool:
        """Tell whether there is an order to start from."""
        return self.order is not None and query.caller_log_ranks is not None

    def columns(self, query: Query) -> FloatArray:
        """Lay out the columns of a query, [n_docs, extra + n_features]: made once, and kept by the query.

        The order is 0 where the caller gave none. The features of a query must not be written in place.
        """
        if self.order is None:
            return query.features
        if query.cached_columns is None or query.cached_columns[0] != self:
            features, extra = query.features, self.extra
            seen = np.zeros((len(features), extra + features.shape[1]), dtype=features.dtype)
            if query.caller_log_ranks is not None:
                seen[:, 0] = self.order.deviation * query.caller_log_ranks
            seen[:, extra:] = features
            cache_columns(query, (self, seen))
            return seen
        return query.cached_columns[1]


NO_ORDER = ColumnLayout()
