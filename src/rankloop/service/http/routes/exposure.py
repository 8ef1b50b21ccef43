"""Exposure routes: what each group got and what was due to it, as JSON and as a table to export."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from rankloop.service.extensions.fair.report import ExposureReport, to_csv
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.route_decorators import needs
from rankloop.service.service_facade import ServiceFacade

ADMIN = [needs("admin")]
Minutes = Annotated[int, QueryParameter(ge=1, le=5_256_000, description="how far to look back")]
Steps = Annotated[int, QueryParameter(ge=1, le=1000, description="of equal time")]


@get("/v1/rankers/{ranker:str}/exposure", guards=ADMIN, summary="Who is seen, and who should be")
async def exposure(
    ranker: FromPath[str], context: InjectedContext, minutes: Minutes = 1440, steps: Steps = 50
) -> ExposureReport:
    """Exposure by group: the account in force, and a stretch of time as a whole, in steps and by query."""
    return await context.ask(partial(report, context.service, ranker, minutes, steps))


@get("/v1/rankers/{ranker:str}/exposure.csv", guards=ADMIN, summary="Who is seen, as a table")
async def exposure_csv(
    ranker: FromPath[str], context: InjectedContext, minutes: Minutes = 1440, steps: Steps = 50
) -> Response[str]:
    """A row for each group in each step of time, as CSV."""
    found = await context.ask(partial(report, context.service, ranker, minutes, steps))
    name = f'attachment; filename="exposure-{found.until:.0f}.csv"'
    return Response(to_csv(found), media_type="text/csv", headers={"Content-Disposition": name})


def report(service: ServiceFacade, ranker: str, minutes: int, steps: int) -> ExposureReport:
    """The last minutes by the log's time, to the end of this second."""
    until = service.store.time(service.clock()) + 1
    return service.exposure(ranker, since=until - 60 * minutes - 1, until=until, steps=steps)
