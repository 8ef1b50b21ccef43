"""Traffic in numbers: whether a ranker learns, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Literal, TypeAlias

from rankloop.service.store import Store, Traffic

By: TypeAlias = Literal["time", "lists"]  # what is equal in all steps

FEW = 20  # lists from which nothing follows


@dataclass(frozen=True, slots=True)
class Overview:
    """What happened in a stretch of time."""

    start: float
    lists: int
    ctr: float | None  # share of lists with a click; None: there were none
    mrr: float | None  # mean over clicked lists of 1 / rank of the first click
    settled: float | None  # share of the pairs shown that were 95 % sure; None: nobody can tell
    explored: float | None  # pairs per list shown against the order of the scores
    cost: float | None  # pairs per list expected to have stood the wrong way round because of exploration
    fallbacks: int  # lists in the caller's order because something was broken


def overview(store: Store, ranker: str, *, since: float, until: float) -> Overview:
    """A stretch of time as a whole."""
    return _overview(
        _total(store.statistics.sum_traffic(ranker, since=since, until=until, step=max(until - since, 1e-9)))
    )


def over_time(store: Store, ranker: str, *, since: float, until: float, steps: int = 50) -> list[Overview]:
    """A stretch of time in steps; steps without a list are left out."""
    found = store.statistics.sum_traffic(ranker, since=since, until=until, step=(until - since) / steps)
    return [_overview(each) for each in found]


def by_steps(
    store: Store, ranker: str, *, since: float, until: float, steps: int, by: By
) -> tuple[Overview, list[Overview]]:
    """A stretch of time as a whole, and in steps of equal time or of equally many lists; read once."""
    if by == "lists":
        found = store.statistics.sum_traffic_parts(ranker, since=since, until=until, parts=steps, minimum=FEW)
    else:
        found = store.statistics.sum_traffic(ranker, since=since, until=until, step=(until - since) / steps)
    return _overview(_total(found)), [_overview(each) for each in found]


def _total(steps: Sequence[Traffic]) -> Traffic:
    def add(one: Traffic, other: Traffic) -> Traffic:
        names = [each.name for each in fields(Traffic) if each.name != "start"]
        return Traffic(start=one.start, **{name: getattr(one, name) + getattr(other, name) for name in names})

    return reduce(add, steps) if steps else Traffic()


def _overview(sums: Traffic) -> Overview:
    return Overview(
        start=sums.start,
        lists=sums.lists,
        ctr=_share(sums.clicked, sums.lists),
        mrr=_share(sums.reciprocal, sums.clicked),
        settled=_share(sums.settled, sums.pairs),
        explored=_share(sums.explored, sums.lists),
        cost=_share(sums.cost, sums.lists),
        fallbacks=sums.fallbacks,
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
