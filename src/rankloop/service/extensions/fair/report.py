"""Exposure report of a ranker: what each group got, what was due to it, and what users made of it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rankloop.exposure import VIEW
from rankloop.service.core.ranker import Ranker
from rankloop.service.core.ranker_settings import RankerSettings
from rankloop.service.extensions.fair.settings import OTHERS
from rankloop.service.store import ExposureSum, ExposureTally, GroupTally, Store

MOST_QUERIES = 20
FEWEST = 20  # lists of a step of the account
SUMS = ("lists", "held", "outside", "turned", "undone")
GROUP_SUMS = ("lists", "candidates", "results", "granted", "due", "lapsed", "clicks")
SHARED = ("granted", "due", "candidates", "clicks")  # of which a group has a share
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute


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
    looks_per_candidate: float | None
    fulfilled: float | None  # granted / due; None: nothing was due
    impact_ratio: float | None  # that over the largest of all groups
    selection_ratio: float | None  # looks per candidate over the largest of all groups


@dataclass(frozen=True, slots=True)
class ExposureStep:
    """A stretch of time, or one query."""

    start: float
    user_query: str
    lists: int  # whose exposure was counted
    held: int  # of them, how many were held to the account
    outside: int  # of these, after how many an account was outside of its tolerance
    turned: float | None  # pairs per list that were turned for fair exposure
    undone: float  # looks that guardrails gave to another group than the merge
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
    clicks_per_look: float | None  # in these lists; None: there were none


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
    total: ExposureStep
    steps: tuple[ExposureStep, ...]  # without those in which no list was counted
    queries: tuple[ExposureStep, ...]  # those with the most lists
    findings: tuple[str, ...]  # in words; empty: nothing to worry about


def exposure_report(
    ranker: Ranker, store: Store, *, since: float, until: float, steps: int = 50
) -> ExposureReport:
    """What a ranker's lists gave to groups in a stretch of time, as a whole, in steps and by query."""
    parts = store.exposure(ranker.name, since=since, until=until, step=max((until - since) / steps, 1e-9))
    queries = store.exposure_by_query(ranker.name, since=since, until=until, most=MOST_QUERIES)
    total = _whole(parts, since)
    return ExposureReport(
        ranker=ranker.name,
        since=since,
        until=until,
        account=_account(ranker, store, since, until, steps),
        total=_step(total),
        steps=tuple(map(_step, parts)),
        queries=tuple(map(_step, queries)),
        findings=tuple(findings(ranker.rules, total)),
    )


def to_csv(report: ExposureReport) -> str:
    """The steps as a table, a row for each group in each; what a spreadsheet would compute is quoted."""
    names = [each.name for each in fields(GroupExposure)]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["ranker", "start", *names])
    for step in report.steps:
        for each in step.groups:
            values = [getattr(each, name) for name in names]
            writer.writerow([_plain(report.ranker), step.start, _plain(each.group), *values[1:]])
    return file.getvalue()


def findings(rules: RankerSettings, total: ExposureTally) -> Iterable[str]:
    """What is not as it should be with the exposure of a ranker, in words."""
    if rules.fair is None:
        return
    yield from rules.fair.warnings
    few, most = 20, 0.05  # lists from which nothing follows, and a share that is no accident
    if total.lists < few:
        return
    names = {each.group: each for each in total.groups}
    candidates = sum(each.candidates for each in total.groups)
    others = names[OTHERS].candidates if OTHERS in names else 0
    if len(names) == 1:
        yield f"all its candidates are of one group, {next(iter(names))!r}: is `group` sent with each?"
    elif isinstance(rules.fair.shares, str) and others > most * candidates:
        yield f"{others} of {candidates} candidates came without a group: they share an account as others"
    if not isinstance(rules.fair.shares, str):
        for name, share in rules.fair.shares.items():
            if share and name not in names:
                yield f"the group {name!r} has a share of {share:g} and no candidate of it came"
    if total.outside > most * max(total.held, 1):
        yield (
            f"{total.outside} of {total.held} lists left an account outside of its tolerance: groups with "
            "too few candidates, pins, guardrails, or a tolerance that is too small"
        )
    if total.undone:
        yield (
            f"its guardrails gave {total.undone / VIEW:.1f} looks to other groups than was fair: "
            "they stay in the account, up to the most it may be off"
        )


