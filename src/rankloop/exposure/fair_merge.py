r"""Merge of queues: the list nearest to the drawn one that keeps every group's account within a tolerance.

A certain order $(i, j)$ is violated when $j$ is shown and $i$ stands below it or is not shown at all. Each
group's documents stay in the order drawn, so a list is a *template*: which group stands where.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from rankloop.errors import RankingError, SettingError
from rankloop.exposure.deep_draw import split_by_group
from rankloop.exposure.group_templates import MOST, all_templates, longest_part, template_views
from rankloop.exposure.template_costs import TemplateCosts
from rankloop.types import BOOLEAN, BoolArray, FloatArray, IntArray

Ties: TypeAlias = Literal["random", "least"]

PAGE = 10  # positions
LARGEST_TABLE = 16 * MOST  # templates of one part, where whole lists are compared


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AccountRule:
    """What a list must keep to, in millionths of a view.

    The `pages` are settled one after the other, so that the beginning of a list does not depend on its
    length; each is given by the lengths of its parts, and all templates of a part are compared at once.
    `split_into_pages` makes pages of ten.
    """

    views: IntArray  # [k] of the positions
    ahead: IntArray  # [m] what each group received beyond its due before this list
    due: Callable[[int], IntArray]  # [m] what is due to each for the first p positions
    tolerance: int
    pages: Sequence[Sequence[int]]  # lengths of the parts of each page; [[k]]: the best of all templates

    def __post_init__(self) -> None:
        """Refuse pages that are not those of the list, and parts with too many templates to compare."""
        lengths = [operator.index(length) for parts in self.pages for length in parts]
        if min(lengths, default=1) < 1 or sum(lengths) != len(self.views) or not len(self.ahead):
            raise RankingError(
                f"the parts of all pages fill {len(self.views)} positions, for one group or more, "
                f"found pages={self.pages} for {len(self.ahead)} groups"
            )
        if not 0 <= self.tolerance < np.inf:
            raise SettingError(f"tolerance must be a number of 0 or more, found {self.tolerance!r}")
        longest = max(lengths, default=0)
        if longest > 1 and len(self.ahead) ** longest > LARGEST_TABLE:
            raise SettingError(
                f"{len(self.ahead)} groups at {longest} positions make too many templates for one part: "
                f"use pages=split_into_pages({len(self.views)}, {len(self.ahead)})"
            )

    def off(self, received: IntArray | FloatArray, p: int) -> float:
        """How far the worst account is off after `p` positions that gave so much to each group."""
        off: list[float] = np.abs(self.ahead + received - self.due(p)).tolist()
        return max(off)


@dataclass(frozen=True, slots=True, eq=False)
class FairList:
    """A list, and what it does to the groups' accounts."""

    order: IntArray  # [k] rows, best first
    received: IntArray  # [m] views given to each group
    violated_orders: int  # certain ones
    is_within_tolerance: bool  # every account, after it


def split_into_pages(k: int, n_groups: int) -> list[list[int]]:
    """Cut a list into pages of ten positions, and each page into parts.

    >>> split_into_pages(13, 2), split_into_pages(10, 5)
    ([[10], [3]], [[4, 4, 2]])
    """
    if k < 0 or n_groups < 1:
        raise RankingError(f"a list has 0 positions or more, and one group or more, found {k} and {n_groups}")
    return [split_page(min(PAGE, k - first), n_groups) for first in range(0, k, PAGE)]


def split_page(length: int, n_groups: int) -> list[int]:
    """Cut a page into parts that can be filled in every possible way."""
    longest = longest_part(n_groups)
    return [min(longest, length - first) for first in range(0, length, longest)]


