"""What all policies share that explore only the uncertain: a list that respects every certain order."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankloop.exploration import random_topological, shuffle_blocks
from rankloop.exposure import draw_deep
from rankloop.learning.top_orders import TopOrders
from rankloop.policy import Policy
from rankloop.types import BoolArray, FloatArray, IntArray, Query, Ranking

Exploration: TypeAlias = Literal["conservative", "random"]


@dataclass(kw_only=True, eq=False)
class ExploresUncertain(Policy):
    """A policy that can say which orders are certain, and tries out the others.

    `exploration="conservative"` never violates a certain order; `"random"` divides the documents into blocks
    with certain orders between them and shuffles each block.
    """

    evidence_scope = "documents"  # a seed for their pairs

    exploration: Exploration = "conservative"

    @abstractmethod
    def certain_orders(self, query: Query) -> BoolArray:
        """`certain[i, j]`: the order of `i` above `j` is certain, and not tried out."""

    @property
    def draws_from_certain_orders(self) -> bool:
        """Whether its lists follow from its certain orders alone: it has no `rank` or `draw` of its own."""
        kind, own = type(self), ExploresUncertain
        return kind.rank is own.rank and kind.draw is own.draw

    def list_scores(self, query: Query) -> FloatArray:
        """Scores that no certain order contradicts."""
        return self.score(query)

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """Draw a list that respects the certain orders."""
        top = self.top_orders(query, k) if self.exploration == "conservative" else None
        if top is None:
            return self.draw(query, self.certain_orders(query), k=k, rng=rng)
        seed = rng.integers(2**63)
        return Ranking(query, top.rows[random_topological(top.certain, k, rng)], {"seed": np.array(seed)})

    def top_orders(self, query: Query, k: int) -> TopOrders | None:
        """Find what a list of `k` depends on, if that is less work than all orders; `None`: it is not."""
        del query, k
        return None

    def draw(
        self,
        query: Query,
        certain: BoolArray,
        *,
        k: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Ranking:
        """`rank`, for whoever needs to know the certain orders as well.

        With the `groups` of the documents, [n], the same list is drawn on until each has `k` in it, or all.
        """
        seed = rng.integers(2**63)  # for learn(): it must draw nothing of its own
        if self.exploration == "random":
            deep = k if groups is None else query.n_docs
            order = shuffle_blocks(self.list_scores(query), certain, deep, rng)
        elif groups is None:
            order = random_topological(certain, k, rng)
        else:
            order = draw_deep(certain, groups, k, rng)
        return Ranking(query, order, {"seed": np.array(seed)})
