"""Findings about events: what is wrong with those of a stretch of time, by their tally."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping

from rankloop.service.core.finding import Finding, Level
from rankloop.service.store import EventTally, SourceTally

FEW = 20  # events from which nothing follows
BURST = 120  # events of one source within a minute: more than people do
QUARTER = 0.25  # of the clicks, by one client
EVENT = (
    '{"action_name": "click", "query_id": "<the query_id that rank gave>",\n'
    ' "event_attributes": {"object": {"object_id": "<the id>"}, "position": {"ordinal": 1}}}'
)
LEAVE_OUT = 'curl https://<this service>/v1/forget -H "Authorization: Bearer $ADMIN_KEY" -d {body}'


def about_sources(found: SourceTally, counts: Mapping[str, int]) -> Iterator[Finding]:
    """Addresses and clients that send too much."""
    held = counts.get("held", 0)
    busiest, most, mine = found.busiest[0] if found.busiest else ("", 0, 0)
    worst = max(found.busiest, key=lambda each: each[2], default=("", 0, 0))
    whose = "if that is a proxy of yours, name it with --proxies; if not, forget takes it as source"
    proxy = "rankloop serve --proxies 10.0.0.0/8   # the network of your own proxy"
    if held:
        yield Finding(
            code="events-held",
            level="warning",
            sentence=f"{held} events were held back, because their address or client has taught by enough "
            "lists" + (f": {worst[2]} of the {worst[1]} of {worst[0]!r}; {whose}" if worst[2] else ""),
            cause="One address or client may teach by so many lists a day (`client_limit.lists`): more is a "
            "robot, or a proxy that stands in front of all your visitors.",
            fix=proxy,
        )
    if found.burst[1] > BURST:
        yield Finding(
            code="event-burst",
            level="warning",
            sentence=f"{found.burst[1]} events came within a minute from {found.burst[0]!r}: {whose}",
            cause="A robot, a test of load, or a proxy that is taken for one visitor.",
            fix=proxy,
        )
    if found.latest >= FEW and found.sources > 1 and most > 0.5 * found.latest and not mine:
        yield Finding(
            code="one-source",
            level="warning",
            sentence=f"{most} of the last {found.latest} events came from {busiest!r}: {whose}",
            cause="A robot, or a proxy that is taken for one visitor.",
            fix=proxy,
        )
    if found.squatted:
        yield Finding(
            code="ids-used-up",
            level="warning",
            sentence=f"{found.squatted} events had the id of another one, about another list or from "
            "elsewhere: somebody uses ids up; make yours longer, or leave them out",
            cause="Event ids are counters, or short: others guess them, and the second is a duplicate.",
            fix='"event_id": crypto.randomUUID()',
        )


def about_events(tally: EventTally, joined: int, lists: int) -> Iterator[Finding]:
    """What happened to events, in all."""
    counts, total = tally.verdicts, sum(tally.verdicts.values())
    placed = tally.one_based + tally.zero_based + tally.misplaced
    orphans, strangers = counts.get("orphan", 0), counts.get("not_shown", 0)
    checks: list[tuple[object, str, Level, str, str, str]] = [
        (
            lists >= FEW and not total,
            "no-events",
            "serious",
            f"{lists} lists were shown and no event arrived: are they sent?",
            "The page does not load the beacon, its key is wrong, or another site is asked.",
            '<script src="https://<this service>/rankloop.js" data-key="<page key>" defer></script>',
        ),
        (
            lists >= FEW and total and not counts.get("accepted"),
            "none-accepted",
            "serious",
            "not one event was accepted",
            "Events arrive and none of them fits a list: see the verdicts below.",
            EVENT,
        ),
        (
            orphans > 0.05 * (joined + orphans),
            "orphans",
            "serious",
            f"{orphans} events name an unknown query_id: send the one that rank gave",
            "The page makes up an id, keeps one of yesterday, or a cache serves an old page.",
            '<ol data-rankloop-query="{{ answer.query_id }}">',
        ),
        (
            strangers > 0.05 * joined,
            "not-shown",
            "serious",
            f"{strangers} events name objects that were not in their list",
            "Another id is sent than was ranked, such as a variant's or an address.",
            '<li data-rankloop-object="{{ result.object_id }}">',
        ),
        (
            counts.get("invalid", 0),
            "invalid",
            "warning",
            f"{counts.get('invalid', 0)} events could not be understood",
            "They are not in the shape of UBI; each says below what was expected.",
            EVENT,
        ),
        (
            counts.get("duplicate", 0) > 0.2 * total,
            "duplicates",
            "hint",
            f"{counts.get('duplicate', 0)} events came more than once: harmless, but wasteful",
            "Something sends them again though they were acknowledged.",
            "if (answer.ok) queue.shift();",
        ),
        (
            counts.get("late", 0) > 0.1 * joined,
            "late",
            "warning",
            f"{counts.get('late', 0)} events came after the window",
            "People take longer than the window is open: late clicks are counted and teach nothing.",
            "rankloop settings change '{\"window\": 1800}'",
        ),
        (
            placed >= FEW and tally.zero_based > 0.9 * placed,
            "zero-based",
            "hint",
            "positions are counted from 0, UBI counts from 1: harmless, objects are known by their ids",
            "The client sends the index of an array as the position.",
            '"position": {"ordinal": index + 1}',
        ),
        (
            placed >= FEW and tally.misplaced > 0.1 * placed,
            "misplaced",
            "warning",
            f"{tally.misplaced} events name another position than the object had: is another list shown?",
            "The page sorts, filters or mixes in results after ranking, so clicks tell of another list.",
            '{"object_id": "<the result you mix in>", "pinned_at": 1}',
        ),
        (
            tally.ahead,
            "clock-ahead",
            "hint",
            f"{tally.ahead} events were sent from the future: a client's clock is ahead",
            "The time a client says is only looked at here.",
            '"timestamp": new Date().toISOString()',
        ),
        (
            tally.behind,
            "old-events",
            "hint",
            f"{tally.behind} events were over an hour old when they arrived",
            "They waited in a queue: what comes after the window teaches nothing.",
            "navigator.sendBeacon(url, body)   // at once, not with the next page",
        ),
    ]
    for wrong, code, level, sentence, cause, fix in checks:
        if wrong:
            yield Finding(code=code, level=level, sentence=sentence, cause=cause, fix=fix)
    yield from _about_clients(tally)


def _about_clients(tally: EventTally) -> Iterator[Finding]:
    busiest, most = tally.busiest[0] if tally.busiest else ("", 0)
    if tally.latest >= FEW and most >= QUARTER * tally.latest:
        yield Finding(
            code="one-client",
            level="warning",
            sentence=f"client {busiest!r} sent {most} of the last {tally.latest} events: a robot?",
            cause="A quarter of the clicks by one client is a robot, a test, or an id that visitors share.",
            fix=LEAVE_OUT.format(body=shlex.quote(json.dumps({"ranker": "<ranker>", "client_id": busiest}))),
        )
