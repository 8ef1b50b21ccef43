"""Model routes: the version in use, past ones, going back, forgetting, and how much of the past is kept."""

from __future__ import annotations

from functools import partial

from litestar import get, post
from litestar.params import FromQuery, JSONBody
from msgspec import Struct

from rankloop.service.errors import RequestError
from rankloop.service.http.auth import needs
from rankloop.service.http.context import InjectedContext
from rankloop.service.http.schemas import ForgetBody, RetainBody, RollbackBody
from rankloop.service.operations.retention import Retained

ADMIN = [needs("admin")]
DAY = 86_400.0  # seconds


class Version(Struct):
    """A version to which a rollback is quick; it can go to any other as well."""

    version: int
    at: float


class Models(Struct):
    """The model in use, and the past ones that are kept whole."""

    ranker: str
    version: int
    policy: str
    lists: int
    features: list[str]
    snapshots: list[Version]


class Changed(Struct):
    """The version after a change."""

    ranker: str
    version: int


@get("/v1/models", guards=ADMIN, summary="The model in use and past ones")
async def models(context: InjectedContext, ranker: FromQuery[str] = "default") -> Models:
    """What there is to go back to."""
    model = context.service.model(ranker)
    versions = await context.ask(partial(context.service.versions, ranker))
    return Models(
        ranker=ranker,
        version=model.version,
        policy=model.policy.name,
        lists=model.lists,
        features=context.service.schema(ranker),
        snapshots=[Version(seq, at) for seq, at in versions],
    )


@post("/v1/rollback", status_code=200, guards=ADMIN, summary="Go back to an earlier model")
async def rollback(data: JSONBody[RollbackBody], context: InjectedContext) -> Changed:
    """Go back to a version, or to that of a moment; nothing is deleted, so it can be undone."""
    job = partial(context.service.rollback, data.ranker, to=data.to, moment=data.moment)
    return Changed(data.ranker, await context.ask(job))


@post("/v1/forget", status_code=200, guards=ADMIN, summary="Learn as if events had never been")
async def forget(data: JSONBody[ForgetBody], context: InjectedContext) -> Changed:
    """Learn the whole log again without these events."""
    job = partial(context.service.forget, data.ranker, data.event_ids)
    return Changed(data.ranker, await context.ask(job))


@post("/v1/retain", status_code=200, guards=ADMIN, summary="Keep only the recent past")
async def retain(data: JSONBody[RetainBody], context: InjectedContext) -> Retained:
    """Delete what is older, as far as the model can do without it; what was learned from it stays."""
    service, since = context.service, data.since
    if (since is None) == (data.days is None):
        raise RequestError("expected either since (seconds since 1970) or days, and one of them only")
    if since is None:
        since = service.store.time(service.clock()) - DAY * (data.days or 0)
    return await context.ask(partial(service.retain, data.ranker, since=since))
