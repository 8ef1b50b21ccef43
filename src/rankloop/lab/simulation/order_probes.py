"""What is settled and what is open: probes of policies that know certain orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from rankloop.errors import SettingError
from rankloop.exposure import count_violations
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probe_base import KnowsOrders, Look, RoundProbe
from rankloop.policies import Policy
from rankloop.types import BoolArray, IntArray

BLOCKS = Measure(
    "blocks",
    kind="blocks",
    unit="blocks",
    title="number of blocks",
    meaning="How finely is the list divided? Between blocks the order is settled, within them it is open.",
)
BOUND = Measure(
    "bound on pairwise regret",
    kind="regret-bound",
    unit="pairs",
    short="bound on regret",
    meaning="How high could the regret be, if what is settled is right? The sum of N(N+1)/2, N open pairs.",
)
BLOCK_BOUND = Measure(
    "bound on pairwise regret by block",
    kind="regret-bound",
    unit="pairs",
    short="bound by block",
    meaning="How high could the regret be, if what is settled is right? The sum of N(N+1)/2 over blocks.",
)
UNCERTAIN = Measure(
    "uncertain pairs",
    kind="uncertain",
    unit="pairs",
    meaning="How many orders of a query are open? A list that respects the others has no more pairs wrong.",
)
VIOLATED = Measure(
    "violated certain orders",
    kind="violated",
    direction="lower",
    unit="pairs",
    title="violated certain orders of a list",
    meaning="How many orders that the policy is sure of does a list turn round? The price of a rule.",
)
SIZE_MEANING = "How many documents may be shown there? 1 means that the place is settled."


@dataclass(frozen=True, kw_only=True)
class _OrdersProbe(RoundProbe):
    """Looks at the certain orders of the query that was asked."""

    def applies(self, policy: Policy) -> bool:
        """To policies that know certain orders."""
        return isinstance(policy, KnowsOrders)


@dataclass(frozen=True, kw_only=True)
class CertainPairs(_OrdersProbe):
    """The share of settled pairs among the best-scored documents: how much of the top is still open.

    Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022, Figure 6.
    """

    name: ClassVar[str] = "certain"

    top: int = 10

    def __post_init__(self) -> None:
        """Refuse tops in which there are no pairs."""
        super().__post_init__()
        if self.top < 2:
            raise SettingError(f"top must be at least 2, found {self.top}")

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The share of certain pairs."""
        name = f"certain pairs in the top {self.top}"
        meaning = "How much of the top is settled? Whoever is certain explores less, and may still be wrong."
        return (Measure(name, kind=self.name, unit="share", meaning=meaning, title=f"share of {name}"),)

    def values(self, look: Look) -> Mapping[Measure, float]:
        """Count the certain pairs among the best."""
        best = (-look.scores).argsort(kind="stable")[: self.top]
        pairs = len(best) * (len(best) - 1) / 2
        if not pairs:
            return {}
        certain = np.count_nonzero(look.certain[best[:, None], best])
        return {self.measures[0]: certain / pairs}


@dataclass(frozen=True, kw_only=True)
class Blocks(_OrdersProbe):
    """How many ordered blocks the documents fall into: one at first; as many as documents at the end.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 7b.
    """

    name: ClassVar[str] = "blocks"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The number of blocks."""
        return (BLOCKS,)

    def values(self, look: Look) -> Mapping[Measure, float]:
        """Count the blocks."""
        return {BLOCKS: float(len(look.blocks))}


@dataclass(frozen=True, kw_only=True)
class BlockSizes(_OrdersProbe):
    """The size of the block at ranks 1, 5 and 10: how many documents may be shown there.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 6.
    """

    name: ClassVar[str] = "block-size"

    ranks: tuple[int, ...] = (1, 5, 10)

    def __post_init__(self) -> None:
        """Refuse ranks that no list has."""
        super().__post_init__()
        if not self.ranks or min(self.ranks) < 1:
            raise SettingError(f"ranks must be 1 or more, found {self.ranks}")

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """A size for each rank."""
        return tuple(
            Measure(f"block size at rank {rank}", kind=self.name, unit="documents", meaning=SIZE_MEANING)
            for rank in self.ranks
        )

    def values(self, look: Look) -> Mapping[Measure, float]:
        """Find the blocks that hold these ranks; a short list does not have them all."""
        sizes = size_at_each_rank(look.blocks)
        at_ranks = zip(self.measures, self.ranks, strict=True)
        return {measure: float(sizes[rank - 1]) for measure, rank in at_ranks if rank <= len(sizes)}


@dataclass(frozen=True, kw_only=True)
class UncertainPairs(_OrdersProbe):
    """The number of uncertain pairs of a query: what theory bounds, and what bounds the regret of a round.

    Of a list that violates no certain order, no more pairs than these can be the wrong way round.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021, section
    3.3. Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022, section 4.
    """

    name: ClassVar[str] = "uncertain"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The number of uncertain pairs."""
        return (UNCERTAIN,)

    def values(self, look: Look) -> Mapping[Measure, float]:
        """Count them."""
        return {UNCERTAIN: float(uncertain_pairs(look.certain))}


@dataclass(frozen=True, kw_only=True)
class RegretBound(_OrdersProbe):
    r"""The paper's bounds on the regret so far, if all certain orders are right.

    $$r_t \le \sum_b \frac{N_b (N_b + 1)}{2} \le \frac{N_t (N_t + 1)}{2}$$

    with the number of uncertain pairs in a block, $N_b$, and of the query, $N_t$: a block that they link has
    at most $N_b + 1$ documents. Blocks that had to be merged, because certain orders lead from one to the
    other and back, may have more, and a shuffle of them more pairs wrong. It looks at every round, as a
    sum should; with `every` above 1 it is an estimate.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Equation 2.
    """

    name: ClassVar[str] = "regret-bound"
    add_up: ClassVar[bool] = True

    every: int = 1

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The sums of the bounds, by query and by block."""
        return (BOUND, BLOCK_BOUND)

    def values(self, look: Look) -> Mapping[Measure, float]:
        """The most pairs that one round can have wrong; between blocks no pair is uncertain."""
        n = uncertain_pairs(look.certain)
        in_blocks = [uncertain_pairs(look.certain[np.ix_(block, block)]) for block in look.blocks]
        return {BOUND: n * (n + 1) / 2, BLOCK_BOUND: sum(each * (each + 1) / 2 for each in in_blocks)}


@dataclass(frozen=True, kw_only=True)
class ViolatedOrders(_OrdersProbe):
    """How many certain orders the list shown violates, to be fair or for any other reason.

    A certain order is violated when the worse document is shown, and the better one below it or not at all.

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Figure 3.8.
    """

    name: ClassVar[str] = "violated"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The number of violated orders of a list."""
        return (VIOLATED,)

    def values(self, look: Look) -> Mapping[Measure, float]:
        """Count them."""
        return {VIOLATED: float(count_violations(look.ranking.order, look.certain))}


def size_at_each_rank(blocks: list[IntArray]) -> IntArray:
    """The size of the block that holds each rank.

    >>> size_at_each_rank([np.array([4, 0]), np.array([1]), np.array([3, 2])]).tolist()
    [2, 2, 1, 2, 2]
    """
    sizes = np.array([len(block) for block in blocks])
    return np.repeat(sizes, sizes)


def uncertain_pairs(certain: BoolArray) -> int:
    """How many pairs are settled in neither direction.

    >>> uncertain_pairs(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    1
    """
    n = len(certain)
    return n * (n - 1) // 2 - int(np.count_nonzero(certain))
