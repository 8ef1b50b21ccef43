"""Event ingestion: what users did with their lists, acknowledged when it is durable."""

from __future__ import annotations

from collections import Counter
from functools import partial

from litestar import delete, post
from litestar.params import FromQuery, JSONBody
from msgspec import Struct

from rankloop.service.events.user_event import Receipt
from rankloop.service.http.app_context import AppContext, InjectedContext
from rankloop.service.http.gate import limit, source_of
from rankloop.service.http.http_errors import AnyRequest
from rankloop.service.http.rank_body import EventsBody
from rankloop.service.http.route_decorators import asks_first, needs


class Receipts(Struct):
    """A receipt for each event, in the order they came; all of them are durable."""

    receipts: list[Receipt]


@post("/v1/events", status_code=200, before_request=asks_first("page"), summary="Report what users did")
async def events(data: JSONBody[EventsBody], request: AnyRequest) -> Receipts:
    """A verdict for each event, given when all of them are durable.

    Late, repeated and unknown events are welcome. If there is no answer, send the same again with the same
    event ids: nothing is counted twice.
    """
    context: AppContext = request.app.state.context
    limit(context, request.scope, len(data.events))
    service, patience = context.service, context.settings.patience
    begin = partial(service.enter, data.events, source=partial(source_of, context, request.scope))
    entered = await context.event_waiter.run(begin, seconds=patience)
    learn = partial(service.learn, {ranker for ranker, _ in entered})
    if service.learns_by_itself:
        learn()  # only wakes a thread
    else:
        await context.ask(learn)
    receipts = [receipt for _, receipt in entered]
    for verdict, count in Counter(each.verdict for each in receipts).items():
        context.metrics.events(verdict).inc(count)
    return Receipts(receipts)


class Discarded(Struct):
    """How many events were deleted."""

    events: int


@delete(
    "/v1/events/strays", status_code=200, guards=[needs("admin")], summary="Delete orphans and duplicates"
)
async def discard_strays(
    context: InjectedContext, since: FromQuery[float | None] = None, until: FromQuery[float | None] = None
) -> Discarded:
    """Delete orphans, duplicates and what could not be understood: what a flood has left."""
    job = partial(context.service.discard_strays, since=since, until=until)
    return Discarded(await context.ask(job))
