"""FairExp-PairRank: explore the uncertain, and give every group its views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankloop.exploration import shuffle_blocks
from rankloop.exposure import draw_deep
from rankloop.policies.fair.fair_exposure_policy import FairExposurePolicy
from rankloop.policies.pairwise.pairrank import PairRank
from rankloop.types import BoolArray, IntArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class FairExpPairRank(FairExposurePolicy, PairRank):
    r"""PairRank whose lists keep every group's account of exposure within a tolerance.

    The list that PairRank would draw is taken apart into a queue for each group, and merged again: among all
    merges within the tolerance, the one that violates the fewest certain orders. With a single group, or
    without groups, it is PairRank. Its settings are those of `FairExposurePolicy` and `PairRank`.

    >>> policy, rng = FairExpPairRank(beta=1.0, tolerance=0.5), np.random.default_rng(0)
    >>> query = Query("q", rng.random((30, 4)), groups=("A",) * 10 + ("B",) * 20)
    >>> for _ in range(50):
    ...     policy.shown(policy.rank(query, k=10, rng=rng))
    >>> bool((abs(policy.account) <= 500_000 / 2).all())  # millionths of a view: UF is twice the account
    True

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    chapter 3.
    """

    def draw(
        self,
        query: Query,
        certain: BoolArray,
        *,
        k: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Ranking:
        """Draw a list that respects the certain orders as far as the accounts allow; a deep one as it is."""
        if groups is not None or not query.groups:
            return super().draw(query, certain, k=k, rng=rng, groups=groups)
        seed = rng.integers(2**63)  # for learn(): it must draw nothing of its own
        return Ranking(query, self.fair_order(query, certain, k=k, rng=rng), {"seed": np.array(seed)})

    def _draw_deep(
        self, query: Query, codes: IntArray, certain: BoolArray, k: int, rng: np.random.Generator
    ) -> IntArray:
        if self.exploration == "conservative":
            return draw_deep(certain, codes, min(k, query.n_docs), rng)
        return shuffle_blocks(self.list_scores(query), certain, query.n_docs, rng)
