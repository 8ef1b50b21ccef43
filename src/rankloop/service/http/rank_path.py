"""Fast path for `POST /v1/rank`, the one request that comes all the time.

A framework finds the route, makes objects of request and answer, and looks for what could be special: that
takes as long as making a small list. So such a request is answered right here if everything about it is as
it should be. Anything else, a wrong key, a wrong body, a browser of another site, is passed on to the
framework as if nobody had looked: there, and only there, is said what is wrong.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from litestar.types import ASGIApp, Receive, Send
from msgspec import MsgspecError

from rankloop.errors import RankloopError
from rankloop.service.http.app_context import AppContext
from rankloop.service.http.gate import CALLER, caller_of, length_of
from rankloop.service.http.list_backlog import Ticket
from rankloop.service.http.rank_decoding import OwnOrderDecoder, RankDecoder
from rankloop.service.http.routes.rank_routes import PATH
from rankloop.service.operations.api_keys import covers

WRONG = (
    RankloopError,
    MsgspecError,
    RecursionError,
    UnicodeDecodeError,
)  # all of them before anything is done
JSON = (b"content-type", b"application/json")


class FastPath:
    """Middleware that answers requests to rank itself."""

    def __init__(self, app: ASGIApp, context: AppContext) -> None:
        self._app, self._context = app, context
        self._decode = RankDecoder().decode  # its own: the names that it expects are those of its callers
        self._decode_own = OwnOrderDecoder().decode
        self._backlog = context.backlog

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if not (_eligible(scope) and self._opens(scope)):
            await self._app(scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        arrived = scope.get("extensions", {}).get("rankloop.arrived", loop.time())
        with self._backlog.admit(length_of(scope["headers"]), arrived) as ticket:
            messages = await self._read(receive)
            body = await self._respond(messages, ticket, ticket.due(loop.time()))
        if body is None:
            await self._app(scope, _sent_again(messages, receive), send)
            return
        scope["path_template"] = PATH
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [JSON, length]})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    def _opens(self, scope: Any) -> bool:
        """Whether its key is good, and its body not too long: before any of it is read."""
        caller, length = scope.get(CALLER) or caller_of(self._context, scope), length_of(scope["headers"])
        short = length is None or length <= self._context.settings.max_body
        return short and caller.scope is not None and covers(caller.scope, "rank")

    async def _read(self, receive: Receive) -> list[Any]:
        """The messages of a request; not all of them if they are too long, or end too early."""
        messages, size, more = list[Any](), 0, True
        while more and size <= self._context.settings.max_body:
            message: Any = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        return messages

    async def _respond(self, messages: list[Any], ticket: Ticket, due: float) -> bytes | None:
        """The body of the response, unless something is wrong."""
        body = b"".join([message.get("body", b"") for message in messages])
        whole = messages[-1]["type"] == "http.request" and not messages[-1].get("more_body", False)
        if not whole or len(body) > self._context.settings.max_body:
            return None
        executor, backlog, clock = self._context.rank_executor, self._backlog, asyncio.get_running_loop().time
        try:
            async with executor.turn:
                late, used = ticket.late(due, clock()), time.thread_time()
                with backlog.reading():
                    request = (self._decode_own if late else self._decode)(body)
                used = time.thread_time() - used
            if late:
                return await executor.own_order(request)
            return await executor.run(
                request,
                seconds=max(due - clock(), 0.0),
                took=lambda list_took: backlog.took(len(body), used + list_took),
            )
        except WRONG:
            return None


def _eligible(scope: Any) -> bool:
    """Whether a request wants a list, and nothing but the list: to a browser of another site more is said."""
    return (
        scope["type"] == "http"
        and scope["path"] == PATH
        and scope["method"] == "POST"
        and all(name != b"origin" for name, _ in scope["headers"])
    )


def _sent_again(messages: list[Any], receive: Receive) -> Receive:
    """The same messages once more, and then those that follow."""
    rest = iter(messages)

    async def listen() -> Any:
        message = next(rest, None)
        return await receive() if message is None else message

    return listen
