"""Fair exposure in serving: the merge that holds a list to the account, and what a list gives to each group.

All of it is pure: a list that was made under an account is made again from the same account.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.exposure import PAGE, VIEW, AccountRule, merge_fairly, split_page
from rankloop.service.core.lists.list_seeds import generator
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.core.ranker_settings import Mode
from rankloop.service.extensions.fair.settings import OTHERS, FairSettings
from rankloop.service.store import Exposure
from rankloop.types import BoolArray, IntArray

HELD: tuple[Mode, ...] = ("explore", "exploit", "frozen")  # others show the caller's order, and are counted


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Account:
    """An exposure account, and the groups of a request that it is about."""

    fair: FairSettings
    number: int  # the entry with which it began
    names: tuple[str, ...]  # [m] groups that have candidates
    counts: tuple[int, ...]  # [m] how many
    codes: IntArray  # [n] the group of each candidate
    ahead: tuple[int, ...]  # [m]

    @property
    def binds(self) -> bool:
        """Whether there is anything to share: one group gets everything."""
        return len(self.names) > 1

    @property
    def pressed(self) -> bool:
        """Whether it is within a view of its tolerance: then the next list is likely to be merged."""
        return self.binds and max(map(abs, self.ahead)) + VIEW > self.fair.tolerance * VIEW

    def due(self, k: int) -> IntArray:
        """The views that each group is due of the first `k` positions, [m]."""
        return self.fair.due(self.names, self.counts, k)

    def rule(self, pins: Mapping[int, int], k: int) -> AccountRule:
        """What a list must keep to at the positions that pins leave free.

        What pins give to their groups is not due any more, and pages are those of the whole list.
        """
        views = self.fair.views_at(k)
        slots = [position - 1 for position in range(1, k + 1) if position not in pins]
        pinned = {position - 1: self.codes[row] for position, row in pins.items() if position <= k}
        pages = [slot // PAGE for slot in slots]

        def due(p: int) -> IntArray:
            page = PAGE * (slots[p - 1] // PAGE + 1)  # with the pins up to the next free position of it
            end = min(slots[p] if p < len(slots) else k, page)
            found = self.due(end).copy()
            for index, code in pinned.items():
                found[code] -= views[index] if index < end else 0
            return found

        return AccountRule(
            views=views[slots],
            ahead=np.array(self.ahead),
            due=due if pinned else self.due,
            tolerance=round(self.fair.tolerance * VIEW),
            pages=[split_page(pages.count(page), len(self.names)) for page in dict.fromkeys(pages)],
        )


def account_of(request: RankRequest, fair: FairSettings, number: int, ahead: Mapping[str, int]) -> Account:
    """The account as of a request: its groups, in the order in which they come."""
    groups = request.candidates.groups or (OTHERS,) * request.n
    named = {group: fair.named(group) for group in dict.fromkeys(groups)}
    names = tuple(dict.fromkeys(named.values()))
    code = {group: names.index(name) for group, name in named.items()}
    codes = list(map(code.__getitem__, groups))
    return Account(
        fair=fair,
        number=number,
        names=names,
        counts=tuple(map(codes.count, range(len(names)))),
        codes=np.array(codes),
        ahead=tuple(ahead.get(name, 0) for name in names),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Merge:
    """What became of a list that was drawn when it was held to the account; rows of the free candidates."""

    drawn: list[int]  # as deep as was needed
    order: list[int]  # [room]
    violated: int  # certain orders

    @property
    def turned(self) -> int:
        """Pairs that it turned: a shown result, and one drawn before it that stands below or nowhere."""
        rank, above, found = {row: number for number, row in enumerate(self.drawn)}, list[int](), 0
        for number in map(rank.__getitem__, self.order):
            standing = bisect_left(above, number)  # how many of those drawn before it stand above it
            found += number - standing
            above.insert(standing, number)
        return found


def merged(
    account: Account,
    drawn: list[int],
    certain: BoolArray | None,
    *,
    free: IntArray,
    pins: Mapping[int, int],
    k: int,
    seed: int,
    keep: bool = True,
) -> Merge:
    """The list that was drawn of the `free` candidates, merged so that it is within the account's tolerance.

    Positions are settled by pages of ten, with what the pins there give to their groups; `certain` orders are
    among the free candidates, and without any the order drawn is. With `keep`, pages that are within the
    tolerance as they were drawn stay so.
    """
    found = merge_fairly(
        np.array(drawn),
        account.codes[free] if pins else account.codes,
        _as_drawn(drawn, len(free)) if certain is None else certain,
        account.rule(pins, k),
        rng=generator(seed ^ 1),  # apart from what the policy drew, which depends on k
        keep=keep,
    )
    return Merge(drawn=drawn, order=found.order.tolist(), violated=found.violated_orders)


def stays_within(account: Account, order: list[int]) -> bool:
    """Whether a list without pins is within the account's tolerance as it was drawn, after every page.

    Then `merged` would keep to it, and nothing has to be drawn deeper.
    """
    k, tolerance = len(order), round(account.fair.tolerance * VIEW)
    views, standing = account.fair.views_at(k).tolist(), list(account.ahead)
    for index, (code, view) in enumerate(zip(account.codes[order].tolist(), views, strict=True), start=1):
        standing[code] += view
        if index % PAGE == 0 or index == k:
            due = account.due(index).tolist()
            if max(abs(one - other) for one, other in zip(standing, due, strict=True)) > tolerance:
                return False
    return True


def exposed(
    account: Account,
    order: IntArray,
    merge: Merge | None,
    free: IntArray,
    *,
    standing: Mapping[str, int],
    held: bool,
    guarded: bool,
) -> Exposure:
    """What a list gives to each group, as the log keeps it.

    `free` are the rows that the merge is about; if the list is `guarded`, it may have been changed after it.
    `standing` is the account of now, from which things lapse; a reload is held to an earlier one.
    """
    due, shown = account.due(len(order)).tolist(), account.codes[order].tolist()
    views = account.fair.views_at(len(order)).tolist()
    granted = _granted(shown, views, len(due))
    change = [given - owed for given, owed in zip(granted, due, strict=True)]
    off = max(abs(before + more) for before, more in zip(account.ahead, change, strict=True))
    most = round(account.fair.most * VIEW)
    counted = cap_change(change, [standing.get(name, 0) for name in account.names], most)
    return Exposure(
        account=account.number,
        groups=account.names,
        candidates=account.counts,
        ahead=account.ahead,
        due=tuple(due),
        granted=tuple(granted),
        lapsed=tuple(one - other for one, other in zip(change, counted, strict=True)),
        shown=tuple(shown),
        turned=merge.turned if merge else 0,
        violated=merge.violated if merge else 0,
        undone=_undone(account, order, merge, free, granted) if merge and guarded else 0,
        within=off <= round(account.fair.tolerance * VIEW) if held else None,
    )


def _granted(shown: Sequence[int], views: Sequence[int], m: int) -> list[int]:
    """The views that positions with these groups give to each, [m]."""
    found = [0] * m
    for code, view in zip(shown, views, strict=True):
        found[code] += view
    return found


def _undone(account: Account, order: IntArray, merge: Merge, free: IntArray, granted: list[int]) -> int:
    """The views that another group got than the merge had given them to, because of guardrails."""
    fair = order.copy()
    fair[np.isin(order, free)] = free[merge.order]
    if fair.tolist() == order.tolist():
        return 0
    views = account.fair.views_at(len(order)).tolist()
    before = _granted(account.codes[fair].tolist(), views, len(granted))
    return sum(abs(one - other) for one, other in zip(before, granted, strict=True)) // 2


def cap_change(change: Sequence[int], ahead: Sequence[int], most: int) -> list[int]:
    """As much of a change as leaves every account within `most`, or no farther out; it adds up to 0.

    What one group does not gain, another does not lose: the rest of the change lapses on both sides.

    >>> cap_change([5, -5], [48, -48], 50), cap_change([5, -3, -2], [60, -30, -30], 50)
    ([2, -2], [0, 0, 0])
    """
    room = [
        min(max(more, 0), max(most - before, 0)) - min(max(-more, 0), max(most + before, 0))
        for more, before in zip(change, ahead, strict=True)
    ]
    if room == list(change):
        return room
    gains, losses = sum(each for each in room if each > 0), -sum(each for each in room if each < 0)
    total = min(gains, losses)
    parts = _scaled([max(each, 0) for each in room], total), _scaled([max(-each, 0) for each in room], total)
    return [gain - loss for gain, loss in zip(*parts, strict=True)]


def _scaled(parts: list[int], total: int) -> list[int]:
    """Whole numbers in proportion to the parts, none above its part, that add up to the total."""
    whole = sum(parts)
    if whole == total:
        return parts
    found = [part * total // whole for part in parts]
    for index, part in enumerate(parts):
        if sum(found) == total:
            break
        found[index] += found[index] < part
    return found


def _as_drawn(drawn: list[int], n: int) -> BoolArray:
    """Every order of a list as a certain one; what was not drawn comes after it."""
    ranks = np.full(n, n)
    ranks[drawn] = np.arange(len(drawn))
    certain: BoolArray = ranks[:, None] < ranks
    return certain
