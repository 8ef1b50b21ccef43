"""Rankers' numbers in Prometheus' text format, written line by line: there may be thousands of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rankloop.exposure import VIEW
from rankloop.service.reports.health import RankerHealth
from rankloop.service.service_facade import ServiceFacade

GAUGES = {
    "model": "version of the model in use",
    "position": "last entry of the log that was folded",
    "lists": "lists learned from",
    "open": "lists with clicks whose window has not closed",
    "refused": "lists that could not be learned from",
    "early": "lists closed before their window, because too many were open",
    "unlogged": "lists that could not be written down",
}

PROMISE_GAUGES = {
    "spent": "share of the promise's budget of clicks that is spent, at worst",
    "room": "clicks that may still be risked under the promise",
    "budget": "clicks that may be lost under the promise",
    "free": "1 if the next search may depart from the caller's order",
}


def ranker_metrics(service: ServiceFacade) -> bytes:
    """A gauge for each number of each ranker, at this moment."""
    health = service.health()
    lines = _gauge("rankloop_healthy", "1 if nothing is in trouble", [("", float(health.ok))])
    lines += _numbers(health.rankers)
    lines += _promises(health.rankers)
    lines += _exposure(service, health.rankers)
    lines += _trials(service, health.rankers)
    return "".join(lines).encode()


def _numbers(rankers: Mapping[str, RankerHealth]) -> list[str]:
    quoted = {name: _quoted(name) for name in rankers}
    lines = []
    for name, meaning in GAUGES.items():
        values = [(f"ranker={quoted[ranker]}", getattr(state, name)) for ranker, state in rankers.items()]
        lines += _gauge(f"rankloop_ranker_{name}", meaning, values)
    for name, trouble in (
        ("broken", "1 if it shows the caller's order"),
        ("troubled", "1 if it cannot learn just now"),
    ):
        marked = [
            (f"ranker={quoted[ranker]}", 1)
            for ranker, state in rankers.items()
            if (state.broken if name == "broken" else state.trouble)
        ]
        lines += _gauge(f"rankloop_ranker_{name}", trouble, marked)
    modes = [(f'ranker={quoted[ranker]},mode="{state.mode}"', 1) for ranker, state in rankers.items()]
    return lines + _gauge("rankloop_ranker_mode", "1 for the mode in force", modes)


def _promises(rankers: Mapping[str, RankerHealth]) -> list[str]:
    """Of rankers that promise clicks: the budget, and the searches by arm."""
    told = {_quoted(name): state.promise for name, state in rankers.items() if state.promise is not None}
    lines = []
    for name, meaning in PROMISE_GAUGES.items():
        values = [(f"ranker={ranker}", getattr(report, name)) for ranker, report in told.items()]
        lines += _gauge(f"rankloop_promise_{name}", meaning, values)
    searches = [
        (f'ranker={ranker},arm="{arm}"', getattr(report, arm))
        for ranker, report in told.items()
        for arm in ("held", "owned", "learned")
    ]
    return lines + _gauge("rankloop_promise_searches", "searches that are over", searches)


def _exposure(service: ServiceFacade, rankers: Iterable[str]) -> list[str]:
    """Without the names of groups: there may be any number of them, and they may be people's."""
    accounts = {ranker: account for ranker in rankers if (account := service.account(ranker))}
    off = [
        (f"ranker={_quoted(name)}", max(map(abs, each.values())) / VIEW) for name, each in accounts.items()
    ]
    groups = [(f"ranker={_quoted(name)}", len(each)) for name, each in accounts.items()]
    meaning = "looks by which the account of a group is off, ahead or behind: the most of all groups"
    return [
        *_gauge("rankloop_ranker_exposure_off", meaning, off),
        *_gauge("rankloop_ranker_exposure_groups", "groups in the account in force", groups),
    ]


def _trials(service: ServiceFacade, rankers: Iterable[str]) -> list[str]:
    """Of the trials that run: how many, the interval by which each is decided, and its sessions by arm."""
    running = {ranker: report for ranker in rankers if (report := service.recent_trial(ranker))}
    bounds, sessions = [], []
    for ranker, report in running.items():
        labels, found = f'ranker={_quoted(ranker)},trial="{report.trial}"', report.outcomes[0]
        sessions += [(f"{labels},arm={_quoted(arm)}", count) for arm, count in report.sessions.items()]
        if found.estimate is not None:
            names = ("estimate", "lower", "upper")
            bounds += [(f'{labels},bound="{name}"', getattr(found, name)) for name in names]
    return [
        *_gauge("rankloop_trials", "trials that run", [("", len(running))]),
        *_gauge("rankloop_trial", "estimate and bounds of the trial that runs", bounds),
        *_gauge("rankloop_trial_sessions", "sessions that count", sessions),
    ]


def _gauge(name: str, meaning: str, values: Iterable[tuple[str, float]]) -> list[str]:
    return [f"# HELP {name} {meaning}\n# TYPE {name} gauge\n", *_samples(name, values)]


def _samples(name: str, values: Iterable[tuple[str, float]]) -> Iterator[str]:
    for labels, value in values:
        yield f"{name}{{{labels}}} {float(value)}\n" if labels else f"{name} {float(value)}\n"


def _quoted(text: str) -> str:
    r"""A label's value.

    >>> print(_quoted('a "shop"'))
    "a \"shop\""
    """
    escaped = text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return f'"{escaped}"'
