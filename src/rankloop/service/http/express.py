"""The express way for the one request that comes all the time.

A framework finds the route, makes objects of request and answer, and looks for what could be special: that
takes as long as making a small list. So `POST /v1/rank` is answered right here if everything about it is as
it should be. Anything else, a wrong key, a wrong body, a browser of another site, goes the long way as if
nobody had looked: there, and only there, is said what is wrong.
"""

from __future__ import annotations

from typing import Any

from litestar.types import ASGIApp, Receive, Send
from msgspec import MsgspecError

from rankloop.service.http.bodies import RankBody
from rankloop.service.http.face import Face
from rankloop.service.http.guard import bearer
from rankloop.service.http.ranking import PATH, ranked
from rankloop.service.http.reading import decoder
from rankloop.types import RankloopError

WRONG = (
    RankloopError,
    MsgspecError,
    RecursionError,
    UnicodeDecodeError,
)  # all of them before anything is done
JSON = (b"content-type", b"application/json")


class Express:
    """An app before another one."""

    def __init__(self, app: ASGIApp, face: Face) -> None:
        self._app, self._face = app, face

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if not _usual(scope):
            await self._app(scope, receive, send)
            return
        heard = await self._hear(receive)
        answer = await self._answer(scope, heard)
        if answer is None:
            await self._app(scope, _again(heard, receive), send)
            return
        scope["path_template"] = PATH
        length = (b"content-length", str(len(answer)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [JSON, length]})
        await send({"type": "http.response.body", "body": answer, "more_body": False})

    async def _hear(self, receive: Receive) -> list[Any]:
        """The messages of a request; not all of them if they are too long, or end too early."""
        heard, size, more = list[Any](), 0, True
        while more and size <= self._face.settings.max_body:
            message: Any = await receive()
            heard.append(message)
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        return heard

    async def _answer(self, scope: Any, heard: list[Any]) -> bytes | None:
        """The answer, unless something is wrong."""
        body = b"".join([message.get("body", b"") for message in heard])
        whole = heard[-1]["type"] == "http.request" and not heard[-1].get("more_body", False)
        if not whole or len(body) > self._face.settings.max_body:
            return None
        if not self._face.keys.opens("rank", bearer(scope)):
            return None
        try:
            return await ranked(self._face, decoder(RankBody).decode(body))
        except WRONG:
            return None


def _usual(scope: Any) -> bool:
    """Whether a request wants a list, and nothing but the list: to a browser of another site more is said."""
    return (
        scope["type"] == "http"
        and scope["path"] == PATH
        and scope["method"] == "POST"
        and all(name != b"origin" for name, _ in scope["headers"])
    )


def _again(heard: list[Any], receive: Receive) -> Receive:
    """The same messages once more, and then those that follow."""
    rest = iter(heard)

    async def listen() -> Any:
        message = next(rest, None)
        return await receive() if message is None else message

    return listen
