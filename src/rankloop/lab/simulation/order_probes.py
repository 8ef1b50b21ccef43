"""Probes of what is settled and what is open: by the certain orders of policies that know them."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankloop.bounds import Bound, Count
from rankloop.errors import SettingError
from rankloop.exploration import ordered_blocks
from rankloop.exposure import count_violations
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probes import (
    Checkpoint,
    Round,
    Values,
    probe,
    read_certain_orders,
    read_list_scores,
)
from rankloop.policies import Policy
from rankloop.policy import KnowsCertainOrders
from rankloop.query_set import QuerySet
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

# Close together at the top, where a place matters most; the same on all data.
POSITIONS = (*range(1, 11), *range(12, 51, 2), *range(55, 151, 5), *range(175, 1001, 25))


def describe_certain_pairs(*, top: int) -> list[Measure]:
    """Describe the share of certain pairs."""
    name = f"certain pairs in the top {top}"
    meaning = "How much of the top is settled? Whoever is certain explores less, and may still be wrong."
    return [Measure(name, kind="certain", unit="share", meaning=meaning, title=f"share of {name}")]


@probe("certain", measures=describe_certain_pairs, needs=KnowsCertainOrders)
def count_certain_pairs(round: Round, *, top: Annotated[int, Bound(at_least=2)] = 10) -> Values:
    """Count the certain pairs among the best-scored documents, as a share: how much of the top is settled.

    Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022, Figure 6.
    """
    best = (-round.scores).argsort(kind="stable")[:top]
    pairs = len(best) * (len(best) - 1) / 2
    certain = np.count_nonzero(round.certain[best[:, None], best])
    return {f"certain pairs in the top {top}": certain / pairs} if pairs else {}


@probe("blocks", measures=[BLOCKS], needs=KnowsCertainOrders)
def count_blocks(round: Round) -> Values:
    """Count the ordered blocks of the documents: one at first; as many as documents at the end.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 7b.
    """
    return {"blocks": float(len(round.blocks))}


def describe_block_sizes(*, ranks: tuple[int, ...]) -> list[Measure]:
    """Describe a size for each rank."""
    return [
        Measure(f"block size at rank {rank}", kind="block-size", unit="documents", meaning=SIZE_MEANING)
        for rank in ranks
    ]


def check_ranks(*, ranks: tuple[int, ...]) -> None:
    """Refuse to read nothing."""
    if not ranks:
        raise SettingError("ranks must name at least one, found none")


@probe("block-size", measures=describe_block_sizes, needs=KnowsCertainOrders, check=check_ranks)
def read_block_sizes(round: Round, *, ranks: tuple[Count, ...] = (1, 5, 10)) -> Values:
    """Read the size of the block at each rank: how many documents may be shown there.

    Short lists do not have every rank.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 6.
    """
    sizes = measure_size_by_rank(round.blocks)
    return {f"block size at rank {rank}": float(sizes[rank - 1]) for rank in ranks if rank <= len(sizes)}


@probe("uncertain", measures=[UNCERTAIN], needs=KnowsCertainOrders)
def count_uncertain_pairs(round: Round) -> Values:
    """Count the uncertain pairs of a query: what theory bounds, and what bounds the regret of a round.

    Of a list that violates no certain order, no more pairs than these can be the wrong way round.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021, section
    3.3. Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022, section 4.
    """
    return {"uncertain pairs": float(count_open_pairs(round.certain))}


@probe("regret-bound", measures=[BOUND, BLOCK_BOUND], needs=KnowsCertainOrders, every=1, reduce="sum")
def bound_regret(round: Round) -> Values:
    r"""Bound the regret so far as the paper does, if all certain orders are right.

    $$r_t \le \sum_b \frac{N_b (N_b + 1)}{2} \le \frac{N_t (N_t + 1)}{2}$$

    with the number of uncertain pairs in a block, $N_b$, and of the query, $N_t$: a block that they link has
    at most $N_b + 1$ documents. Blocks that had to be merged, because certain orders lead from one to the
    other and back, may have more, and a shuffle of them more pairs wrong. It reads every round, as a sum
    should; with `every` above 1 it is an estimate. Between blocks no pair is uncertain.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Equation 2.
    """
    n = count_open_pairs(round.certain)
    in_blocks = [count_open_pairs(round.certain[np.ix_(block, block)]) for block in round.blocks]
    return {
        "bound on pairwise regret": n * (n + 1) / 2,
        "bound on pairwise regret by block": sum(each * (each + 1) / 2 for each in in_blocks),
    }


@probe("violated", measures=[VIOLATED], needs=KnowsCertainOrders)
def count_violated_orders(round: Round) -> Values:
    """Count the certain orders that the list shown violates, to be fair or for any other reason.

    A certain order is violated when the worse document is shown, and the better one below it or not at all.

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Figure 3.8.
    """
    return {"violated certain orders": float(count_violations(round.ranking.order, round.certain))}


def describe_block_profile(**settings: object) -> list[Measure]:
    """Describe a size for each position that a list can have, all of them points of one profile."""
    del settings
    return [
        Measure(
            f"block size at position {position}",
            kind="block-size-by-position",
            unit="documents",
            meaning=SIZE_MEANING,
            title="block size",
            profile="block size by position",
            position=position,
        )
        for position in POSITIONS
    ]


@probe(
    "block-size-by-position",
    measures=describe_block_profile,
    needs=KnowsCertainOrders,
    at="checkpoint",
)
def read_block_profile(
    checkpoint: Checkpoint, *, rounds: tuple[Count, ...] = (10, 100, 1000), queries: Count = 20
) -> Values:
    """Read the size of the block at every position, at a few chosen rounds and at the end.

    A mean over the training queries with the most documents, at each position that at least half of these
    have: only long lists have a middle. A chosen round that is no checkpoint is passed over.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 7a.
    """
    if checkpoint.round not in (*rounds, checkpoint.rounds):
        return {}
    policy, train = checkpoint.policy, checkpoint.train
    sizes = [_sizes_of(policy, train, index) for index in find_longest(train, queries)]
    return {
        f"block size at position {position}": float(np.mean(found))
        for position in POSITIONS
        if 2 * len(found := [size[position - 1] for size in sizes if position <= len(size)]) >= len(sizes)
    }


def measure_size_by_rank(blocks: list[IntArray]) -> IntArray:
    """Give the size of the block that holds each rank.

    >>> measure_size_by_rank([np.array([4, 0]), np.array([1]), np.array([3, 2])]).tolist()
    [2, 2, 1, 2, 2]
    """
    sizes = np.array([len(block) for block in blocks])
    return np.repeat(sizes, sizes)


def count_open_pairs(certain: BoolArray) -> int:
    """Count the pairs that are settled in neither direction.

    >>> count_open_pairs(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    1
    """
    n = len(certain)
    return n * (n - 1) // 2 - int(np.count_nonzero(certain))


def find_longest(queries: QuerySet, n: int) -> list[int]:
    """Find the `n` queries with the most documents, the longest first.

    >>> find_longest(QuerySet(np.eye(6), np.array([0, 1, 4, 6]), np.zeros(6, dtype=int), "abc"), 2)
    [1, 2]
    """
    order: list[int] = (-np.diff(queries.offsets)).argsort(kind="stable")[:n].tolist()
    return order


def _sizes_of(policy: Policy, train: QuerySet, index: int) -> IntArray:
    query = train[index].query
    blocks = ordered_blocks(read_list_scores(policy, query), read_certain_orders(policy, query))
    return measure_size_by_rank(blocks)
