"""Lists page: the lists that were shown, found by query, by clicks and by mode, page by page."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from litestar import Response, get
from litestar.params import FromQuery, QueryParameter

from rankloop.service.core.ranker_settings import MODES
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.routes.report_routes import line_of
from rankloop.service.pages.ranker_status import first_ranker
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest
from rankloop.service.store import ListFilter

LISTS = 30  # on a page
CLICKS = {"": "clicked or not", "yes": "with a click", "no": "without a click"}
TRIES = ("explore",)  # modes in which something is tried out


@get("/query")
async def lists(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    text: Annotated[str, QueryParameter(max_length=200)] = "",
    clicked: FromQuery[Literal["", "yes", "no"]] = "",
    mode: Annotated[str, QueryParameter(max_length=20)] = "",
    before: Annotated[int | None, QueryParameter(ge=1)] = None,
) -> Response[str]:
    """The newest ones, or those before an entry; one more is asked for, to know whether there are more."""
    name = ranker or first_ranker(context.service)
    choice = {"yes": True, "no": False}.get(clicked)
    wanted = ListFilter(text=text.strip(), clicked=choice, mode=mode, before=before)
    ask = partial(context.service.find_lists, name, wanted, last=LISTS + 1)
    found = [line_of(each) for each in (await context.ask(ask) if name else [])]
    lines = found[:LISTS]
    return pages.show(
        request,
        "lists.html",
        section="/query",
        ranker=name,
        lines=lines,
        fair=any(line.turned is not None for line in lines),
        text=text,
        clicked=clicked,
        mode=mode,
        before=before,
        older=lines[-1].seq if len(found) > LISTS else None,
        narrowed=bool(wanted.text or clicked or mode),
        clicks=CLICKS,
        modes=MODES,
        tries=TRIES,
        within=wanted.within,
    )
