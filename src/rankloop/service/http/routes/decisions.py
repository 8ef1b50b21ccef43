"""Decision routes: who decided what, when and why."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import get, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.rank_body import UndoBody
from rankloop.service.http.route_decorators import AnyRequest, key_of, needs
from rankloop.service.operations.undo import UndoPreview
from rankloop.service.reports.decision_log import Decided


@get("/v1/decisions", guards=[needs("admin")], summary="Who decided what, and why")
async def decisions(
    context: InjectedContext,
    ranker: Annotated[str, QueryParameter(description="only about this one")] = "",
    kind: FromQuery[str] = "",
    who: Annotated[str, QueryParameter(description="the name of a key")] = "",
    last: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> list[Decided]:
    """Operators' decisions, the newest first; those about the service as a whole have no ranker."""
    job = partial(context.service.decided, ranker=ranker or None, kind=kind, who=who, last=last)
    return await context.ask(job)


@get("/v1/decisions/{decision:int}/undo", guards=[needs("admin")], summary="What an undo would do")
async def preview_undo(decision: FromPath[int], context: InjectedContext) -> UndoPreview:
    """What undoing a decision would do, or why it cannot be undone; changes nothing."""
    return await context.ask(partial(context.service.undo_preview, decision))


@post(
    "/v1/decisions/{decision:int}/undo", status_code=200, guards=[needs("admin")], summary="Undo a decision"
)
async def undo(
    decision: FromPath[int], data: JSONBody[UndoBody], context: InjectedContext, request: AnyRequest
) -> UndoPreview:
    """Restore what was in force before, by a new decision; 409 without the `confirm` of the preview."""
    said = {"confirm": data.confirm, "reason": data.reason, "by": key_of(request)}
    return await context.ask(partial(context.service.undo, decision, **said))
