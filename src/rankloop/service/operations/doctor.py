"""Event doctor: whether clicks arrive, and what is wrong with them if not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankloop.service.operations.traffic import overview
from rankloop.store import JOINED, Event, EventTally, Store

LAST = 20  # events to look at one by one
FEW = 20  # events from which nothing follows


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the event doctor found."""

    tally: EventTally
    join_rate: float | None  # share of understood events whose list is known
    findings: tuple[str, ...]  # in words, the gravest first; empty: nothing to worry about
    last: tuple[Event, ...]  # the newest events as they were understood


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
