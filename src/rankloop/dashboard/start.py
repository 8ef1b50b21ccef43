"""Start page: how to put rankloop behind a search box."""

from __future__ import annotations

from litestar import Response, get

from rankloop.dashboard.access import AnyRequest
from rankloop.dashboard.pages import InjectedPages


@get("/")
async def start(request: AnyRequest, pages: InjectedPages) -> Response[str]:
    """Three lines, with the address filled in."""
    return pages.show(request, "start.html", section="/")
