"""Part of fair exposure: what a list gives to each group, and the account it was made with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from rankloop.service.store import PartTotal, PartType


class FairPart(msgspec.Struct, frozen=True, kw_only=True, array_like=True, tag=1):
    """What a list gave to each group, what was due to it, and the account it was made with.

    In whole millionths of a look at the first position. Afterwards a group's account is `ahead + granted -
    due - lapsed`: what would be beyond the most that an account may be lapses.
    """

    account: int  # the entry with which the account began
    groups: tuple[str, ...]  # [m] that have candidates
    candidates: tuple[int, ...]  # [m] how many
    ahead: tuple[int, ...]  # [m] the account with which the list was made
    due: tuple[int, ...]  # [m]
    granted: tuple[int, ...]  # [m]
    lapsed: tuple[int, ...]  # [m]
    shown: tuple[int, ...]  # [k] whose result stands at each position, as an index of groups
    turned: int = 0  # pairs that stand the other way round than they were drawn
    violated: int = 0  # certain orders that were violated
    within: bool | None = None  # every account was to be within its tolerance; None: only counted
    current: tuple[int, ...] = ()  # [m] the account of the moment, from which things lapse; empty: as `ahead`


class GroupTotal(msgspec.Struct, frozen=True, kw_only=True):
    """A group's part of an account: sums over the log, in whole millionths of a look, exact in any order."""

    account: int  # the entry with which the account began
    group: str
    lists: int = 0  # in which it had candidates
    candidates: int = 0
    granted: int = 0
    due: int = 0
    lapsed: int = 0

    @property
    def ahead(self) -> int:
        """By how much it got more than was due to it; less, if negative."""
        return self.granted - self.due - self.lapsed


def fair_totals(part: FairPart) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    """Yield what a list adds to the account of each of its groups."""
    sums = zip(part.candidates, part.granted, part.due, part.lapsed, strict=True)
    for group, amounts in zip(part.groups, sums, strict=True):
        yield part.account, group, (1, *amounts)


def read_account(totals: Iterable[PartTotal], account: int | None) -> list[GroupTotal]:
    """Return the totals of an account, by group."""
    names = ("lists", "candidates", "granted", "due", "lapsed")
    return [
        GroupTotal(account=each.account, group=each.name, **dict(zip(names, each.amounts, strict=True)))
        for each in totals
        if (each.extension, each.account) == (PART.extension, account)
    ]


PART = PartType("fair", FairPart, fair_totals)
