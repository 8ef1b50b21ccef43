"""FairExp-PairRank: explore the uncertain, and give every group its looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.exploration import ordered_blocks, shuffle_blocks
from rankloop.exposure import deep_draw
from rankloop.policies.fair.fair_exposure_policy import FairExposure
from rankloop.policies.pairwise.pairrank import PairRank
from rankloop.types import BoolArray, IntArray, Query, Ranking


@dataclass(kw_only=True, eq=False)
class FairExpPairRank(FairExposure, PairRank):
    r"""PairRank whose lists keep every group's account of exposure within a tolerance.

    The list that PairRank would draw is taken apart into a queue for each group, and merged again: among all
    merges within the tolerance, the one that violates the fewest certain orders. With a single group, or
    without groups, it is PairRank. `fill="swap"` fills templates as the thesis does (FairSwap), for
    comparison, and needs `exploration="random"`; all other settings are those of `FairExposure` and
    `PairRank`.

    >>> policy, rng = FairExpPairRank(beta=1.0, tolerance=0.5), np.random.default_rng(0)
    >>> query = Query("q", rng.random((30, 4)), groups=("A",) * 10 + ("B",) * 20)
    >>> for _ in range(50):
    ...     policy.shown(policy.rank(query, k=10, rng=rng))
    >>> bool((abs(policy.account) <= 500_000 / 2).all())  # millionths of a look: UF is twice the account
    True

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    chapter 3.
    """

    name: ClassVar[str] = "fairexp-pairrank"

    def __post_init__(self) -> None:
        """Refuse to fill by blocks what is drawn without them."""
        super().__post_init__()
        if self.fill == "swap" and self.exploration != "random":
            raise SettingError(
                f"fill='swap' changes blocks, and needs exploration='random', found {self.exploration!r}"
            )

    def draw(
        self,
        query: Query,
        certain: BoolArray,
        *,
        k: int,
        rng: np.random.Generator,
        groups: IntArray | None = None,
    ) -> Ranking:
        """A list that respects the certain orders as far as the accounts allow; a deep one as it is drawn."""
        if groups is not None or not query.groups:
            return super().draw(query, certain, k=k, rng=rng, groups=groups)
        seed = rng.integers(2**63)  # for learn(): it must draw nothing of its own
        return Ranking(query, self.fair_order(query, certain, k=k, rng=rng), {"seed": np.array(seed)})

    def _deep_list(
        self, query: Query, codes: IntArray, certain: BoolArray, k: int, rng: np.random.Generator
    ) -> IntArray:
        if self.exploration == "conservative":
            return deep_draw(certain, codes, min(k, query.n_docs), rng)
        return shuffle_blocks(self.list_scores(query), certain, query.n_docs, rng)

    def _blocks_of(self, query: Query, certain: BoolArray) -> list[IntArray]:
        return ordered_blocks(self.list_scores(query), certain)
