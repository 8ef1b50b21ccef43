"""Fair exposure in serving: the merge that holds a list to the account, and what a list gives to each group.

All of it is pure: a list that was made under an account is made again from the same account.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.exposure import PAGE, VIEW, AccountRule, merge_fairly, split_page
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.list_seeds import generator
from rankloop.service.core.lists.rank_request import RankRequest
from rankloop.service.extensions.fair.part import FairPart
from rankloop.service.extensions.fair.settings import OTHERS, FairSettings
from rankloop.types import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FairAccount:
    """An exposure account, as a list meets it."""

    settings: FairSettings
    number: int  # the entry with which it began
    ahead: Mapping[str, int]  # what the list is held to, by group; a reload is held to that of the first list
    current: Mapping[str, int]  # the account of now, which is capped

    def for_request(self, request: RankRequest) -> GroupAccounts:
        """Take the groups of a request, in the order in which they come."""
        groups = request.candidates.groups or (OTHERS,) * request.n
        named = {group: self.settings.named(group) for group in dict.fromkeys(groups)}
        names = tuple(dict.fromkeys(named.values()))
        code = {group: names.index(name) for group, name in named.items()}
        codes = list(map(code.__getitem__, groups))
        return GroupAccounts(
            settings=self.settings,
            number=self.number,
            names=names,
            counts=tuple(map(codes.count, range(len(names)))),
            codes=np.array(codes),
            ahead=tuple(self.ahead.get(name, 0) for name in names),
            current=tuple(self.current.get(name, 0) for name in names),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupAccounts:
    """The accounts of the groups of a request."""

    settings: FairSettings
    number: int  # the entry with which the account began
    names: tuple[str, ...]  # [m] groups that have candidates
    counts: tuple[int, ...]  # [m] how many
    codes: IntArray  # [n] the group of each candidate
    ahead: tuple[int, ...]  # [m]
    current: tuple[int, ...]  # [m]

    @property
    def has_several_groups(self) -> bool:
        """Whether there is anything to share: one group gets everything."""
        return len(self.names) > 1

    def due(self, k: int) -> IntArray:
        """The views that each group is due of the first `k` positions, [m]."""
        return self.settings.due(self.names, self.counts, k)

    def rule(self, pins: Mapping[int, int], k: int) -> AccountRule:
        """What a list must keep to at the positions that pins leave free.

        What pins give to their groups is not due any more, and pages are those of the whole list.
        """
        views = self.settings.views_at(k)
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
            tolerance=round(self.settings.tolerance * VIEW),
            pages=[split_page(pages.count(page), len(self.names)) for page in dict.fromkeys(pages)],
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Merge:
    """What became of a list that was drawn when it was held to the account; rows of the free candidates."""

    drawn: list[int]  # as deep as was needed
    order: list[int]  # [room]
    violated: int  # certain orders

    @property
    def swapped_pairs(self) -> int:
        """Pairs that it swapped: a shown result, and one drawn before it that stands below or nowhere."""
        rank, above, found = {row: number for number, row in enumerate(self.drawn)}, list[int](), 0
        for number in map(rank.__getitem__, self.order):
            standing = bisect_left(above, number)  # how many of those drawn before it stand above it
            found += number - standing
            above.insert(standing, number)
        return found


def merge_around_pins(account: GroupAccounts, draft: ListDraft, drawn: list[int]) -> Merge:
    """Merge the list that was drawn of the free candidates so that it is within the account's tolerance.

    Positions are settled by pages of ten, with what the pins there give to their groups. Certain orders are
    kept to as far as can be; without experiments, or where the policy has none, the order drawn is. Pages
    that are within the tolerance as they were drawn stay so.
    """
    inputs = draft.inputs
    explores, asked = inputs.view.configuration.mode == "explore", inputs.asked_free
    certain = asked.certain if explores and asked else None
    found = merge_fairly(
        np.array(drawn),
        account.codes[inputs.free],
        _as_drawn(drawn, len(inputs.free)) if certain is None else certain,
        account.rule(inputs.pins, inputs.k),
        rng=generator(inputs.seed ^ 1),  # apart from what the policy drew, which depends on k
        keep=bool(inputs.pins) or inputs.k > PAGE,  # the only page of other lists was just found not to stay
    )
    return Merge(drawn=drawn, order=found.order.tolist(), violated=found.violated_orders)


def stays_within(account: GroupAccounts, draft: ListDraft) -> bool:
    """Whether a list stays within the account's tolerance as it was drawn, after every page.

    Then merging would keep to it, and nothing has to be drawn deeper. Lists with pins are merged to find out.
    """
    inputs, k = draft.inputs, draft.inputs.room
    if inputs.pins:
        return not k
    tolerance, order = round(account.settings.tolerance * VIEW), draft.rows[:k]
    views, standing = account.settings.views_at(k).tolist(), list(account.ahead)
    for index, (code, view) in enumerate(zip(account.codes[order].tolist(), views, strict=True), start=1):
        standing[code] += view
        if index % PAGE == 0 or index == k:
            due = account.due(index).tolist()
            if max(abs(one - other) for one, other in zip(standing, due, strict=True)) > tolerance:
                return False
    return True


def measure_exposure(draft: ListDraft, account: GroupAccounts, merge: Merge | None) -> FairPart:
    """Measure what a list that was placed gives to each group."""
    k, settings = len(draft.order), account.settings
    due, shown = account.due(k).tolist(), account.codes[draft.order].tolist()
    granted = _granted(shown, settings.views_at(k).tolist(), len(due))
    change = [given - owed for given, owed in zip(granted, due, strict=True)]
    off = max(abs(before + more) for before, more in zip(account.ahead, change, strict=True))
    counted = cap_change(change, account.current, round(settings.cap * VIEW))
    return FairPart(
        account=account.number,
        groups=account.names,
        candidates=account.counts,
        ahead=account.ahead,
        due=tuple(due),
        granted=tuple(granted),
        lapsed=tuple(one - other for one, other in zip(change, counted, strict=True)),
        shown=tuple(shown),
        turned=merge.swapped_pairs if merge else 0,
        violated=merge.violated if merge else 0,
        within=off <= round(settings.tolerance * VIEW) if draft.source == "policy" else None,
        current=() if account.current == account.ahead else account.current,
    )


def find_swapped(draft: ListDraft, merge: Merge | None, rows: IntArray) -> BoolArray:
    """`found[i, j]`: the merge put row `i` above row `j`, which was drawn before it; of these rows."""
    if merge is None:
        return np.zeros((len(rows), len(rows)), dtype=bool)
    drawn, order = _places(draft, merge.drawn, rows), _places(draft, merge.order, rows)
    found: BoolArray = (drawn[:, None] > drawn) & (order[:, None] < order)
    return found


def _places(draft: ListDraft, listed: list[int], rows: IntArray) -> IntArray:
    """Where rows stand among these free candidates; at the end, if they do not."""
    places = np.full(draft.inputs.request.n, draft.inputs.request.n)
    places[draft.inputs.free[listed]] = np.arange(len(listed))
    found: IntArray = places[rows]
    return found


def _granted(shown: Sequence[int], views: Sequence[int], m: int) -> list[int]:
    """The views that positions with these groups give to each, [m]."""
    found = [0] * m
    for code, view in zip(shown, views, strict=True):
        found[code] += view
    return found


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
