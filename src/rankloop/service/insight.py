"""Numbers for the pages: whether it learns, what that costs, and whether clicks arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Literal, TypeAlias

from rankloop.store import JOINED, Event, EventTally, Store, Traffic

By: TypeAlias = Literal["time", "lists"]  # what is equal in all steps

LAST = 20  # events to look at one by one
FEW = 20  # events from which nothing follows


@dataclass(frozen=True, slots=True)
class Overview:
    """What happened in a stretch of time."""

    start: float
    lists: int
    ctr: float | None  # share of lists with a click; None: there were none
    mrr: float | None  # mean over clicked lists of 1 / rank of the first click
    settled: float | None  # share of the pairs shown that were in a certain order; None: nobody can tell
    explored: float | None  # pairs per list that stood against the scores
    cost: float | None  # pairs per list expected to have stood the wrong way round because of exploration
    fallbacks: int  # lists in the caller's order because something was broken


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the event doctor found."""

    tally: EventTally
    join_rate: float | None  # share of understood events whose list is known
    findings: tuple[str, ...]  # in words, the gravest first; empty: nothing to worry about
    last: tuple[Event, ...]  # the newest events as they were understood


def overview(store: Store, ranker: str, *, since: float, until: float) -> Overview:
    """A stretch of time as a whole."""
    return _overview(_total(store.traffic(ranker, since=since, until=until, step=max(until - since, 1e-9))))


def over_time(store: Store, ranker: str, *, since: float, until: float, steps: int = 50) -> list[Overview]:
    """A stretch of time in steps; steps without a list are left out."""
    found = store.traffic(ranker, since=since, until=until, step=(until - since) / steps)
    return [_overview(each) for each in found]


def by_steps(
    store: Store, ranker: str, *, since: float, until: float, steps: int, by: By
) -> tuple[Overview, list[Overview]]:
    """A stretch of time as a whole, and in steps of equal time or of equally many lists; read once."""
    if by == "lists":
        found = store.in_parts(ranker, since=since, until=until, parts=steps, least=FEW)
    else:
        found = store.traffic(ranker, since=since, until=until, step=(until - since) / steps)
    return _overview(_total(found)), [_overview(each) for each in found]


def doctor(store: Store, *, since: float, until: float) -> Diagnosis:
    """Whether the clicks of all rankers arrive, and what is wrong with them if not."""
    tally = store.tally(None, since=since, until=until)
    counts = tally.verdicts
    joined = sum(counts.get(verdict, 0) for verdict in JOINED)
    understood = joined + counts.get("orphan", 0)
    rate = joined / understood if understood else None
    lists = [overview(store, ranker, since=since, until=until) for ranker in store.rankers()]
    findings = _findings(tally, joined, sum(each.lists for each in lists))
    return Diagnosis(tally, rate, tuple(findings), tuple(store.events(None, last=LAST)))


def _findings(tally: EventTally, joined: int, lists: int) -> Sequence[str]:
    counts, total = tally.verdicts, sum(tally.verdicts.values())
    placed = tally.one_based + tally.zero_based + tally.misplaced
    busiest, most = tally.busiest[0] if tally.busiest else ("", 0)
    checks = [
        (
            lists >= FEW and not total,
            f"{lists} lists were shown and no event arrived: are they sent?",
        ),
        (lists >= FEW and total and not counts.get("accepted"), "not one event was accepted"),
        (
            counts.get("orphan", 0) > 0.05 * (joined + counts.get("orphan", 0)),
            f"{counts.get('orphan', 0)} events name an unknown query_id: send the one that rank gave",
        ),
        (
            counts.get("not_shown", 0) > 0.05 * joined,
            f"{counts.get('not_shown', 0)} events name objects that were not in their list",
        ),
        (counts.get("invalid", 0), f"{counts.get('invalid', 0)} events could not be understood"),
        (
            counts.get("duplicate", 0) > 0.2 * total,
            f"{counts.get('duplicate', 0)} events came more than once: harmless, but wasteful",
        ),
        (counts.get("late", 0) > 0.1 * joined, f"{counts.get('late', 0)} events came after the window"),
        (
            placed >= FEW and tally.zero_based > 0.9 * placed,
            "positions are counted from 0, UBI counts from 1: harmless, objects are known by their ids",
        ),
        (
            placed >= FEW and tally.misplaced > 0.1 * placed,
            f"{tally.misplaced} events name another position than the object had: is another list shown?",
        ),
        (tally.ahead, f"{tally.ahead} events were sent from the future: a client's clock is ahead"),
        (tally.behind, f"{tally.behind} events were over an hour old when they arrived"),
        (total >= FEW and most > 0.5 * total, f"client {busiest!r} sent {most} of {total} events: a robot?"),
    ]
    return [sentence for wrong, sentence in checks if wrong]


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
