"""Job routes: what was asked for that takes a while, how far it is, and taking it back."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import Response, get, post
from litestar.params import FromPath, HeaderParameter, JSONBody
from msgspec import Meta, Struct

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.route_decorators import AnyRequest, key_of, needs
from rankloop.service.operations.jobs import JobReport

ADMIN = [needs("admin")]
IdempotencyKey = Annotated[
    str,
    HeaderParameter(
        name="Idempotency-Key", description="the same key is the same job, whenever it comes", max_length=200
    ),
]


class CancelBody(Struct, forbid_unknown_fields=True):
    """Why a job is cancelled."""

    reason: Annotated[str, Meta(min_length=1, max_length=200)] = "it was cancelled"


def answered(report: JobReport) -> Response[JobReport]:
    """200 for a job that has ended, 202 for one that is under way."""
    return Response(report, status_code=200 if report.ended else 202)


@get("/v1/jobs", guards=ADMIN, summary="Long jobs")
async def jobs(context: InjectedContext) -> list[JobReport]:
    """Those under way and those that have ended, of all rankers, the newest first."""
    return context.service.jobs()


@get("/v1/jobs/{number:int}", guards=ADMIN, summary="How far a job is")
async def job(number: FromPath[int], context: InjectedContext) -> JobReport:
    """A job as of now."""
    return context.service.job(number)


@post("/v1/jobs/{number:int}/cancel", status_code=200, guards=ADMIN, summary="Cancel a job")
async def cancel(
    number: FromPath[int], data: JSONBody[CancelBody], context: InjectedContext, request: AnyRequest
) -> JobReport:
    """Cancel it, and change nothing; 409 if it has ended."""
    said = {"by": key_of(request), "reason": data.reason}
    return await context.ask(partial(context.service.cancel_job, number, **said))
