"""Event doctor: whether clicks arrive, and what is wrong with them if not."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rankloop.service.core.configuration import Configuration
from rankloop.service.core.finding import Finding, Level, gravest_first, settings_command
from rankloop.service.extensions.fair.report import findings as exposure_findings
from rankloop.service.extensions.fair.report import tally_exposure
from rankloop.service.reports.deletion_rules import about_deletions
from rankloop.service.reports.event_rules import about_events, about_sources
from rankloop.service.reports.traffic import overview
from rankloop.service.reports.visitor_rules import about_actions, about_visits
from rankloop.service.store import JOINED, Event, EventTally, SourceTally, Store

LAST = 20  # events to look at one by one
FEW = 20  # results from which nothing follows


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
    sources: SourceTally = field(default_factory=SourceTally)  # where the events came from
    causes: tuple[Finding, ...] = ()  # the findings again, each with its cause and a fix to copy


def doctor(
    store: Store,
    *,
    since: float,
    until: float,
    configurations: Mapping[str, Configuration] | None = None,
) -> Diagnosis:
    """Whether the clicks of all rankers arrive, and what is wrong with them if not.

    With the rankers' `configurations`, also what grades users gave, and whether exposure is shared as it
    should be.
    """
    tally = store.statistics.count_events(None, since=since, until=until)
    counts = tally.verdicts
    joined = sum(counts.get(verdict, 0) for verdict in (*JOINED, "held"))
    sources = store.statistics.count_sources(since=since, until=until)
    understood = joined + counts.get("orphan", 0)
    rate = joined / understood if understood else None
    lists = 0
    if not counts.get("accepted"):  # otherwise nobody asks how many there were
        lists = sum(overview(store, each, since=since, until=until).lists for each in store.list_rankers())
    given = dict(sorted((configurations or {}).items()))
    found = [
        *about_deletions(store, until=until),
        *about_sources(sources, counts),
        *about_events(tally, joined, lists),
    ]
    if counts.get("ignored", 0):
        found += about_actions(store, {name: each.settings for name, each in given.items()})
    found += [each for ranker in given for each in about_visits(store, ranker, since=since)]
    rated = tuple(
        ratings(store, ranker, each, since=since, until=until)
        for ranker, each in given.items()
        if each.settings.grades
    )
    found += [finding for each in rated for finding in _about_grades(each)]
    for ranker, each in given.items():
        if each.settings.extension("fair") is not None:
            total = tally_exposure(store, ranker, since=since, until=until)
            found += [
                _about_exposure(ranker, sentence) for sentence in exposure_findings(each.settings, total)
            ]
    last = tuple(store.read_events(None, newest=LAST))
    return with_causes(Diagnosis(tally, rate, (), last, rated, sources), found)


def with_causes(diagnosis: Diagnosis, found: Iterable[Finding]) -> Diagnosis:
    """A diagnosis with more findings, the gravest first."""
    causes = gravest_first((*diagnosis.causes, *found))
    return replace(diagnosis, causes=causes, findings=tuple(each.sentence for each in causes))


def ratings(
    store: Store, ranker: str, configuration: Configuration, *, since: float, until: float
) -> Ratings:
    """How the lists that a ranker showed in a stretch of time were graded."""
    scale = configuration.settings.grade_scale
    found = store.grades(ranker, since=since, until=until, scale=scale)
    grades = [scale.highest * step / scale.steps for step in range(scale.steps + 1)]
    return Ratings(
        ranker=ranker,
        taught=configuration.signal == "grades",
        lists=found.lists,
        rated=found.rated,
        rate=found.rated / found.lists if found.lists else None,
        results=found.results,
        capped=found.capped,
        histogram=tuple(zip(grades, found.histogram, strict=True)),
    )


def _about_exposure(ranker: str, sentence: str) -> Finding:
    return Finding(
        code=f"exposure: {sentence.split(':', maxsplit=1)[0].lstrip('0123456789 .')[:40]}",
        level="warning",
        ranker=ranker,
        sentence=f"exposure of ranker {ranker!r}: {sentence}",
        cause="How exposure is shared is in the setting `fair`; what comes of it is on the page Exposure.",
        fix=f"rankloop settings show --ranker {shlex.quote(ranker)}",
    )


def _about_grades(found: Ratings) -> Iterator[Finding]:
    whose, given = f"of ranker {found.ranker!r}", [grade for grade, results in found.histogram if results]
    checks: list[tuple[object, str, Level, str, str, str]] = [
        (
            found.results and not found.taught,
            "grades-unused",
            "warning",
            f"{found.results} results {whose} were graded, and its policy learns from clicks alone",
            "The setting `grades` is there, and the policy takes no grades.",
            settings_command('{"policy": "ListNet()"}', found.ranker),
        ),
        (
            found.lists >= FEW and not found.results,
            "no-grades",
            "warning",
            f"{found.lists} lists {whose} were shown and nothing in them was graded: are its actions sent?",
            "The setting `grades` names actions that no event has.",
            f"rankloop settings show --ranker {shlex.quote(found.ranker)}",
        ),
        (
            found.results >= FEW and len(given) == 1,
            "one-grade",
            "warning",
            f"all {found.results} graded results {whose} have about the grade {given[0] if given else 0:g}: "
            "do the events have their value?",
            "Without a value every action is worth the same.",
            '"event_attributes": {"object": {"object_id": "<the id>"}, "value": 4}',
        ),
        (
            found.results >= FEW and found.capped > 0.5 * found.results,
            "grades-cut",
            "hint",
            f"{found.capped} of {found.results} grades {whose} were cut to the highest one: weigh less",
            "The weights add up to more than `grades.highest`.",
            settings_command('{"grades": {"highest": 5}}', found.ranker),
        ),
    ]
    for wrong, code, level, sentence, cause, fix in checks:
        if wrong:
            yield Finding(
                code=code, level=level, ranker=found.ranker, sentence=sentence, cause=cause, fix=fix
            )
