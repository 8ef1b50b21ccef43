"""Routes for what was learned: weights, two versions side by side, and a query by its text."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import get
from litestar.params import FromQuery, QueryParameter
from msgspec import Struct

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.route_decorators import needs
from rankloop.service.reports.learned_weights import Learned, LearnedBetween
from rankloop.service.reports.query_report import QueryLine, QueryReport

ADMIN = [needs("admin")]
Version = Annotated[int | None, QueryParameter(ge=1, description="of the model; without it, what is in use")]


class Weights(Struct):
    """What a version has learned; with `since`, also what is other than in that one."""

    learned: Learned
    between: LearnedBetween | None = None


@get("/v1/learned", guards=ADMIN, summary="What it has learned, in words")
async def learned(
    context: InjectedContext,
    ranker: FromQuery[str] = "default",
    version: Version = None,
    since: Annotated[int | None, QueryParameter(ge=1, description="a version to compare with")] = None,
) -> Weights:
    """A weight for each feature, in numbers and in words, and how it has changed since another version."""
    service = context.service
    found = await context.ask(partial(service.learned, ranker, version))
    if since is None:
        return Weights(found)
    return Weights(found, await context.ask(partial(service.learned_between, ranker, since, version)))


@get("/v1/learned/searches", guards=ADMIN, summary="The most frequent queries, and what is open in them")
async def searches(
    context: InjectedContext,
    ranker: FromQuery[str] = "default",
    most: Annotated[int, QueryParameter(ge=1, le=50)] = 10,
) -> list[QueryLine]:
    """How much of each is settled, and how many clicks the rest will need."""
    return await context.ask(partial(context.service.frequent_queries, ranker, most=most))


@get("/v1/learned/search", guards=ADMIN, summary="A query: its clicks, its order, and what is open")
async def search(
    context: InjectedContext,
    user_query: Annotated[str, QueryParameter(max_length=2000)],
    ranker: FromQuery[str] = "default",
) -> QueryReport:
    """One query by its exact text: its lists and clicks, its order now beside yours, what is not settled."""
    return await context.ask(partial(context.service.query_report, ranker, user_query))
