"""Fair exposure in serving: the merge that holds a list to the account, and what a list gives to each group.

All of it is pure: a list that was made under an account is made again from the same account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankloop.explorers.fair import LOOK, fair_list
from rankloop.service.fair import OTHERS, PAGE, FairSettings
from rankloop.service.serving.request import RankRequest
from rankloop.service.serving.seeds import generator
from rankloop.service.settings import Mode
from rankloop.store import Exposure
from rankloop.types import BoolArray, IntArray

HELD: tuple[Mode, ...] = ("explore", "exploit", "frozen")  # others show the caller's order, and are counted


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Account:
    """An exposure account, and the groups of a request that it is about."""

    fair: FairSettings
    number: int  # the entry with which it began
    names: tuple[str, ...]  # [m] groups that have candidates
    counts: tuple[int, ...]  # [m] how many
    codes: list[int]  # [n] the group of each candidate
    ahead: tuple[int, ...]  # [m]

    @property
    def binds(self) -> bool:
        """Whether there is anything to share: one group gets everything."""
        return len(self.names) > 1

    def due(self, k: int) -> IntArray:
        """The looks that each group is due of the first `k` positions, [m]."""
        return self.fair.due(self.names, self.counts, k)

    def granted(self, order: Sequence[int], looks: Sequence[int]) -> list[int]:
        """The looks that a list gives to each group, [m]."""
        found = [0] * len(self.names)
        for row, look in zip(order, looks, strict=False):
            found[self.codes[row]] += look
        return found


def account_of(request: RankRequest, fair: FairSettings, number: int, ahead: Mapping[str, int]) -> Account:
    """The account as of a request: its groups, in the order in which they come."""
    numbers: dict[str, int] = {}
    named, groups = fair.named, request.candidates.groups or [OTHERS] * request.n
    codes = [numbers.setdefault(named(group), len(numbers)) for group in groups]
    return Account(
        fair=fair,
        number=number,
        names=tuple(numbers),
        counts=tuple(map(codes.count, range(len(numbers)))),
        codes=codes,
        ahead=tuple(ahead.get(name, 0) for name in numbers),
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
        rank = {row: number for number, row in enumerate(self.drawn)}
        ranks = np.array([rank[row] for row in self.order])
        return int(ranks.sum() - np.tril(ranks[:, None] > ranks).sum())


def merged(
    account: Account,
    drawn: Sequence[int],
    certain: BoolArray | None,
    *,
    free: IntArray,
    pins: Mapping[int, int],
    k: int,
    seed: int,
) -> Merge:
    """The list that was drawn of the `free` candidates, merged so that it is within the account's tolerance.

    Positions are settled by pages of ten, with what the pins there give to their groups; `certain` orders are
    among the free candidates, and without any the order drawn is.
    """
    looks = account.fair.position_looks(k)
    slots = [position - 1 for position in range(1, k + 1) if position not in pins]
    pinned = {position - 1: account.codes[row] for position, row in pins.items() if position <= k}

    def due(p: int) -> IntArray:
        """For so many free positions, and the pinned ones among them; pins have taken their part."""
        end = slots[p] if p < len(slots) else k
        found = account.due(end).copy()
        for index, code in pinned.items():
            if index < end:
                found[code] -= looks[index]
        return found

    found = fair_list(
        np.asarray(drawn),
        np.array(account.codes)[free],
        _as_drawn(drawn, len(free)) if certain is None else certain,
        looks=looks[slots],
        ahead=np.array(account.ahead),
        due=due,
        tolerance=round(account.fair.tolerance * LOOK),
        rng=generator(seed ^ 1),  # apart from what the policy drew, which depends on k
        method="pages",
        pages=_pages(slots),
    )
    return Merge(drawn=list(drawn), order=found.order.tolist(), violated=found.violated)


def exposed(account: Account, order: Sequence[int], merge: Merge | None, *, held: bool) -> Exposure:
    """What a list gives to each group, as the log keeps it."""
    k = len(order)
    granted, due = account.granted(order, account.fair.position_looks(k).tolist()), account.due(k).tolist()
    most, tolerance = round(account.fair.most * LOOK), round(account.fair.tolerance * LOOK)
    change = [given - owed for given, owed in zip(granted, due, strict=True)]
    counted = limited(change, account.ahead, most)
    after = (abs(before + more) for before, more in zip(account.ahead, change, strict=True))
    return Exposure(
        account=account.number,
        groups=account.names,
        candidates=account.counts,
        ahead=account.ahead,
        due=tuple(due),
        granted=tuple(granted),
        lapsed=tuple(one - other for one, other in zip(change, counted, strict=True)),
        shown=tuple(account.codes[row] for row in order),
        turned=merge.turned if merge else 0,
        violated=merge.violated if merge else 0,
        within=max(after) <= tolerance if held else None,
    )


def limited(change: Sequence[int], ahead: Sequence[int], most: int) -> list[int]:
    """As much of a change as leaves every account within `most`, or no farther out; it adds up to 0.

    What one group does not gain, another does not lose: the rest of the change lapses on both sides.

    >>> limited([5, -5], [48, -48], 50), limited([5, -3, -2], [60, -30, -30], 50)
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


def _pages(slots: Sequence[int]) -> list[int]:
    """How many free positions each page of ten has."""
    pages = [slot // PAGE for slot in slots]
    return [pages.count(page) for page in dict.fromkeys(pages)]


def _as_drawn(drawn: Sequence[int], n: int) -> BoolArray:
    """Every order of a list as a certain one; what was not drawn comes after it."""
    ranks = np.full(n, n)
    ranks[list(drawn)] = np.arange(len(drawn))
    certain: BoolArray = ranks[:, None] < ranks
    return certain
