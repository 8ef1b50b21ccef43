"""Page of what it learned: weights in words, two versions side by side, what is open, and one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from litestar import Response, get
from litestar.params import FromQuery, QueryParameter

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages.ranker_status import first_ranker
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest
from rankloop.service.reports.learned_weights import LearnedWeight

QUERIES = 10  # on the page
VERSIONS = 30  # to choose from
DAY = 86_400.0  # seconds
HALF = 100.0  # units of a bar's way to either side
Version = Annotated[int | None, QueryParameter(ge=1)]


@dataclass(frozen=True, slots=True)
class WeightBar:
    """A weight around a middle line, with its standard deviation as a whisker."""

    x: float
    width: float
    low: float
    high: float


@get("/learned")
async def learned(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    since: Version = None,
    version: Version = None,
) -> Response[str]:
    """What is in use, or a past version, and since another one."""
    service = context.service
    name = ranker or first_ranker(service)
    if not name:
        return pages.show(request, "learned.html", section="/learned", ranker="")
    found = await context.ask(partial(service.learned, name, version))
    kept = await context.ask(partial(service.versions, name))
    versions = [number for number, _ in kept][::-1]
    compared = since or a_day_before([each for each in kept if each[0] < found.version])
    between = None
    if compared is not None and not found.reason:
        between = await context.ask(partial(service.learned_between, name, compared, version))
    return pages.show(
        request,
        "learned.html",
        section="/learned",
        ranker=name,
        found=found,
        rows=list(zip(found.weights, bars(found.weights), strict=True)),
        scaling=service.settings(name).scaling,
        between=between,
        versions=versions[:VERSIONS],
        chosen=version,
        queries=await context.ask(partial(service.frequent_queries, name, most=QUERIES)),
        tries=service.mode(name) == "explore",
        mode=service.mode(name),
    )


@get("/learned/search")
async def search(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    user_query: Annotated[str, QueryParameter(max_length=2000)] = "",
    ranker: FromQuery[str] = "",
) -> Response[str]:
    """One query by its text."""
    name = ranker or first_ranker(context.service)
    found = await context.ask(partial(context.service.query_report, name, user_query))
    return pages.show(
        request,
        "search_report.html",
        section="/learned",
        ranker=name,
        found=found,
        tries=context.service.mode(name) == "explore",
        mode=context.service.mode(name),
    )


def a_day_before(versions: Sequence[tuple[int, float]]) -> int | None:
    """The version to compare with, of those that were kept and when: yesterday's, or the oldest there is.

    >>> a_day_before([(3, 0.0), (8, 10.0), (9, 90_000.0)]), a_day_before([])
    (8, None)
    """
    old = [number for number, at in versions if at <= versions[-1][1] - DAY]
    return old[-1] if old else versions[0][0] if versions else None


def bars(weights: Sequence[LearnedWeight]) -> list[WeightBar]:
    """The weights as bars, on one scale.

    >>> weight = LearnedWeight("a", -1.0, 0.5, "settled", 0.98, "less is better", "decides most")
    >>> [bar] = bars([weight])
    >>> round(bar.x), round(bar.width), abs(round(bar.low)), round(bar.high)
    (33, 67, 0, 67)
    """
    longest = max((abs(each.weight) + (each.spread or 0.0) for each in weights), default=0.0) or 1.0
    return [_bar(each.weight, each.spread or 0.0, HALF / longest) for each in weights]


def _bar(weight: float, spread: float, unit: float) -> WeightBar:
    middle, length = HALF + weight * unit, abs(weight) * unit
    return WeightBar(min(HALF, middle), length, middle - spread * unit, middle + spread * unit)
