"""Exposure page: who is seen, who should be, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from litestar import Response, get
from litestar.params import FromQuery

from rankloop.charts import PALETTE
from rankloop.service.extensions.fair.report import (
    AccountReport,
    AccountStep,
    ExposureReport,
)
from rankloop.service.extensions.fair.settings import FairSettings
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.routes.exposure import Minutes, report
from rankloop.service.pages.account import AccountBars, account_bars
from rankloop.service.pages.exposure_charts import account_chart
from rankloop.service.pages.overview_page import STRETCHES
from rankloop.service.pages.ranker_status import first_ranker
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest
from rankloop.service.service_facade import ServiceFacade

STEPS = 40
MOST = 30  # groups on the page; the report has all


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
    chart = account_chart(found.account, colours) if found.account else None
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
        course=course(found.account) if found.account else [],
        chart=chart,
        charts=chart is not None,
        minutes=minutes,
        stretches=STRETCHES,
    )


def first_fair(service: ServiceFacade) -> str:
    """The ranker to begin with: one that shares exposure, if there is one."""
    first = first_ranker(service)
    names = [first, *service.rankers()] if first else []
    return next((name for name in names if service.settings(name).of(FairSettings) is not None), first)


def group_names(found: ExposureReport) -> list[str]:
    """The groups of a report, those to whom most was due first."""
    due = {each.group: each.due for each in found.total.groups}
    due |= {each.group: each.due for each in (found.account.groups if found.account else ())}
    return sorted(due, key=lambda name: (-due[name], name))


def group_colours(found: ExposureReport) -> dict[str, str]:
    """A colour for each of the first groups, as many as stay apart."""
    return dict(zip(group_names(found), PALETTE, strict=False))


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