def merge_fairly(
    drawn: IntArray,
    groups: IntArray,
    certain: BoolArray,
    rule: AccountRule,
    *,
    rng: np.random.Generator,
    ties: Ties = "random",
    keep: bool = False,
) -> FairList:
    r"""Make the list that violates the fewest certain orders among those that keep to the rule.

    `drawn` is a list that respects the `certain` orders, drawn by `draw_deep`; `groups[i]`, 0 to $m - 1$,
    says to whom document $i$ belongs. The rule is kept if, after every page,

    $$\max_g \lvert \text{ahead}_g + \text{received}_g - \text{due}_g \rvert \le \text{tolerance}.$$

    If no list keeps it, the one that comes nearest, and of those the one with the fewest violations. Ties are
    drawn, or with `"least"` decided by how near the list comes. With `keep`, a page that is within the
    tolerance as it was drawn stays so, and no other is tried.

    >>> certain = np.triu(np.ones((4, 4), dtype=bool), 1)  # all four are in order
    >>> rule = AccountRule(
    ...     views=np.array([100, 50, 33]), ahead=np.array([5, -5]), due=lambda p: np.full(2, 91),
    ...     tolerance=10, pages=[[3]],
    ... )
    >>> groups, rng = np.array([0, 0, 1, 1]), np.random.default_rng(0)
    >>> found = merge_fairly(np.arange(4), groups, certain, rule, rng=rng)
    >>> found.order.tolist(), found.received.tolist(), found.violated_orders, found.is_within_tolerance
    ([2, 0, 1], [83, 100], 2, True)

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022.
    """
    k, m = len(rule.views), len(rule.ahead)
    _check_candidates(drawn, groups, certain, k, m)
    if ties not in get_args(Ties):
        raise SettingError(f"ties must be {' or '.join(get_args(Ties))}, found {ties!r}")
    merge = _Merge(rule, groups, drawn if keep else None, ties, rng)
    found = Beginning(TemplateCosts.start(split_by_group(drawn, groups, k, m), certain), [], 0, np.zeros(m))
    for parts in rule.pages:
        found = merge.settle_page(found, parts)
    is_within = bool(rule.off(found.received, k) <= rule.tolerance)
    return FairList(np.array(found.order), found.received.astype(np.int64), found.violated_orders, is_within)


def _check_candidates(drawn: IntArray, groups: IntArray, certain: BoolArray, k: int, m: int) -> None:
    n, are_rows = len(groups), drawn.dtype.kind in "iu"
    rows = sorted(set(drawn.tolist())) if are_rows else []
    if certain.shape != (n, n) or certain.dtype != BOOLEAN or not set(groups.tolist()).issubset(range(m)):
        raise RankingError(
            f"every candidate needs a group from 0 to {m - 1}, and every two say whether their order is "
            f"certain, found groups {groups} and certain orders of {certain.dtype} and shape {certain.shape}"
        )
    if not are_rows or not k <= len(rows) == len(drawn) or (rows and not 0 <= rows[0] <= rows[-1] < n):
        raise RankingError(
            f"a list of {k} needs as many different candidates drawn, of 0 to {n - 1}, found {drawn}"
        )


def choose_template(
    costs: FloatArray, off: FloatArray, tolerance: float, rng: np.random.Generator, ties: Ties
) -> int:
    """Choose the number of a template, by what each costs, [t], and how far off it leaves the accounts, [t].

    One that cannot be filled costs infinitely much.

    >>> costs, off = np.array([3.0, 1.0, 0.0]), np.array([2.0, 4.0, 9.0])
    >>> [choose_template(costs, off, most, np.random.default_rng(0), "random") for most in (1, 5, 10)]
    [0, 1, 2]
    """
    if not costs.size or costs.shape != off.shape:
        raise RankingError(f"a template is chosen among some, each with a cost, found {costs} and {off}")
    fits = np.where(off <= tolerance, costs, np.inf)
    least = fits.min()
    if least < np.inf:
        best = (fits == least).nonzero()[0]
        if ties == "least":
            best = best[off[best] == off[best].min()]
    else:
        distance = np.where(costs < np.inf, off, np.inf)
        best = (distance == distance.min()).nonzero()[0]
        best = best[costs[best] == costs[best].min()]
    return int(best[int(rng.random() * len(best))])


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """The beginning of a list: what stands there, and what the rest can be filled with."""

    rest: TemplateCosts
    order: list[int]
    violated_orders: int
    received: FloatArray  # [m] whole numbers

    def extend(
        self, rest: TemplateCosts, rows: list[int], cost: float, received: FloatArray | IntArray
    ) -> Beginning:
        """Put some more documents below those that stand there."""
        return Beginning(rest, self.order + rows, self.violated_orders + int(cost), self.received + received)


