"""FairExp-TopRank: a partial order of each query's documents, and views for every group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankloop.exposure.group_accounts import group_codes
from rankloop.policies.fair.fair_exposure_policy import FairExposurePolicy
from rankloop.policies.items.toprank import TopRank, shuffle_within_blocks
from rankloop.types import BoolArray, IntArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class FairExpTopRank(FairExposurePolicy, TopRank):
    r"""TopRank whose lists keep every group's account of exposure within a tolerance.

    TopRank's statistics are right because each of two documents of a block is as likely as the other to stand
    above. Under a rule of exposure that holds within a group only: the better group is pushed down, and loses
    clicks for it. So a click is counted between documents of one block *and group*; `learned_pairs="block"`
    counts all pairs of a block, as the thesis does, and proves relations that are false.

    >>> policy, rng = FairExpTopRank(beta=1.0), np.random.default_rng(0)
    >>> query = Query("q", np.empty((4, 0)), ("a", "b", "c", "d"), ("A", "A", "B", "B"))
    >>> shown = policy.rank(query, k=4, rng=rng)
    >>> policy.shown(shown)
    >>> int(policy.account.sum())
    0

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    chapter 3.
    """

    learned_pairs: Literal["group", "block"] = "group"

    def rank(self, query: Query, *, k: int, rng: np.random.Generator) -> Ranking:
        """TopRank's list, merged as the accounts ask; which block a document is in is the evidence."""
        if not query.groups:
            return super().rank(query, k=k, rng=rng)
        order = self.fair_order(query, self.certain_orders(query), k=k, rng=rng)
        return Ranking(query, order, {"blocks": self.blocks(query)})

    def _comparable(self, query: Query, blocks: IntArray) -> BoolArray:
        together = super()._comparable(query, blocks)
        if self.learned_pairs == "block" or not query.groups:
            return together
        codes = group_codes(query.groups).codes
        return together & np.equal.outer(codes, codes)

    def _draw_deep(
        self, query: Query, codes: IntArray, certain: BoolArray, k: int, rng: np.random.Generator
    ) -> IntArray:
        del codes, certain, k
        return shuffle_within_blocks(self.blocks(query), rng)
