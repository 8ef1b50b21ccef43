"""Exposure page: who is seen, who should be, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from litestar import Response, get
from litestar.params import FromQuery

from rankloop.charts import PALETTE
from rankloop.service import ServiceFacade
from rankloop.service.extensions.fair.report import (
    AccountReport,
    AccountStep,
    ExposureReport,
    ExposureStep,
    GroupExposure,
    to_csv,
)
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.routes.exposure import Minutes, report
from rankloop.service.pages.account import AccountBars, account_bars
from rankloop.service.pages.exposure_charts import exposure_charts
from rankloop.service.pages.overview_page import STRETCHES
from rankloop.service.pages.ranker_status import first_ranker
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest

STEPS = 40
MOST = 30  # groups on the page; the export has all


@dataclass(frozen=True, slots=True)
class Segment:
    """A group's part of a bar from 0 to 100."""

    group: str
    share: float
    colour: str
    x: float


@get("/exposure")
async def exposure(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    minutes: Minutes = 1440,
) -> Response[str]:
    """Groups, the account, its course, and what it costs."""
    service = context.service
    name = ranker or first_fair(service)
    if not name:
        return pages.show(request, "exposure.html", section="/exposure", ranker="")
    found = await context.ask(partial(report, service, name, minutes, STEPS))
    groups, colours = group_names(found), group_colours(found)
    charts = list(exposure_charts(found.account, colours)) if found.account else []
    seen = {each.group: each for each in found.total.groups}
    return pages.show(
        request,
        "exposure.html",
        section="/exposure",
        ranker=name,
        rankers=service.rankers(),
        found=found,
        groups=[seen[group] for group in groups if group in seen],
        left_out=max(len(groups) - MOST, 0),
        most=MOST,
        colours=colours,
        account=_bars(found.account, groups[:MOST], colours) if found.account else None,
        shares=in_words(found.account.settings) if found.account else "",
        queries=[(each, segments(each, groups, colours)) for each in found.queries],
        course=course(found.account) if found.account else [],
        drawn=charts,
        charts=bool(charts),
        minutes=minutes,
        stretches=STRETCHES,
    )


@get("/exposure.csv")
async def as_table(
    context: InjectedContext, ranker: FromQuery[str], minutes: Minutes = 1440
) -> Response[str]:
    """A row for each group in each step of time."""
    found = await context.ask(partial(report, context.service, ranker, minutes, STEPS))
    return Response(to_csv(found), media_type="text/csv", headers=_file(found, "csv"))


@get("/exposure.json")
async def as_json(
    context: InjectedContext, ranker: FromQuery[str], minutes: Minutes = 1440
) -> Response[ExposureReport]:
    """Everything that the page says, as the API gives it."""
    found = await context.ask(partial(report, context.service, ranker, minutes, STEPS))
    return Response(found, headers=_file(found, "json"))


def first_fair(service: ServiceFacade) -> str:
    """The ranker to begin with: one that shares exposure, if there is one."""
    first = first_ranker(service)
    names = [first, *service.rankers()] if first else []
    return next((name for name in names if service.settings(name).fair is not None), first)


def group_names(found: ExposureReport) -> list[str]:
    """The groups of a report, those to whom most was due first."""
    due = {each.group: each.due for each in found.total.groups}
    due |= {each.group: each.due for each in (found.account.groups if found.account else ())}
    return sorted(due, key=lambda name: (-due[name], name))


def group_colours(found: ExposureReport) -> dict[str, str]:
    """A colour for each of the first groups, as many as stay apart."""
    return dict(zip(group_names(found), PALETTE, strict=False))


def segments(step: ExposureStep, groups: Sequence[str], colours: Mapping[str, str]) -> list[Segment]:
    """Who got the looks of a step, in the order of the page."""
    found: list[Segment] = []
    shares = {each.group: _looks(each) for each in step.groups}
    for group in groups:
        x = sum(each.share for each in found)
        if shares.get(group):
            found.append(Segment(group, shares[group], colours.get(group, ""), x))
    return found


def course(account: AccountReport) -> list[tuple[AccountStep, dict[str, float]]]:
    """The steps of an account, and who was ahead after each."""
    return [(step, {each.group: each.ahead for each in step.groups}) for step in account.steps]


def in_words(settings: Mapping[str, Any]) -> str:
    """How exposure is shared, after a colon.

    >>> in_words({"shares": {"ours": 0.25, "theirs": 0.5}, "at_least": {"theirs": 0.1}})
    'ours 25 %, theirs 50 %, others the rest; theirs at least 10 %'
    """
    plain = {"candidates": "in proportion to the candidates of each", "equal": "the same for each"}
    shares, floors = settings["shares"], settings["at_least"]
    if isinstance(shares, str):
        told = [plain[shares]]
    else:
        told = [_parts(shares) + (", others the rest" if sum(shares.values()) < 1 else "")]
    return "; ".join([*told, *([_parts(floors, " at least")] if floors else [])])


def _bars(account: AccountReport, groups: Sequence[str], colours: Mapping[str, str]) -> AccountBars:
    ahead = {each.group: each.ahead for each in account.groups}
    shown = {group: ahead[group] for group in groups if group in ahead}
    return account_bars(shown, account.tolerance, colours)


def _parts(shares: Mapping[str, float], word: str = "") -> str:
    return ", ".join(f"{group}{word} {100 * share:.3g} %" for group, share in shares.items())


def _looks(each: GroupExposure) -> float:
    return 100 * (each.share_of_exposure or 0.0)


def _file(found: ExposureReport, kind: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="exposure-{found.until:.0f}.{kind}"'}
