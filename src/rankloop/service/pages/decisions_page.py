"""Decisions page: who decided what, when and why, and the keys there are, by name."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from litestar import Response, get, post
from litestar.params import FromPath, QueryParameter
from litestar.response import Redirect

from rankloop.errors import RequestError
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.operations.undo import NEVER
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, own_site, signed_form
from rankloop.service.reports.decision_log import KINDS

LAST = 100  # decisions on the page


@get("/decisions")
async def decisions(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    who: Annotated[str, QueryParameter(max_length=200)] = "",
    kind: Annotated[str, QueryParameter(max_length=20)] = "",
    undone: Annotated[int | None, QueryParameter(ge=1)] = None,
) -> Response[str]:
    """The newest first; of one key, or of one kind, if it is named."""
    service = context.service
    told = await context.ask(partial(service.decided, who=who, kind=kind, last=LAST))
    keys = await context.ask(service.keys.all)
    return pages.show(
        request,
        "decisions.html",
        section="/decisions",
        told=told,
        keys=keys,
        who=who,
        kind=kind,
        kinds=KINDS,
        never=NEVER,
        undone=undone,
    )


@get("/decisions/{decision:int}/undo")
async def undo(
    request: AnyRequest, pages: InjectedPages, context: InjectedContext, decision: FromPath[int]
) -> Response[str]:
    """What an undo would do, before anybody does it."""
    seen = await context.ask(partial(context.service.undo_preview, decision))
    return pages.show(request, "undo.html", section="/decisions", ranker=seen.ranker, seen=seen)


@post("/decisions/undo", guards=[own_site])
async def do_undo(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Undo it, as it was seen."""
    form, key = await signed_form(request, pages.sessions)
    number = str(form.get("decision", ""))
    if not (number.isascii() and number.isdigit()) or len(number) > 18:
        raise RequestError(f"a decision is a number, found {number[:20]!r}")
    decision = int(number)
    said = {"confirm": str(form.get("confirm", "")), "reason": str(form.get("reason", ""))}
    await context.ask(partial(context.service.undo, decision, **said, by=key))
    return Redirect("/decisions", status_code=303, query_params={"undone": str(decision)})
