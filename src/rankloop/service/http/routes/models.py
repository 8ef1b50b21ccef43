"""Model routes: the version in use, past ones, going back, forgetting, and how much of the past is kept."""

from __future__ import annotations

from functools import partial
from typing import Any

from litestar import Response, get, post
from litestar.params import FromQuery, JSONBody
from msgspec import Struct

from rankloop.errors import RequestError
from rankloop.naming import write_name
from rankloop.service.events.event_selection import EventSelection
from rankloop.service.http.app_context import AppContext, InjectedContext
from rankloop.service.http.client_address import network_of
from rankloop.service.http.rank_body import ForgetBody, RetainBody, RetireBody, RollbackBody
from rankloop.service.http.route_decorators import AnyRequest, key_of, needs
from rankloop.service.http.routes.job_routes import IdempotencyKey, answered
from rankloop.service.operations.jobs import JobReport
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


@get("/v1/models", guards=ADMIN, summary="The model in use and past ones")
async def models(context: InjectedContext, ranker: FromQuery[str] = "default") -> Models:
    """What there is to go back to."""
    model = context.service.model(ranker)
    versions = await context.ask(partial(context.service.versions, ranker))
    return Models(
        ranker=ranker,
        version=model.version,
        policy=write_name(model.policy),
        lists=model.lists,
        features=context.service.schema(ranker),
        snapshots=[Version(seq, at) for seq, at in versions],
    )


@get("/v1/models/portable", guards=ADMIN, summary="What a model computes, as plain arrays")
async def portable_model(
    context: InjectedContext,
    ranker: FromQuery[str] = "default",
    version: FromQuery[int | None] = None,
    by_document: FromQuery[bool] = False,
) -> dict[str, Any]:
    """Weights, scaling and names of features, with past lists and their scores to check a copy on.

    With `by_document`, of what the same log teaches if each document has a score of its own.
    """
    ask = partial(context.service.portable, ranker, version=version, by_document=by_document)
    return (await context.ask(ask)).to_json()


@post("/v1/rollback", status_code=200, guards=ADMIN, summary="Go back to an earlier model")
async def rollback(
    data: JSONBody[RollbackBody],
    context: InjectedContext,
    request: AnyRequest,
    key: IdempotencyKey = "",
) -> Response[JobReport]:
    """Go back to a version, or to that of a moment; nothing is deleted, so it can be undone.

    A job: 200 if it is done, 202 if it is under way.
    """
    said = {"by": key_of(request), "reason": data.reason, "key": key}
    ask = partial(context.service.rollback, data.ranker, to=data.to, moment=data.moment, **said)
    return answered(await context.ask(ask))


@post("/v1/forget", status_code=200, guards=ADMIN, summary="Learn as if events had never been")
async def forget(
    data: JSONBody[ForgetBody],
    context: InjectedContext,
    request: AnyRequest,
    key: IdempotencyKey = "",
) -> Response[JobReport]:
    """Learn the whole log again without these events, or those of a client, an address or a time.

    A job: 200 if it is done, 202 if it is under way.
    """
    said = {"by": key_of(request), "reason": data.reason, "key": key}
    ask = partial(context.service.forget, data.ranker, chosen_events(data, context), **said)
    return answered(await context.ask(ask))


@post("/v1/features/retire", status_code=200, guards=ADMIN, summary="Learn as if features had never been")
async def retire_features(
    data: JSONBody[RetireBody],
    context: InjectedContext,
    request: AnyRequest,
    key: IdempotencyKey = "",
) -> Response[JobReport]:
    """Learn the whole log again without some features, and take them off the schema.

    A job: 200 if it is done, 202 if it is under way.
    """
    said = {"by": key_of(request), "reason": data.reason, "key": key}
    retire = context.service.retire_features
    return answered(
        await context.ask(partial(retire, data.ranker, data.names, unused_for=data.unused_for, **said))
    )


def chosen_events(data: ForgetBody, context: AppContext) -> list[str] | EventSelection:
    """The events that are to be forgotten: their ids, or which are meant."""
    source = context.sources.address(network_of(data.address)) if data.address else data.source
    selection = EventSelection(
        client_id=data.client_id,
        session_id=data.session_id,
        source=source,
        since=data.since,
        until=data.until,
    )
    if data.event_ids and (selection.has or data.address):
        raise RequestError("expected event_ids or a choice of events, such as a client_id; found both")
    return data.event_ids or selection


@post("/v1/retain", status_code=200, guards=ADMIN, summary="Keep only the recent past")
async def retain(data: JSONBody[RetainBody], context: InjectedContext, request: AnyRequest) -> Retained:
    """Delete what is older, as far as the model can do without it; what was learned from it stays."""
    service, since = context.service, data.since
    if (since is None) == (data.days is None):
        raise RequestError("expected either since (seconds since 1970) or days, and one of them only")
    if since is None:
        since = service.store.time(service.clock()) - DAY * (data.days or 0)
    said = {"by": key_of(request), "reason": data.reason}
    return await context.ask(partial(service.retain, data.ranker, since=since, **said))
