"""FairSwap as it was published: blocks are changed until a template fits them. For comparison only.

The merge of queues does the same with fewer violated orders, for any number of groups, in less time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankloop.errors import SettingError
from rankloop.exposure.fair_merge import LARGEST_TABLE, Due, FairList
from rankloop.exposure.group_templates import all_templates, granted
from rankloop.exposure.template_choice import Ties, choose
from rankloop.types import BoolArray, FloatArray, IntArray


def fair_swap(
    blocks: Sequence[IntArray], groups: IntArray, template: Sequence[int], rng: np.random.Generator
) -> IntArray:
    """A list of two groups that fits a template, from blocks between which every order is certain.

    A block that lacks documents of a group fetches them from the next blocks that have some, at random, and
    pushes as many of the other group into a new block right behind it. Then each block is shuffled.

    >>> blocks, groups = [np.array([0, 1]), np.array([2, 3, 4])], np.array([0, 1, 0, 0, 1])
    >>> fair_swap(blocks, groups, (0, 0, 1, 0, 1), np.random.default_rng(0)).tolist()
    [0, 2, 1, 3, 4]

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Algorithm 4.
    """
    chances, places = rng.random((2, len(groups)))
    return np.array(_filled(_parted(blocks, groups, chances.tolist()), list(template), places.tolist()))


def swap_list(
    blocks: Sequence[IntArray],
    groups: IntArray,
    certain: BoolArray,
    *,
    looks: IntArray,
    ahead: IntArray,
    due: Due,
    tolerance: int,
    rng: np.random.Generator,
    ties: Ties = "random",
) -> FairList:
    """The list with the fewest violations among those that FairSwap makes of every qualified template."""
    k = len(looks)
    if len(ahead) != 2 or 2**k > LARGEST_TABLE:
        raise SettingError(
            f"FairSwap is for two groups at up to 14 positions, found {len(ahead)} groups at {k} positions: "
            "use the merge of queues"
        )
    templates, gains = all_templates(2, k), granted(2, tuple(looks.tolist()))
    start: FloatArray = np.subtract(ahead, due(k), dtype=np.float64)
    off = np.abs(gains + start[:, None]).max(axis=0)
    off[(templates.counts > np.bincount(groups, minlength=2)).any(axis=1)] = np.inf  # cannot be filled
    costs, lists = np.full(len(off), np.inf), dict[int, IntArray]()
    for number in (off <= max(tolerance, float(off.min()))).nonzero()[0].tolist():
        lists[number] = fair_swap(blocks, groups, templates.groups[number].tolist(), rng)
        costs[number] = count_violations(lists[number], certain)
    best = choose(costs, off, tolerance, rng, ties)
    within = bool(off[best] <= tolerance)
    return FairList(lists[best], gains[:, best].astype(np.int64), int(costs[best]), within)


def count_violations(order: IntArray, certain: BoolArray) -> int:
    """The certain orders $(i, j)$ with $j$ in the list, and $i$ below it or not in it.

    >>> count_violations(np.array([1, 0]), np.triu(np.ones((3, 3), dtype=bool), 1))
    1
    """
    kept = np.triu(certain[order[:, None], order], 1)
    return int(np.count_nonzero(certain[:, order])) - int(np.count_nonzero(kept))


Parted = list[tuple[list[int], list[int]]]  # the documents of each block, by group


def _parted(blocks: Sequence[IntArray], groups: IntArray, chances: Sequence[float]) -> Parted:
    """The blocks by group, each in the order in which documents are fetched from it: from its end."""
    codes = groups.tolist()
    parted: Parted = []
    for block in blocks:
        halves: tuple[list[int], list[int]] = ([], [])
        for document in sorted(block.tolist(), key=chances.__getitem__):
            halves[codes[document]].append(document)
        parted.append(halves)
    return parted


def _filled(blocks: Parted, template: list[int], places: Sequence[float]) -> list[int]:
    order: list[int] = []
    index = 0
    while len(order) < len(template):
        block = blocks[index]
        segment = template[len(order) : len(order) + len(block[0]) + len(block[1])]
        pushed = _calibrate(blocks, index, segment)
        waiting = [sorted(side, key=places.__getitem__) for side in block]
        order += [waiting[group].pop() for group in segment]
        if pushed[0] or pushed[1]:
            blocks.insert(index + 1, pushed)
        index += 1
    return order


def _calibrate(blocks: Parted, index: int, segment: list[int]) -> tuple[list[int], list[int]]:
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
