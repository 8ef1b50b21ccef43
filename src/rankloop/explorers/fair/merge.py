r"""Merge of queues: the list nearest to the drawn one that keeps every group's account within a tolerance.

A certain order $(i, j)$ is violated when $j$ is shown and $i$ stands below it or is not shown at all. Each
group's documents stay in the order drawn, so a list is a *template*: which group stands where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankloop.explorers.fair.choice import Ties, choose
from rankloop.explorers.fair.halves import meet_in_the_middle
from rankloop.explorers.fair.pricing import Pricing
from rankloop.explorers.fair.queues import group_queues
from rankloop.explorers.fair.templates import MOST, all_templates, granted, part_length
from rankloop.types import BoolArray, IntArray, SettingError

Method: TypeAlias = Literal["table", "halves", "pages"]
Due: TypeAlias = Callable[[int], IntArray]

PAGE = 10  # positions
LARGEST_TABLE = 16 * MOST


@dataclass(frozen=True, slots=True, eq=False)
class FairList:
    """A list, and what it does to the groups' accounts."""

    order: IntArray  # [k] rows, best first
    granted: IntArray  # [m] looks given to each group
    violated: int  # certain orders
    within: bool  # every account is within the tolerance after it


def fair_list(
    drawn: IntArray,
    groups: IntArray,
    certain: BoolArray,
    *,
    looks: IntArray,
    ahead: IntArray,
    due: Due,
    tolerance: int,
    rng: np.random.Generator,
    method: Method = "table",
    ties: Ties = "random",
    pages: Sequence[int] = (),
) -> FairList:
    r"""The list with the fewest violated certain orders among those that keep every account within tolerance.

    `drawn` is a list that respects the `certain` orders, `deep_draw`n; `groups[i]`, 0 to $m - 1$, says to
    whom document $i$ belongs. Of the `looks` at the positions, [k], the first $p$ are `due(p)` [m] to the
    groups, which were `ahead` by so much before, [m]:

    $$\max_g \lvert \text{ahead}_g + \text{granted}_g - \text{due}_g \rvert \le \text{tolerance}.$$

    If no list does, the one that comes nearest, and of those the one with the fewest violations. Ties are
    drawn, or with `"least"` decided by how near it comes. All templates are looked at in one `"table"`; for
    two groups and longer lists, by meeting in the middle of `"halves"`; or the list is settled by `"pages"`
    of ten positions, or as many as are given, so that its beginning does not depend on its length.

    >>> certain = np.triu(np.ones((4, 4), dtype=bool), 1)  # all four are in order
    >>> found = fair_list(
    ...     np.arange(4), np.array([0, 0, 1, 1]), certain, looks=np.array([100, 50, 33]),
    ...     ahead=np.array([5, -5]), due=lambda p: np.full(2, 91), tolerance=10, rng=np.random.default_rng(0),
    ... )
    >>> found.order.tolist(), found.granted.tolist(), found.violated, found.within
    ([2, 0, 1], [83, 100], 2, True)

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
    """
    k, m = len(looks), len(ahead)
    pricing = Pricing.start(group_queues(drawn, groups, k, m), certain)
    if method == "halves":
        template, cost = _halves(pricing, looks, ahead - due(k), tolerance, rng, ties)
        order, violated = pricing.filled(template), cost
    else:
        order, violated = _parts_in_turn(
            pricing, looks, ahead, due, tolerance, rng, _parts(k, m, method, pages), ties
        )
    given = np.bincount(groups[order], looks, minlength=m).astype(np.int64)
    within = bool(np.abs(ahead + given - due(k)).max() <= tolerance)
    return FairList(np.array(order), given, violated, within)


def _parts_in_turn(
    pricing: Pricing,
    looks: IntArray,
    ahead: IntArray,
    due: Due,
    tolerance: int,
    rng: np.random.Generator,
    parts: Sequence[int],
    ties: Ties,
) -> tuple[list[int], int]:
    """The documents of a list that is settled part by part, and the certain orders it violates."""
    order: list[int] = []
    violated, standing = 0, ahead.astype(np.float64)
    for length in parts:
        templates, start = all_templates(len(ahead), length), len(order)
        gains = granted(len(ahead), tuple(looks[start : start + length].tolist()))
        off = np.abs(gains + (standing - due(start + length))[:, None]).max(axis=0)
        costs = pricing.costs(templates)
        best = choose(costs, off, tolerance, rng, ties)
        order += pricing.filled(templates.groups[best].tolist())
        violated += int(costs[best])
        standing += gains[:, best]
        if len(order) < len(looks):
            pricing = pricing.after(templates.counts[best].tolist())
    return order, violated


def _parts(k: int, n_groups: int, method: Method, pages: Sequence[int]) -> list[int]:
    """The lengths of the parts that are settled one after the other."""
    if method == "table":
        if n_groups**k > LARGEST_TABLE:
            raise SettingError(
                f"{n_groups} groups at {k} positions make too many templates for one table: "
                "use method='pages'"
            )
        return [k]
    longest = part_length(n_groups)
    lengths = pages or [min(PAGE, k - first) for first in range(0, k, PAGE)]
    return [min(longest, page - first) for page in lengths for first in range(0, page, longest)]


def _halves(
    pricing: Pricing,
    looks: IntArray,
    start: IntArray,
    tolerance: int,
    rng: np.random.Generator,
    ties: Ties,
) -> tuple[list[int], int]:
    if len(start) != 2 or len(looks) < 2 or 2 ** -(-len(looks) // 2) > LARGEST_TABLE:
        raise SettingError(
            f"lists are met in the middle for two groups at 2 to 28 positions, found {len(start)} groups at "
            f"{len(looks)} positions: use method='pages'"
        )
    return meet_in_the_middle(pricing, looks, start, tolerance, rng, ties)
