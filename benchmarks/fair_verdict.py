"""Verdict on a life with an exposure account: read from its log, slowly, and compared with what was kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np

from rankloop.service import FairSettings
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.extensions.fair.part import FairPart, read_account
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import Impression, SqliteStore

VIEW = 10**6
MOST_LOOKED_AT = 200  # lists that are compared with all there could have been


@dataclass(frozen=True)
class Verdict:
    """What the log says."""

    lists: int  # in the log
    lost: int  # answered, and not in the log: the service was killed before they were written
    identical: int  # made again byte for byte
    by_hand: Mapping[str, int]  # the account, from what the lists showed
    in_store: Mapping[str, int]
    after_restart: Mapping[str, int]  # what the next list would be held to
    after_retention: Mapping[str, int]
    held: int
    outside: int  # lists after which an account was outside of its tolerance, whatever the reason
    last_outside: int  # of the last hundred
    looked_at: int  # of the lists outside, how many were compared with all lists there could have been
    missed: int  # of these, where another list would have been within
    looks: float  # all that were given
    shares: Mapping[str, tuple[float, float]]  # of all looks: due, granted

    @property
    def kept(self) -> bool:
        """Whether everything is as it should be."""
        same = self.by_hand == self.in_store == self.after_restart == self.after_retention
        return same and self.identical == self.lists and sum(self.by_hand.values()) == 0

    def lines(self) -> Iterator[str]:
        """In words."""
        yield f"{self.identical:,} of {self.lists:,} lists in the log were made again byte for byte"
        yield f"{self.lost} lists were answered and not written before the service was killed"
        yield f"account by hand  {dict(self.by_hand)}"
        yield f"in the store     {dict(self.in_store)}"
        yield f"after a restart  {dict(self.after_restart)}"
        yield f"after retention  {dict(self.after_retention)}"
        yield f"{self.outside:,} of {self.held:,} lists left an account outside of its tolerance,"
        yield f"  {self.last_outside} of the last 100; {self.missed} of {self.looked_at} could be inside"
        for group, (due, granted) in self.shares.items():
            yield f"  {group:8} due {due:.4f}  granted {granted:.4f}  of {self.looks:,.0f} looks"
        yield "the account was kept" if self.kept else "the account was NOT kept"


def verdict(path: Path, answered: Collection[str], ranker: str = "default") -> Verdict:
    """Read a log, make every list of it again, and add everything up by hand."""
    with SqliteStore(path) as store:
        service = ServiceFacade(store)
        number = service.ranker(ranker).view.configuration.extension_states.get("fair") or 0
        lists = list(store.read_impressions(ranker))
        fair = [(each, each.parts.get("fair")) for each in lists]
        told = [(each, part) for each, part in fair if part and part.account == number]
        identical = sum(service.replay(each.query_id).identical for each in lists)
        in_store = {each.group: each.ahead for each in read_account(store.read_totals(ranker), number)}
        memory = service.account(ranker)
        outside = [
            _could_be_within(*each, service.settings(ranker)) for each in _unguarded(store, ranker, told)
        ]
        service.retain(ranker, since=lists[-1].at - 1.0)
        retained = ServiceFacade(store).account(ranker)
    there = {each.query_id for each in lists}
    held = [each.within for _, each in told if each.within is not None]
    return Verdict(
        lists=len(lists),
        lost=len(set(answered) - there),
        identical=identical,
        by_hand=_account(told),
        in_store=in_store,
        after_restart=memory,
        after_retention=retained,
        held=len(held),
        outside=held.count(False),
        last_outside=held[-100:].count(False),
        looked_at=len(outside),
        missed=sum(outside),
        looks=sum(sum(each.granted) for _, each in told) / VIEW,
        shares=_shares([each for _, each in told]),
    )


def _unguarded(
    store: SqliteStore, ranker: str, told: list[tuple[Impression, FairPart]]
) -> list[tuple[Impression, FairPart]]:
    """Some lists outside of the tolerance, up to ten long, that no guardrail had changed."""
    guarded = {
        each.seq
        for each in store.read_decisions(ranker, kinds=("settings",))
        if (each.body["settings"].get("guardrails") or {}).get("max_displacement") is not None
    }
    found = [
        (shown, each)
        for shown, each in told
        if each.within is False and len(shown.order) <= 10 and shown.settings not in guarded
    ]
    return found[:: max(len(found) // MOST_LOOKED_AT, 1)]


def _could_be_within(shown: Impression, told: FairPart, rules: BaseRankerSettings) -> bool:
    """Whether any list at all, around the pins, would have left every account within its tolerance."""
    fair = rules.of(FairSettings)
    assert fair is not None
    m, codes = len(told.groups), [told.groups.index(fair.named(name)) for name in shown.groups]
    looks = np.array([round(VIEW / log2(1 + position)) for position in range(1, len(shown.order) + 1)])
    pinned = shown.pinned_at[shown.order] > 0
    standing = np.array(told.ahead) - np.array(told.due)
    np.add.at(standing, np.array(told.shown)[pinned], looks[pinned])
    room = np.bincount(np.array(codes)[shown.pinned_at == 0], minlength=m)
    length = int((~pinned).sum())
    templates = np.arange(m**length)[:, None] // m ** np.arange(length) % m
    taken = [templates == group for group in range(m)]
    fillable = np.all([each.sum(axis=1) <= most for each, most in zip(taken, room, strict=True)], axis=0)
    off = np.max(
        [np.abs(each @ looks[~pinned] + start) for each, start in zip(taken, standing, strict=True)], axis=0
    )
    return bool((off[fillable] <= round(fair.tolerance * VIEW)).any())


def _account(told: list[tuple[Impression, FairPart]]) -> dict[str, int]:
    """What was granted is read off the list itself."""
    found: dict[str, int] = {}
    for shown, each in told:
        granted = dict.fromkeys(each.groups, 0)
        named = [name if name in each.groups else "others" for name in shown.groups]
        for position, row in enumerate(shown.order.tolist(), start=1):
            granted[named[row]] += round(VIEW / log2(1 + position))
        for group, due, lapsed in zip(each.groups, each.due, each.lapsed, strict=True):
            found[group] = found.get(group, 0) + granted[group] - due - lapsed
    return dict(sorted(found.items()))


def _shares(told: list[FairPart]) -> dict[str, tuple[float, float]]:
    sums: dict[str, tuple[int, int]] = {}
    for each in told:
        for group, due, granted in zip(each.groups, each.due, each.granted, strict=True):
            before = sums.get(group, (0, 0))
            sums[group] = before[0] + due, before[1] + granted
    whole = sum(due for due, _ in sums.values())
    return {group: (due / whole, granted / whole) for group, (due, granted) in sorted(sums.items())}
