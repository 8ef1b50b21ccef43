"""Exposure routes: what each group got and what was due to it, as JSON."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import get
from litestar.params import FromPath, QueryParameter

from rankloop.service.extensions.fair.report import ExposureReport
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.route_decorators import needs
from rankloop.service.service_facade import ServiceFacade

ADMIN = [needs("admin")]
Minutes = Annotated[int, QueryParameter(ge=1, le=5_256_000, description="how far to look back")]
Steps = Annotated[int, QueryParameter(ge=1, le=1000, description="of the account, of equally many lists")]


@get("/v1/rankers/{ranker:str}/exposure", guards=ADMIN, summary="Who is seen, and who should be")
async def exposure(
    ranker: FromPath[str], context: InjectedContext, minutes: Minutes = 1440, steps: Steps = 50
) -> ExposureReport:
    """Exposure by group: the account in force, and a stretch of time."""
    return await context.ask(partial(report, context.service, ranker, minutes, steps))


def report(service: ServiceFacade, ranker: str, minutes: int, steps: int) -> ExposureReport:
    """The last minutes by the log's time, to the end of this second."""
    until = service.store.time(service.clock()) + 1
    return service.exposure(ranker, since=until - 60 * minutes - 1, until=until, steps=steps)
