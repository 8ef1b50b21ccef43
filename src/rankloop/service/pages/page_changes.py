"""Stream for pages: says that something about a ranker has changed, so that the page looks again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from importlib.resources import files

from litestar import Response, get
from litestar.params import FromQuery
from litestar.response import Stream

from rankloop.service.http.app_context import AppContext, InjectedContext
from rankloop.service.pages.page_assets import A_MOMENT
from rankloop.service.pages.ranker_status import mark_of
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, local_path, session_of

SCRIPT = files("rankloop.service.pages").joinpath("live.js").read_bytes()
LOOK_EVERY = 0.5  # seconds between two looks at a ranker's numbers, which are in memory
SPEAK_EVERY = 10.0  # seconds after which a stream says that nothing has changed


@get("/live", media_type="text/event-stream")
async def live(
    request: AnyRequest, pages: InjectedPages, context: InjectedContext, ranker: FromQuery[str] = ""
) -> Stream:
    """Server-sent events: a mark that changes when the page would; it ends with the session."""

    def may() -> bool:
        return pages.public or session_of(request, pages.sessions) is not None

    full = context.streams >= context.settings.streams
    return Stream(_full() if full else marks(context, ranker, may), media_type="text/event-stream")


@get("/live/status")
async def status(
    request: AnyRequest,
    pages: InjectedPages,
    section: FromQuery[str] = "",
    path: FromQuery[str] = "/overview",
) -> Response[str]:
    """The head of a page alone, for pages that are not made again."""
    return pages.show(request, "_status.html", section=section, path=local_path(path))


@get("/assets/live.js")
async def script() -> Response[bytes]:
    """Swaps in what has changed; the pages work without it."""
    return Response(SCRIPT, media_type="text/javascript; charset=utf-8", headers=A_MOMENT)


async def _full() -> AsyncIterator[bytes]:
    """As many look as may: whoever comes now looks by the clock."""
    yield b"event: full\ndata: -\n\n"


async def marks(context: AppContext, ranker: str, may: Callable[[], bool]) -> AsyncIterator[bytes]:
    """The mark of a ranker, when it is another one and now and then, for as long as one may look."""
    context.streams += 1
    said, at = b"", 0.0
    try:
        while not context.stopping.is_set() and may():
            now = mark_of(context.service, ranker).encode()
            if now != said or time.monotonic() - at > SPEAK_EVERY:
                said, at = now, time.monotonic()
                yield b"event: state\ndata: " + said + b"\n\n"
            await asyncio.sleep(LOOK_EVERY)
    finally:
        context.streams -= 1