def _account(ranker: Ranker, store: Store, since: float, until: float, steps: int) -> AccountReport | None:
    terms = ranker.view.in_force
    if terms.rules.fair is None:
        return None
    began = [
        each.at for each in store.read_decisions(ranker.name, kind="settings") if each.seq == terms.account
    ]
    parts = store.exposure_in_parts(
        ranker.name, account=terms.account, since=since, until=until, parts=steps, least=FEWEST
    )
    mine = [each for each in store.read_totals(ranker.name) if each.account == terms.account]
    return AccountReport(
        number=terms.account,
        since=began[0] if began else None,
        tolerance=terms.rules.fair.tolerance,
        most=terms.rules.fair.most,
        settings=terms.rules.fair.to_json(),
        groups=tuple(map(_group_account, mine)),
        steps=tuple(_course(parts, {each.group: each.ahead for each in mine})),
    )


def _course(parts: Sequence[ExposureTally], now: Mapping[str, int]) -> list[AccountStep]:
    """The account after each part; what lists before them did, or deleted ones, is in it."""
    ahead, steps = dict(now), []
    for part in reversed(parts):
        mine = {each.group: each for each in part.groups}
        clicks = {name: _share(each.clicks * VIEW, each.granted) for name, each in mine.items()}
        groups = tuple(GroupStep(name, ahead[name] / VIEW, clicks.get(name)) for name in ahead)
        steps.append(AccountStep(part.start, part.lists, groups))
        for name, each in mine.items():
            ahead[name] -= each.granted - each.due - each.lapsed
    return steps[::-1]


def _group_account(each: ExposureSum) -> GroupAccount:
    sums = (each.granted / VIEW, each.due / VIEW, each.lapsed / VIEW, each.ahead / VIEW)
    return GroupAccount(each.group, each.lists, each.candidates, *sums)


def _whole(steps: Sequence[ExposureTally], start: float) -> ExposureTally:
    """All steps as one: their sums, which the database need not make twice."""
    groups: dict[str, Counter[str]] = {}
    for each in (group for step in steps for group in step.groups):
        groups.setdefault(each.group, Counter()).update({name: getattr(each, name) for name in GROUP_SUMS})
    sums = {name: sum(getattr(step, name) for step in steps) for name in SUMS}
    tallies = [GroupTally(group=name, **groups[name]) for name in sorted(groups)]
    return ExposureTally(start=start, groups=tallies, **sums)


def _step(tally: ExposureTally) -> ExposureStep:
    groups = tally.groups
    fulfilled = [_share(each.granted, each.due) for each in groups]
    per_candidate = [_share(each.granted, VIEW * each.candidates) for each in groups]
    impact, selection = _over_largest(fulfilled), _over_largest(per_candidate)
    totals = {name: sum(getattr(each, name) for each in groups) for name in SHARED}
    ratios = zip(groups, fulfilled, impact, per_candidate, selection, strict=True)
    return ExposureStep(
        start=tally.start,
        user_query=tally.user_query,
        lists=tally.lists,
        held=tally.held,
        outside=tally.outside,
        turned=_share(tally.turned, tally.lists),
        undone=tally.undone / VIEW,
        impact_ratio=min((each for each in impact if each is not None), default=None),
        groups=tuple(_group(each, totals, *rest) for each, *rest in ratios),
    )


def _group(each: GroupTally, totals: Mapping[str, int], *ratios: float | None) -> GroupExposure:
    def part(name: str) -> float | None:
        return _share(getattr(each, name), totals[name])

    fulfilled, impact, per_candidate, selection = ratios
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
        looks_per_candidate=per_candidate,
        fulfilled=fulfilled,
        impact_ratio=impact,
        selection_ratio=selection,
    )


def _over_largest(ratios: Sequence[float | None]) -> list[float | None]:
    largest = max((each for each in ratios if each is not None), default=0.0)
    return [None if each is None else _share(each, largest) for each in ratios]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULAS) else text
