"""Event doctor: whether clicks arrive, and what is wrong with them if not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankloop.service.operations.exposure import findings as exposure_findings
from rankloop.service.operations.traffic import overview
from rankloop.service.settings import RankerSettings
from rankloop.store import JOINED, Event, EventTally, ExposureTally, Store

LAST = 20  # events to look at one by one
FEW = 20  # events from which nothing follows


@dataclass(frozen=True, slots=True)
class Ratings:
    """What users thought of the lists of a ranker, by its settings."""

    ranker: str
    taught: bool  # whether its policy learns from grades; otherwise it learns from clicks alone
    lists: int  # shown
    rated: int  # of them, how many have a result with a grade
    rate: float | None  # the share of these; None: no list was shown
    results: int  # with a grade
    capped: int  # of them, how many were cut to the highest grade
    histogram: tuple[tuple[float, int], ...]  # grades, and how many results are nearest to each


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the event doctor found."""

    tally: EventTally
    join_rate: float | None  # share of understood events whose list is known
    findings: tuple[str, ...]  # in words, the gravest first; empty: nothing to worry about
    last: tuple[Event, ...]  # the newest events as they were understood
    ratings: tuple[Ratings, ...] = ()  # of the rankers whose settings say what a grade is


def doctor(
    store: Store, *, since: float, until: float, rules: Mapping[str, RankerSettings] | None = None
) -> Diagnosis:
    """Whether the clicks of all rankers arrive, and what is wrong with them if not.

    With the rankers' `rules`, also what grades users gave, and whether exposure is shared as it should be.
    """
    tally = store.tally(None, since=since, until=until)
    counts = tally.verdicts
    joined = sum(counts.get(verdict, 0) for verdict in JOINED)
    understood = joined + counts.get("orphan", 0)
    rate = joined / understood if understood else None
    lists = [overview(store, ranker, since=since, until=until) for ranker in store.rankers()]
    findings = _findings(tally, joined, sum(each.lists for each in lists))
    rated = tuple(
        ratings(store, ranker, each, since=since, until=until)
        for ranker, each in sorted((rules or {}).items())
        if each.grades
    )
    said = [sentence for each in rated for sentence in _about_grades(each)]
    for ranker, each in sorted((rules or {}).items()):
        if each.fair is not None:
            tallies = store.exposure(ranker, since=since, until=until, step=max(until - since, 1e-9))
            total = tallies[0] if tallies else ExposureTally()
            said += [f"exposure of ranker {ranker!r}: {found}" for found in exposure_findings(each, total)]
    return Diagnosis(tally, rate, (*findings, *said), tuple(store.events(None, last=LAST)), rated)


def ratings(store: Store, ranker: str, rules: RankerSettings, *, since: float, until: float) -> Ratings:
    """How the lists that a ranker showed in a stretch of time were graded."""
    scale = rules.grade_scale
    found = store.grades(ranker, since=since, until=until, scale=scale)
    grades = [scale.highest * step / scale.steps for step in range(scale.steps + 1)]
    return Ratings(
        ranker=ranker,
        taught=rules.signal == "grades",
        lists=found.lists,
        rated=found.rated,
        rate=found.rated / found.lists if found.lists else None,
        results=found.results,
        capped=found.capped,
        histogram=tuple(zip(grades, found.histogram, strict=True)),
    )


def _about_grades(found: Ratings) -> Sequence[str]:
    whose, given = f"of ranker {found.ranker!r}", [grade for grade, results in found.histogram if results]
    checks = [
        (
            found.results and not found.taught,
            f"{found.results} results {whose} were graded, and its policy learns from clicks alone",
        ),
        (
            found.lists >= FEW and not found.results,
            f"{found.lists} lists {whose} were shown and nothing in them was graded: are its actions sent?",
        ),
        (
            found.results >= FEW and len(given) == 1,
            f"all {found.results} graded results {whose} have about the grade {given[0] if given else 0:g}: "
            "do the events have their value?",
        ),
        (
            found.results >= FEW and found.capped > 0.5 * found.results,
            f"{found.capped} of {found.results} grades {whose} were cut to the highest one: weigh less",
        ),
    ]
    return [sentence for wrong, sentence in checks if wrong]


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
