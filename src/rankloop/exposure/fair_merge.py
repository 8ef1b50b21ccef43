r"""Merge of queues: the list nearest to the drawn one that keeps every group's account within a tolerance.

A certain order $(i, j)$ is violated when $j$ is shown and $i$ stands below it or is not shown at all. Each
group's documents stay in the order drawn, so a list is a *template*: which group stands where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.exposure.deep_draw import group_queues
from rankloop.exposure.group_templates import MOST, all_templates, granted, part_length
from rankloop.exposure.halves import meet_in_the_middle
from rankloop.exposure.template_choice import Ties, choose
from rankloop.exposure.template_costs import Pricing
from rankloop.types import BoolArray, FloatArray, IntArray

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
    keep: bool = False,
) -> FairList:
    r"""The list with the fewest violated certain orders among those that keep every account within tolerance.

    `drawn` is a list that respects the `certain` orders, `deep_draw`n; `groups[i]`, 0 to $m - 1$, says to
    whom document $i$ belongs. Of the `looks` at the positions, [k], the first $p$ are `due(p)` [m] to the
    groups, which were `ahead` by so much before, [m]:

    $$\max_g \lvert \text{ahead}_g + \text{granted}_g - \text{due}_g \rvert \le \text{tolerance}.$$

    If no list does, the one that comes nearest, and of those the one with the fewest violations. Ties are
    drawn, or with `"least"` decided by how near it comes. All templates are looked at in one `"table"`; for
    two groups and longer lists, by meeting in the middle of `"halves"`; or the list is settled by `"pages"`
    of ten positions, or as many as are given, so that its beginning does not depend on its length. With
    `keep`, a page that is within the tolerance as it was drawn stays so, and no other is tried.

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
        task = _Task(looks, due, rng, ties, drawn if keep else None, groups)
        found = Settled(pricing, [], 0, ahead.astype(np.float64))
        for parts in _pages(k, m, method, pages):
            found = task.page(found, parts, tolerance)
        order, violated = found.order, found.violated
    given = np.bincount(groups[order], looks, minlength=m).astype(np.int64)
    within = bool(np.abs(ahead + given - due(k)).max() <= tolerance)
    return FairList(np.array(order), given, violated, within)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """The beginning of a list: what stands there, what it violates, and what the rest can be filled with."""

    pricing: Pricing
    order: list[int]
    violated: int
    standing: FloatArray  # [m] the accounts with what was granted so far


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What a list is made for."""

    looks: IntArray  # [k]
    due: Due
    rng: np.random.Generator
    ties: Ties
    drawn: IntArray | None  # to be kept to where that is within the tolerance
    groups: IntArray  # [n]

    def page(self, begun: Settled, parts: Sequence[int], tolerance: int) -> Settled:
        """One more page, part by part.

        The first part of several may leave too little to the others: a page that ends outside of the
        tolerance is settled again, each part as near as can be, and the nearer page is taken.
        """
        if self.drawn is not None:
            kept = self._as_drawn(begun, sum(parts))
            if self._off(kept) <= tolerance:
                return kept
        found = self._in_turn(begun, parts, tolerance)
        if len(parts) > 1 and self._off(found) > tolerance:
            found = min(found, self._in_turn(begun, parts, 0), key=self._off)
        return found

    def _as_drawn(self, begun: Settled, length: int) -> Settled:
        """One more page in the order drawn: it violates nothing that is not violated already."""
        assert self.drawn is not None
        there, m, start = set(begun.order), len(begun.standing), len(begun.order)
        rows = [row for row in self.drawn.tolist() if row not in there][:length]
        theirs, looks = self.groups[rows], self.looks[start : start + length]
        rest = self._rest(begun.pricing, start + length, np.bincount(theirs, minlength=m))
        given = np.bincount(theirs, looks, minlength=m)
        return Settled(rest, begun.order + rows, begun.violated, begun.standing + given)

    def _in_turn(self, begun: Settled, parts: Sequence[int], tolerance: int) -> Settled:
        for length in parts:
            begun = self._part(begun, length, tolerance)
        return begun

    def _part(self, begun: Settled, length: int, tolerance: int) -> Settled:
        """All ways to fill the next positions, and the best of them."""
        if length == 1:
            return self._position(begun, tolerance)
        m, start = len(begun.standing), len(begun.order)
        templates, end = all_templates(m, length), start + length
        gains = granted(m, tuple(self.looks[start:end].tolist()))
        off = np.abs(gains + (begun.standing - self.due(end))[:, None]).max(axis=0)
        costs = begun.pricing.costs(templates)
        best = choose(costs, off, tolerance, self.rng, self.ties)
        rows = begun.pricing.filled(templates.groups[best].tolist())
        rest = self._rest(begun.pricing, end, templates.counts[best])
        violated = begun.violated + int(costs[best])
        return Settled(rest, begun.order + rows, violated, begun.standing + gains[:, best])

    def _position(self, begun: Settled, tolerance: int) -> Settled:
        """The next position alone, for whom it is best to stand there: no table, however many groups."""
        end = len(begun.order) + 1
        look, off = self.looks[end - 1], begun.standing - self.due(end)
        far = np.abs(off)
        others = np.where(far.argmax() == np.arange(len(far)), np.sort(far)[-2:][0], far.max())
        others = others if len(far) > 1 else np.zeros(1)
        costs = begun.pricing.heads()
        best = choose(costs, np.maximum(np.abs(off + look), others), tolerance, self.rng, self.ties)
        taken = np.arange(len(far)) == best
        rest = self._rest(begun.pricing, end, taken.astype(np.int64))
        row = int(begun.pricing.queues[best][0])
        return Settled(
            rest, [*begun.order, row], begun.violated + int(costs[best]), begun.standing + look * taken
        )

    def _rest(self, pricing: Pricing, end: int, counts: IntArray) -> Pricing:
        """What comes after so many of each group; nobody asks at the end of the list."""
        return pricing.after(counts.tolist()) if end < len(self.looks) else pricing

    def _off(self, found: Settled) -> float:
        """How far the accounts are off after a beginning."""
        return float(np.abs(found.standing - self.due(len(found.order))).max())


def _pages(k: int, n_groups: int, method: Method, pages: Sequence[int]) -> list[list[int]]:
    """The lengths of the parts that are settled one after the other, page by page."""
    if method == "table":
        if n_groups**k > LARGEST_TABLE:
            raise SettingError(
                f"{n_groups} groups at {k} positions make too many templates for one table: "
                "use method='pages'"
            )
        return [[k]]
    longest = part_length(n_groups)
    lengths = pages or [min(PAGE, k - first) for first in range(0, k, PAGE)]
    return [[min(longest, page - first) for first in range(0, page, longest)] for page in lengths]


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
