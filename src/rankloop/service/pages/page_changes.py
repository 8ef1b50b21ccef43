"""Changes for pages: whether a ranker is still as a page has it, and the head of that page if it is not."""

from __future__ import annotations

from importlib.resources import files

from litestar import Response, get
from litestar.params import FromQuery

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages.page_assets import A_MOMENT
from rankloop.service.pages.ranker_status import mark_of
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, local_path

SCRIPT = files("rankloop.service.pages").joinpath("live.js").read_bytes()


@get("/changes")
async def changes(
    request: AnyRequest,
    pages: InjectedPages,
    context: InjectedContext,
    ranker: FromQuery[str] = "",
    version: FromQuery[str] = "",
    section: FromQuery[str] = "",
    path: FromQuery[str] = "/overview",
) -> Response[str]:
    """Answer 204 if the ranker is as the page has it, otherwise the head of the page anew."""
    if version == mark_of(context.service, ranker):
        return Response("", status_code=204)
    return pages.show(request, "_status.html", section=section, path=local_path(path))


@get("/assets/live.js")
async def script() -> Response[bytes]:
    """Swaps in what has changed; the pages work without it."""
    return Response(SCRIPT, media_type="text/javascript; charset=utf-8", headers=A_MOMENT)
