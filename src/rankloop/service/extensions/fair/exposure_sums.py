"""Sums of exposure over lists: what each group got, what was due to it, and what users made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from rankloop.service.extensions.fair.part import FairPart
from rankloop.service.store import ImpressionHead, Store

FairList: TypeAlias = tuple[ImpressionHead, FairPart, set[int]]  # and the positions with a counted event


@dataclass(slots=True, kw_only=True)
class GroupTally:
    """A group's exposure over some lists."""

    group: str
    lists: int = 0  # in which it had candidates
    candidates: int = 0
    results: int = 0  # shown
    granted: int = 0
    due: int = 0
    lapsed: int = 0
    clicks: int = 0  # results with a counted event


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureTally:
    """Exposure over some lists."""

    start: float = 0.0
    lists: int = 0  # whose exposure was counted
    held: int = 0  # of them, how many were held to the account
    outside: int = 0  # of these, after how many an account was outside of its tolerance
    turned: int = 0  # pairs that stood the other way round than they were drawn
    groups: Sequence[GroupTally] = ()  # by name


def read_fair_lists(store: Store, ranker: str, *, since: float, until: float) -> Iterable[FairList]:
    """Read the lists of a stretch of time whose exposure was counted, in order."""
    first, past = store.find_moment(since), store.find_moment(until)
    return store.read_parts("fair", ranker, after=first - 1, until=past - 1)


def sum_exposure(lists: Iterable[FairList], *, start: float) -> ExposureTally:
    """Sum the exposure of lists."""
    groups: dict[str, GroupTally] = {}
    counts = {"lists": 0, "held": 0, "outside": 0, "turned": 0}
    for _, part, clicked in lists:
        counts["lists"] += 1
        counts["held"] += part.within is not None
        counts["outside"] += part.within is False
        counts["turned"] += part.turned
        _add(groups, part, clicked)
    return ExposureTally(start=start, groups=[groups[name] for name in sorted(groups)], **counts)


def sum_exposure_in_parts(lists: Sequence[FairList], parts: int, minimum: int) -> list[ExposureTally]:
    """Sum the exposure of lists in up to so many parts of equally many, `minimum` or more if there are."""
    if not lists:
        return []
    parts = max(min(parts, len(lists) // minimum), 1)
    size, larger = divmod(len(lists), parts)
    bounds = [number * size + min(number, larger) for number in range(parts + 1)]
    return [sum_exposure(lists[low:high], start=lists[low][0].at) for low, high in pairwise(bounds)]


def _add(groups: dict[str, GroupTally], part: FairPart, clicked: set[int]) -> None:
    sums = zip(part.groups, part.candidates, part.granted, part.due, part.lapsed, strict=True)
    for name, candidates, granted, due, lapsed in sums:
        group = groups.setdefault(name, GroupTally(group=name))
        group.lists += 1
        group.candidates += candidates
        group.granted += granted
        group.due += due
        group.lapsed += lapsed
    for position, code in enumerate(part.shown, start=1):
        group = groups[part.groups[code]]
        group.results += 1
        group.clicks += position in clicked
