"""Event ingestion: what users did with their lists, acknowledged when it is durable."""

from __future__ import annotations

from collections import Counter
from functools import partial

from litestar import post
from litestar.params import JSONBody
from msgspec import Struct

from rankloop.service.events.event import Receipt
from rankloop.service.http.auth import asks_first
from rankloop.service.http.context import AppContext
from rankloop.service.http.errors import AnyRequest
from rankloop.service.http.schemas import EventsBody


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
    service, patience = context.service, context.settings.patience
    entered = await context.event_waiter.run(partial(service.enter, data.events), seconds=patience)
    learn = partial(service.learn, {ranker for ranker, _ in entered})
    if service.learns_by_itself:
        learn()  # only wakes a thread
    else:
        await context.ask(learn)
    receipts = [receipt for _, receipt in entered]
    for verdict, count in Counter(each.verdict for each in receipts).items():
        context.metrics.events(verdict).inc(count)
    return Receipts(receipts)
