"""FairSwap as it was published: blocks are changed until a template fits them. For comparison only.

The merge of queues does the same with fewer violated orders, for any number of groups, in less time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.errors import SettingError
from rankloop.exploration import ordered_blocks
from rankloop.exposure import AccountRule, FairList, Ties, choose_template, count_violations
from rankloop.exposure.fair_merge import LARGEST_TABLE
from rankloop.exposure.group_templates import all_templates, template_views
from rankloop.policies.explores_uncertain import Exploration
from rankloop.policies.fair.fairexp_pairrank import FairExpPairRank
from rankloop.policies.fair.fairexp_toprank import FairExpTopRank
from rankloop.types import BoolArray, IntArray, Query


@dataclass(kw_only=True, eq=False)
class FairSwapPairRank(FairExpPairRank):
    """FairExp-PairRank that fills templates by FairSwap, for two groups at up to 14 positions.

    FairSwap changes blocks, so lists are drawn by blocks: `exploration` is always `"random"`.

    >>> policy, rng = FairSwapPairRank(beta=1.0, tolerance=0.5), np.random.default_rng(0)
    >>> query = Query("q", rng.random((30, 4)), groups=("A",) * 10 + ("B",) * 20)
    >>> for _ in range(50):
    ...     policy.shown(policy.rank(query, k=10, rng=rng))
    >>> bool((abs(policy.account) <= 500_000 / 2).all())  # millionths of a view: UF is twice the account
    True

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Algorithm 4.
    """

    exploration: Exploration = "random"

    def __post_init__(self) -> None:
        """Refuse to fill by blocks what is drawn without them."""
        super().__post_init__()
        if self.exploration != "random":
            raise SettingError(
                f"FairSwap changes blocks: exploration must be random, found {self.exploration!r}"
            )

    def fair_order(self, query: Query, certain: BoolArray, *, k: int, rng: np.random.Generator) -> IntArray:
        """Find the list with the fewest violated certain orders of those that FairSwap makes."""
        groups, blocks = self.groups_of(query), ordered_blocks(self.list_scores(query), certain)
        rule = self.account_rule(groups, k)
        return swap_fairly(blocks, groups.codes, certain, rule, rng=rng, ties=self.ties).order


@dataclass(kw_only=True, eq=False)
class FairSwapTopRank(FairExpTopRank):
    """FairExp-TopRank that fills templates by FairSwap, for two groups at up to 14 positions.

    >>> policy = FairSwapTopRank(beta=1.0)
    >>> query = Query("q", np.empty((4, 0)), ("a", "b", "c", "d"), ("A", "A", "B", "B"))
    >>> policy.rank(query, k=2, rng=np.random.default_rng(0)).order.tolist()
    [2, 0]

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Algorithm 4.
    """

    def fair_order(self, query: Query, certain: BoolArray, *, k: int, rng: np.random.Generator) -> IntArray:
        """Find the list with the fewest violated relations of those made of TopRank's blocks."""
        groups, numbers = self.groups_of(query), self.blocks(query)
        blocks = [np.flatnonzero(numbers == block) for block in range(int(numbers.max()) + 1)]
        rule = self.account_rule(groups, k)
        return swap_fairly(blocks, groups.codes, certain, rule, rng=rng, ties=self.ties).order


def swap_fairly(
    blocks: Sequence[IntArray],
    groups: IntArray,
    certain: BoolArray,
    rule: AccountRule,
    *,
    rng: np.random.Generator,
    ties: Ties = "random",
) -> FairList:
    """Make the list with the fewest violations among those that FairSwap makes of qualified templates."""
    k = len(rule.views)
    if len(rule.ahead) != 2 or 2**k > LARGEST_TABLE:
        raise SettingError(
            f"FairSwap is for two groups at up to 14 positions, found {len(rule.ahead)} groups at {k} "
            "positions: use FairExp, which merges queues"
        )
    templates, views = all_templates(2, k), template_views(2, tuple(rule.views.tolist()))
    standing = np.subtract(rule.ahead, rule.due(k), dtype=np.float64)
    off = np.abs(views + standing[:, None]).max(axis=0)
    off[(templates.counts > np.bincount(groups, minlength=2)).any(axis=1)] = np.inf  # cannot be filled
    costs, lists = np.full(len(off), np.inf), dict[int, IntArray]()
    for number in (off <= max(rule.tolerance, float(off.min()))).nonzero()[0].tolist():
        lists[number] = fill_template(blocks, groups, templates.groups[number].tolist(), rng)
        costs[number] = count_violations(lists[number], certain)
    best = choose_template(costs, off, rule.tolerance, rng, ties)
    is_within = bool(off[best] <= rule.tolerance)
    return FairList(lists[best], views[:, best].astype(np.int64), int(costs[best]), is_within)


def fill_template(
    blocks: Sequence[IntArray], groups: IntArray, template: Sequence[int], rng: np.random.Generator
) -> IntArray:
    """Make a list of two groups that fits a template, from blocks between which every order is certain.

    A block that lacks documents of a group fetches them from the next blocks that have some, at random, and
    pushes as many of the other group into a new block right behind it. Then each block is shuffled.

    >>> blocks, groups = [np.array([0, 1]), np.array([2, 3, 4])], np.array([0, 1, 0, 0, 1])
    >>> fill_template(blocks, groups, (0, 0, 1, 0, 1), np.random.default_rng(0)).tolist()
    [0, 2, 1, 3, 4]
    """
    chances, places = rng.random((2, len(groups)))
    parted = _split_blocks(blocks, groups, chances.tolist())
    return np.array(_fill(parted, list(template), places.tolist()))


SplitBlocks = list[tuple[list[int], list[int]]]  # the documents of each block, by group


def _split_blocks(blocks: Sequence[IntArray], groups: IntArray, chances: Sequence[float]) -> SplitBlocks:
    """Split the blocks by group, each in the order in which documents are fetched from it: from its end."""
    codes = groups.tolist()
    found: SplitBlocks = []
    for block in blocks:
        sides: tuple[list[int], list[int]] = ([], [])
        for document in sorted(block.tolist(), key=chances.__getitem__):
            sides[codes[document]].append(document)
        found.append(sides)
    return found


def _fill(blocks: SplitBlocks, template: list[int], places: Sequence[float]) -> list[int]:
    order: list[int] = []
    index = 0
    while len(order) < len(template):
        block = blocks[index]
        segment = template[len(order) : len(order) + len(block[0]) + len(block[1])]
        pushed = _fetch(blocks, index, segment)
        waiting = [sorted(side, key=places.__getitem__) for side in block]
        order += [waiting[group].pop() for group in segment]
        if pushed[0] or pushed[1]:
            blocks.insert(index + 1, pushed)
        index += 1
    return order


def _fetch(blocks: SplitBlocks, index: int, segment: list[int]) -> tuple[list[int], list[int]]:
    """Fetch what a block lacks for its part of the template; what it pushes out in return."""
    block, pushed = blocks[index], ([], [])  # type: tuple[list[int], list[int]], tuple[list[int], list[int]]
    for group in (0, 1):
        lacking = segment.count(group) - len(block[group])
        if lacking <= 0:
            continue
        for later in blocks[index + 1 :]:
            while lacking and later[group]:
                block[group].append(later[group].pop())
                other = block[1 - group]
                pushed[1 - group].append(other.pop())
                lacking -= 1
    return pushed
