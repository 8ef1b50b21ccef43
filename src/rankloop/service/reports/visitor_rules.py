"""Findings about requests that are no visits, and about actions that nobody gave a weight."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rankloop.service.core.finding import Finding, settings_command
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.store import ListFilter, ListSummary, Store

LATELY = 2000  # lists, and events, that are looked at one by one
FEW = 20  # lists from which nothing follows
CHANCE = 0.001  # how probable it may be that a visitor clicks in none of so many lists


def about_visits(store: Store, ranker: str, *, since: float) -> Iterator[Finding]:
    """Whether those who asked for the newest lists of a ranker are people."""
    found = store.statistics.find_lists(ranker, ListFilter(within=LATELY), last=LATELY)
    lists = [each for each in found if each.at >= since]
    if len(lists) < FEW:
        return
    nobody = sum(not _person(each) for each in lists)
    if nobody > 0.5 * len(lists):
        yield Finding(
            code="no-session",
            level="warning",
            ranker=ranker,
            sentence=f"{nobody} of the last {len(lists)} lists of ranker {ranker!r} name neither a session "
            "nor a client: nobody can tell visits from robots",
            cause="Without a session a visitor who searches again may see another order.",
            fix='"session_id": "<the session of your visitor>"',
        )
    yield from _never_clicking(ranker, lists)


def _never_clicking(ranker: str, lists: Sequence[ListSummary]) -> Iterator[Finding]:
    """Whoever asks so often without a click that it is no bad luck."""
    asked = Counter(_person(each) for each in lists if _person(each))
    clicking = {_person(each) for each in lists if each.clicks}
    others = [each for each in lists if _person(each) in clicking]
    clicked = sum(bool(each.clicks) for each in lists)
    rate = min(clicked / len(lists), clicked / len(others) if others else 0.0)
    silent = {
        name: number
        for name, number in asked.items()
        if name not in clicking and number >= FEW and (1 - rate) ** number < CHANCE
    }
    if silent:
        name, most = max(silent.items(), key=lambda pair: (pair[1], pair[0]))
        total = sum(silent.values())
        more = f", and {len(silent) - 1} others like it {total - most}" if len(silent) > 1 else ""
        yield Finding(
            code="no-visits",
            level="warning",
            ranker=ranker,
            sentence=f"{name!r} asked for {most} of the last {len(lists)} lists of ranker {ranker!r} and "
            f"clicked in none{more}: requests that are no visits",
            cause="A monitor, a crawler, a test of load or a page that asks ahead. They teach nothing, and "
            "lower the share of lists with a click.",
            fix="curl https://<this service>/v1/ready   # for monitors\n"
            'curl ... -d \'{"ranker": "load-test", ...}\'   # for tests: a ranker of their own',
        )


def about_actions(store: Store, rules: Mapping[str, BaseRankerSettings]) -> Iterator[Finding]:
    """Actions that are sent, and to which the settings of their ranker give no weight."""
    found = Counter(
        (each.ranker, each.action)
        for each in store.read_events(None, newest=LATELY)
        if each.verdict == "ignored"
    )
    for ranker in sorted({name for name, _ in found} & set(rules)):
        counts = {action: number for (name, action), number in found.items() if name == ranker}
        told = ", ".join(f"{action!r} ({number})" for action, number in sorted(counts.items()))
        weights = {**rules[ranker].actions, **dict.fromkeys(sorted(counts), 1.0)}
        yield Finding(
            code="ignored-actions",
            level="warning",
            ranker=ranker,
            sentence=f"{sum(counts.values())} of the last events of ranker {ranker!r} are ignored, because "
            f"their actions have no weight: {told}",
            cause="An action teaches when the setting `actions` says how much of a click it is; 0 says that "
            "it is to be ignored.",
            fix=settings_command(json.dumps({"actions": weights}), ranker),
        )


def _person(shown: ListSummary) -> str:
    return shown.session_id or shown.client_id
