"""Start page: how to put rankloop behind a search box."""

from __future__ import annotations

from litestar import Response, get

from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest

WAYS = {
    "/overview": "What is it worth, does it learn, what does that cost?",
    "/learned": "What it has learned, in words, and what is still open.",
    "/query": "Any list that was shown, and why it looked as it did.",
    "/recommend": "What someone would be recommended, and why.",
    "/exposure": "Whose results are seen, and whose should be.",
    "/doctor": "Do the clicks arrive, and are they understood?",
    "/decisions": "Who decided what, when and why.",
    "/settings": "What is in force, and what a change would do.",
}


@get("/")
async def start(request: AnyRequest, pages: InjectedPages) -> Response[str]:
    """Three lines, with the address filled in."""
    return pages.show(request, "start.html", section="/", ways=WAYS)