@dataclass(frozen=True, slots=True, eq=False)
class _Merge:
    """One list, settled page by page."""

    rule: AccountRule
    groups: IntArray  # [n]
    drawn: IntArray | None  # to be kept to where that is within the tolerance
    ties: Ties
    rng: np.random.Generator

    def settle_page(self, begun: Beginning, parts: Sequence[int]) -> Beginning:
        """Settle one more page, part by part.

        The first part of several may leave too little to the others: a page that ends outside of the
        tolerance is settled again, each part as near as can be, and the nearer page is taken.
        """
        tolerance = self.rule.tolerance
        if self.drawn is not None:
            kept = self._keep_page(begun, self.drawn, sum(parts))
            if self._off(kept) <= tolerance:
                return kept
        found = self._settle_parts(begun, parts, tolerance)
        if len(parts) > 1 and self._off(found) > tolerance:
            found = min(found, self._settle_parts(begun, parts, 0), key=self._off)
        return found

    def _keep_page(self, begun: Beginning, drawn: IntArray, length: int) -> Beginning:
        """One more page in the order drawn: it violates nothing that is not violated already."""
        there, m, start = set(begun.order), len(begun.received), len(begun.order)
        rows = [row for row in drawn.tolist() if row not in there][:length]
        theirs, views = self.groups[rows], self.rule.views[start : start + length]
        rest = self._rest(begun, start + length, np.bincount(theirs, minlength=m))
        return begun.extend(rest, rows, 0, np.bincount(theirs, views, minlength=m))

    def _settle_parts(self, begun: Beginning, parts: Sequence[int], tolerance: int) -> Beginning:
        for length in parts:
            settle = self._settle_position if length == 1 else self._settle_part
            begun = settle(begun, len(begun.order) + length, tolerance)
        return begun

    def _settle_part(self, begun: Beginning, end: int, tolerance: int) -> Beginning:
        """Compare all ways to fill the positions up to `end`."""
        m, start = len(begun.received), len(begun.order)
        templates = all_templates(m, end - start)
        views = template_views(m, tuple(self.rule.views[start:end].tolist()))
        standing = self.rule.ahead + begun.received - self.rule.due(end)
        off, costs = np.abs(views + standing[:, None]).max(axis=0), begun.rest.compute(templates)
        best = choose_template(costs, off, tolerance, self.rng, self.ties)
        rows = begun.rest.fill(templates.groups[best].tolist())
        return begun.extend(self._rest(begun, end, templates.counts[best]), rows, costs[best], views[:, best])

    def _settle_position(self, begun: Beginning, end: int, tolerance: int) -> Beginning:
        """Settle the next position alone, by who stands best there: no table, however many groups."""
        view, standing = self.rule.views[end - 1], self.rule.ahead + begun.received - self.rule.due(end)
        far = np.abs(standing)
        others = np.where(far.argmax() == np.arange(len(far)), np.sort(far)[-2:][0], far.max())
        others = others if len(far) > 1 else np.zeros(1)
        costs = begun.rest.compute_next()
        best = choose_template(
            costs, np.maximum(np.abs(standing + view), others), tolerance, self.rng, self.ties
        )
        taken = (np.arange(len(far)) == best).astype(np.int64)
        row = int(begun.rest.queues[best][0])
        return begun.extend(self._rest(begun, end, taken), [row], costs[best], view * taken)

    def _rest(self, begun: Beginning, end: int, counts: IntArray) -> TemplateCosts:
        """Cost what comes after so many of each group; nobody asks at the end of the list."""
        return begun.rest.after(counts.tolist()) if end < len(self.rule.views) else begun.rest

    def _off(self, found: Beginning) -> float:
        return self.rule.off(found.received, len(found.order))
