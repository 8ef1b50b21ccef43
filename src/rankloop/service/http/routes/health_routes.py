"""Monitoring routes: health, diagnosis of events, traffic over time, and metrics."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

from litestar import MediaType, Response, get, route
from litestar.params import FromQuery, QueryParameter
from msgspec import Struct

from rankloop import __version__
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.recent_value import RecentHealth
from rankloop.service.http.route_decorators import needs
from rankloop.service.operations.rebuild_requests import about_unused
from rankloop.service.reports.service_facts import Diagnosis, doctor, with_causes
from rankloop.service.reports.traffic import By, Overview, by_steps
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import StoreError

ADMIN = [needs("admin")]
Minutes = Annotated[int, QueryParameter(ge=1, le=525_600, description="how far to look back")]


class Alive(Struct):
    """Whether the service is well."""

    ok: bool
    version: str


class Insight(Struct):
    """A stretch of time as a whole, and in steps; steps without a list are left out."""

    ranker: str
    total: Overview
    steps: list[Overview]


class Ready(Struct):
    """Whether this process is to get requests, and if not, why."""

    ready: bool
    reason: str = ""


@route("/v1/health", http_method=["GET", "HEAD"], summary="Is it well?")
async def health(context: InjectedContext) -> Response[Alive]:
    """Whether everything keeps up, with status 503 while it does not; needs no key and says nothing else."""
    ok = await context.ask(partial(_well, context.health))
    return Response(Alive(ok, __version__), status_code=200 if ok else 503)


@route("/v1/ready", http_method=["GET", "HEAD"], summary="Is it to get requests?")
async def ready(context: InjectedContext) -> Response[Ready]:
    """For load balancers: 503 until all logs are folded, and while it is ending; needs no key."""
    reason = ""
    if context.draining.is_set() or context.stopping.is_set():
        reason = "it is ending: requests under way are finished"
    elif context.service.starting:
        reason = "it is starting: the logs of its rankers are being folded"
    return Response(Ready(not reason, reason), status_code=503 if reason else 200)


def _well(health: RecentHealth) -> bool:
    try:
        return health.look().ok
    except StoreError:  # it cannot even be read
        return False


@get("/v1/doctor", guards=ADMIN, summary="Do the clicks arrive?")
async def diagnosis(context: InjectedContext, minutes: Minutes = 1440) -> Diagnosis:
    """What was made of recent events, and what is wrong with them or with the service if anything is."""
    job = partial(diagnose, context.service, minutes)
    return await context.ask(job)


@get("/v1/overview", guards=ADMIN, summary="Does it learn, and what does it cost?")
async def insight(
    context: InjectedContext,
    ranker: FromQuery[str] = "default",
    minutes: Minutes = 1440,
    steps: Annotated[int, QueryParameter(ge=1, le=1000)] = 50,
    by: Annotated[By, QueryParameter(description="steps of equal time, or of equally many lists")] = "time",
) -> Insight:
    """Clicks, certainty, exploration and fallbacks of a stretch of time."""
    job = partial(look, context.service, ranker, minutes=minutes, steps=steps, by=by)
    return await context.ask(job)


def diagnose(service: ServiceFacade, minutes: int) -> Diagnosis:
    """Whether the clicks of the last minutes arrived; what is wrong with the service itself comes first."""
    since, until = _stretch(service, minutes)
    known = {name: service.ranker(name).view.configuration for name in service.rankers()}
    found = doctor(service.store, since=since, until=until, configurations=known)
    aged = [said for name in service.rankers() for said in about_unused(service.ranker(name), service.store)]
    return with_causes(replace(found, causes=(*service.health().causes, *found.causes)), aged)


def look(service: ServiceFacade, ranker: str, *, minutes: int, steps: int, by: By) -> Insight:
    """What happened in the last minutes."""
    store, name = service.store, service.ranker(ranker).name
    since, until = _stretch(service, minutes)
    return Insight(name, *by_steps(store, name, since=since, until=until, steps=steps, by=by))


@get("/metrics", guards=[needs("rank")], media_type=MediaType.TEXT, summary="Numbers for Prometheus")
async def metrics(context: InjectedContext) -> Response[bytes]:
    """In Prometheus' text format."""
    text = await context.ask(context.metrics.text)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _stretch(service: ServiceFacade, minutes: int) -> tuple[float, float]:
    """The last minutes by the log's time, to the end of this second."""
    now = service.store.time(service.clock())
    return now - 60 * minutes, now + 1
