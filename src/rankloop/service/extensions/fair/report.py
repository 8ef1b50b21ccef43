"""Exposure report of a ranker: what each group got, what was due to it, and what users made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankloop.exposure import VIEW
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import BaseRankerSettings
from rankloop.service.extensions.fair.exposure_sums import (
    ExposureTally,
    GroupTally,
    read_fair_lists,
    sum_exposure,
    sum_exposure_in_parts,
)
from rankloop.service.extensions.fair.live_state import ExposureAccount
from rankloop.service.extensions.fair.part import GroupTotal, read_account
from rankloop.service.extensions.fair.settings import OTHERS, FairSettings
from rankloop.service.store import Store

FEWEST = 20  # lists of a step of the account
SHARED = ("granted", "due", "candidates", "clicks")  # of which a group has a share


@dataclass(frozen=True, slots=True)
class GroupExposure:
    """A group in a stretch of time; looks are those at the first position."""

    group: str
    lists: int  # in which it had candidates
    candidates: int
    results: int  # shown
    granted: float  # looks
    due: float  # looks
    clicks: int  # results with a click
    share_of_exposure: float | None  # of all looks; None: there were none
    share_due: float | None
    share_of_candidates: float | None
    share_of_clicks: float | None
    clicks_per_look: float | None
    fulfilled: float | None  # granted / due; None: nothing was due
    impact_ratio: float | None  # that over the largest of all groups


@dataclass(frozen=True, slots=True)
class ExposureTotal:
    """All lists of a stretch of time."""

    lists: int  # whose exposure was counted
    held: int  # of them, how many were held to the account
    outside: int  # of these, after how many an account was outside of its tolerance
    turned: float | None  # pairs per list that were turned for fair exposure
    impact_ratio: float | None  # the smallest fulfilled over the largest; 1 is fair
    groups: tuple[GroupExposure, ...]


@dataclass(frozen=True, slots=True)
class GroupAccount:
    """A group in the account in force, in looks; all lists since it began."""

    group: str
    lists: int
    candidates: int
    granted: float
    due: float
    lapsed: float
    ahead: float  # granted - due - lapsed


@dataclass(frozen=True, slots=True)
class GroupStep:
    """A group after some lists of the account in force."""

    group: str
    ahead: float  # looks


@dataclass(frozen=True, slots=True)
class AccountStep:
    """As many lists as every other step has, and the account after them."""

    start: float
    lists: int
    groups: tuple[GroupStep, ...]


@dataclass(frozen=True, slots=True)
class AccountReport:
    """The account in force."""

    number: int  # the entry of the log with which it began
    since: float | None  # when that was; None: it is not kept any more
    tolerance: float
    most: float
    settings: dict[str, Any]
    groups: tuple[GroupAccount, ...]
    steps: tuple[AccountStep, ...]  # of the stretch of time


@dataclass(frozen=True, slots=True)
class ExposureReport:
    """Exposure of a ranker's lists between groups."""

    ranker: str
    since: float
    until: float
    account: AccountReport | None  # None: its exposure is not shared
    total: ExposureTotal
    findings: tuple[str, ...]  # in words; empty: nothing to worry about


def exposure_report(
    ranker: Ranker, store: Store, *, since: float, until: float, steps: int = 50
) -> ExposureReport:
    """What a ranker's lists gave to groups in a stretch of time, and the account in up to so many steps."""
    total = tally_exposure(store, ranker.name, since=since, until=until)
    return ExposureReport(
        ranker=ranker.name,
        since=since,
        until=until,
        account=_account(ranker, store, since, until, steps),
        total=_total(total),
        findings=tuple(findings(ranker.settings, total)),
    )


def tally_exposure(store: Store, ranker: str, *, since: float, until: float) -> ExposureTally:
    """Sums over all lists of a stretch of time."""
    return sum_exposure(read_fair_lists(store, ranker, since=since, until=until), start=since)


