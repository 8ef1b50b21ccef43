"""ASGI middleware: the search answers of a site reranked, everything else untouched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from rankloop.connect.ranking import SearchService
from rankloop.connect.reranker import LARGEST, LOGGER, STALE, Reranked, Reranker, fresh_headers

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]


class AsgiMiddleware:
    """An ASGI app whose JSON search answers are reranked; the options are those of `Reranker`.

    It fails open: whatever goes wrong, or takes too long, the app's own answer goes out, byte for byte.
    Clicks come to `click_path`, as links (`click_url`) or as a beacon of the page.
    """

    def __init__(self, app: App, *, service: SearchService, **options: Any) -> None:
        self.app, self.reranker = app, Reranker(service=service, **options)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http" and scope["path"] == self.reranker.click_path:
            await self._click(scope, send)
        elif scope["type"] == "http" and self.reranker.wants(scope["method"], scope["path"]):
            answer = _Answer(self.reranker, scope, send)
            await self.app(scope, receive, answer.send)
        else:
            await self.app(scope, receive, send)

    async def _click(self, scope: Message, send: Send) -> None:
        to = self.reranker.click(scope["query_string"].decode("latin-1"), _cookies(scope))
        headers = [(b"content-length", b"0"), (b"cache-control", b"no-store")]
        if to is not None:
            headers.append((b"location", to.encode("latin-1")))
        status = 204 if to is None else 302
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


class _Answer:
    """What an app sends, held back for as long as it may be reranked."""

    def __init__(self, reranker: Reranker, scope: Message, send: Send) -> None:
        self._reranker, self._scope, self._send = reranker, scope, send
        self._held: list[Message] = []
        self._size = 0
        self._passing = False

    async def send(self, message: Message) -> None:
        if self._passing:
            await self._send(message)
            return
        self._held.append(message)
        if message["type"] == "http.response.start":
            if not self._reranker.takes(message["status"], _by_name(message)):
                await self._let_go()
        elif message["type"] == "http.response.body":
            self._size += len(message.get("body", b""))
            if self._size > LARGEST:
                await self._let_go()
            elif not message.get("more_body", False):
                await self._finish()
        else:  # an extension, such as a file that the server sends by itself
            await self._let_go()

    async def _let_go(self) -> None:
        self._passing = True
        for message in self._held:
            await self._send(message)
        self._held.clear()

    async def _finish(self) -> None:
        body = b"".join(each.get("body", b"") for each in self._held[1:])
        found = await self._reranked(body)
        if found is None:
            await self._let_go()
            return
        self._passing, start = True, self._held[0]
        kept = [(k, v) for k, v in start.get("headers", ()) if k.decode("latin-1").lower() not in STALE]
        new = fresh_headers(found.query_id, len(found.body))
        headers = [*kept, *((k.lower().encode(), v.encode("latin-1")) for k, v in new)]
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": found.body})

    async def _reranked(self, body: bytes) -> Reranked | None:
        query = self._scope["query_string"].decode("latin-1")
        try:
            under_way = asyncio.wrap_future(self._reranker.submit(body, query, _cookies(self._scope)))
            return await asyncio.wait_for(under_way, self._reranker.deadline)
        except Exception as error:  # whatever it is, the visitor gets the answer
            LOGGER.warning("an answer goes out in its own order: %s: %s", type(error).__name__, error)
            return None


def _by_name(message: Message) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message.get("headers", ())
    }


def _cookies(scope: Message) -> str:
    return _by_name(scope).get("cookie", "")
