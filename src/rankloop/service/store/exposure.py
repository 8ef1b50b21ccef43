"""Exposure accounts: sums over the exposures of lists, and over what retention carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from rankloop.service.store.log_records import Decision, ExposureSum, Impression

Key: TypeAlias = tuple[str, int, str]  # ranker, account, group
Sums: TypeAlias = tuple[int, int, int, int, int]  # lists, candidates, granted, due, lapsed

CARRIERS = ("retain", "delete")  # decisions that say what lists had that are gone


def sums_of(records: Iterable[object]) -> dict[Key, Sums]:
    """What entries of a log add to the exposure accounts, in whatever order they come.

    >>> carried = Decision(at=0.0, ranker="shop", kind="retain", body={"exposure": [[1, "a", 2, 5, 9, 8, 0]]})
    >>> sums_of([carried, carried])
    {('shop', 1, 'a'): (4, 10, 18, 16, 0)}
    """
    found: dict[Key, Sums] = {}
    for record in records:
        for key, more in _parts(record):
            found[key] = added(found.get(key), more)
    return found


def added(sums: Sums | None, more: Sums) -> Sums:
    """Both together."""
    if sums is None:
        return more
    return sums[0] + more[0], sums[1] + more[1], sums[2] + more[2], sums[3] + more[3], sums[4] + more[4]


def rows_of(sums: Mapping[Key, Sums], ranker: str) -> list[ExposureSum]:
    """The accounts of one ranker, by account and group."""
    mine = sorted((key, each) for key, each in sums.items() if key[0] == ranker)
    return [exposure_sum(account, group, *each) for (_, account, group), each in mine]


def exposure_sum(account: int, group: str, *sums: int) -> ExposureSum:
    """A group's part of an account, from its five sums."""
    lists, candidates, granted, due, lapsed = sums
    return ExposureSum(
        account=account,
        group=group,
        lists=lists,
        candidates=candidates,
        granted=granted,
        due=due,
        lapsed=lapsed,
    )


def carried(before: Sequence[ExposureSum], after: Sequence[ExposureSum]) -> list[list[Any]]:
    """What the accounts lost when lists were discarded, as a `retain` decision carries it."""
    left = {(each.account, each.group): _numbers(each) for each in after}
    rows = []
    for each in before:
        kept = left.get((each.account, each.group), (0, 0, 0, 0, 0))
        gone = [one - other for one, other in zip(_numbers(each), kept, strict=True)]
        if any(gone):
            rows.append([each.account, each.group, *gone])
    return rows


def _numbers(each: ExposureSum) -> Sums:
    return each.lists, each.candidates, each.granted, each.due, each.lapsed


def _parts(record: object) -> Iterator[tuple[Key, Sums]]:
    if isinstance(record, Impression) and record.exposure is not None:
        told, ranker = record.exposure, record.ranker
        sums = zip(told.candidates, told.granted, told.due, told.lapsed, strict=True)
        for group, (candidates, granted, due, lapsed) in zip(told.groups, sums, strict=True):
            yield (ranker, told.account, group), (1, candidates, granted, due, lapsed)
    elif isinstance(record, Decision) and record.kind in CARRIERS:
        for account, group, *rest in record.body.get("exposure", ()):
            lists, candidates, granted, due, lapsed = map(int, rest)
            yield (record.ranker, int(account), group), (lists, candidates, granted, due, lapsed)