def findings(settings: BaseRankerSettings, total: ExposureTally) -> Iterable[str]:
    """What is not as it should be with the exposure of a ranker, in words."""
    fair = settings.of(FairSettings)
    if fair is None:
        return
    yield from fair.warnings
    few, most = 20, 0.05  # lists from which nothing follows, and a share that is no accident
    if total.lists < few:
        return
    names = {each.group: each for each in total.groups}
    candidates = sum(each.candidates for each in total.groups)
    others = names[OTHERS].candidates if OTHERS in names else 0
    if len(names) == 1:
        yield f"all its candidates are of one group, {next(iter(names))!r}: is `group` sent with each?"
    elif isinstance(fair.shares, str) and others > most * candidates:
        yield f"{others} of {candidates} candidates came without a group: they share an account as others"
    if not isinstance(fair.shares, str):
        for name, share in fair.shares.items():
            if share and name not in names:
                yield f"the group {name!r} has a share of {share:g} and no candidate of it came"
    if total.outside > most * max(total.held, 1):
        yield (
            f"{total.outside} of {total.held} lists left an account outside of its tolerance: groups with "
            "too few candidates, pins, guardrails, or a tolerance that is too small"
        )


def find_balances(ranker: Ranker) -> dict[str, int]:
    """By how many millionths of a view each group of a ranker is ahead."""
    account = ranker.lists.live_states.get("fair")
    number = ranker.view.configuration.extension_states.get("fair")
    return dict(account.ahead(number)) if number and isinstance(account, ExposureAccount) else {}


def _account(ranker: Ranker, store: Store, since: float, until: float, steps: int) -> AccountReport | None:
    configuration = ranker.view.configuration
    number = configuration.extension_states.get("fair") or 0
    fair = configuration.settings.of(FairSettings)
    if fair is None:
        return None
    began = [each.at for each in store.read_decisions(ranker.name, kinds=("settings",)) if each.seq == number]
    lists = read_fair_lists(store, ranker.name, since=since, until=until)
    parts = sum_exposure_in_parts([each for each in lists if each[1].account == number], steps, FEWEST)
    mine = read_account(store.read_totals(ranker.name), number)
    return AccountReport(
        number=number,
        since=began[0] if began else None,
        tolerance=fair.tolerance,
        most=fair.cap,
        settings=fair.to_json(),
        groups=tuple(map(_group_account, mine)),
        steps=tuple(_course(parts, {each.group: each.ahead for each in mine})),
    )


def _course(parts: Sequence[ExposureTally], now: Mapping[str, int]) -> list[AccountStep]:
    """The account after each part; what lists before them did, or deleted ones, is in it."""
    ahead, steps = dict(now), []
    for part in reversed(parts):
        mine = {each.group: each for each in part.groups}
        groups = tuple(GroupStep(name, ahead[name] / VIEW) for name in ahead)
        steps.append(AccountStep(part.start, part.lists, groups))
        for name, each in mine.items():
            ahead[name] -= each.granted - each.due - each.lapsed
    return steps[::-1]


def _group_account(each: GroupTotal) -> GroupAccount:
    sums = (each.granted / VIEW, each.due / VIEW, each.lapsed / VIEW, each.ahead / VIEW)
    return GroupAccount(each.group, each.lists, each.candidates, *sums)


def _total(tally: ExposureTally) -> ExposureTotal:
    groups = tally.groups
    fulfilled = [_share(each.granted, each.due) for each in groups]
    impact = _over_largest(fulfilled)
    totals = {name: sum(getattr(each, name) for each in groups) for name in SHARED}
    return ExposureTotal(
        lists=tally.lists,
        held=tally.held,
        outside=tally.outside,
        turned=_share(tally.turned, tally.lists),
        impact_ratio=min((each for each in impact if each is not None), default=None),
        groups=tuple(
            _group(each, totals, *ratios) for each, *ratios in zip(groups, fulfilled, impact, strict=True)
        ),
    )


def _group(
    each: GroupTally, totals: Mapping[str, int], fulfilled: float | None, impact: float | None
) -> GroupExposure:
    def part(name: str) -> float | None:
        return _share(getattr(each, name), totals[name])

    return GroupExposure(
        group=each.group,
        lists=each.lists,
        candidates=each.candidates,
        results=each.results,
        granted=each.granted / VIEW,
        due=each.due / VIEW,
        clicks=each.clicks,
        share_of_exposure=part("granted"),
        share_due=part("due"),
        share_of_candidates=part("candidates"),
        share_of_clicks=part("clicks"),
        clicks_per_look=_share(each.clicks * VIEW, each.granted),
        fulfilled=fulfilled,
        impact_ratio=impact,
    )


def _over_largest(ratios: Sequence[float | None]) -> list[float | None]:
    largest = max((each for each in ratios if each is not None), default=0.0)
    return [None if each is None else _share(each, largest) for each in ratios]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
