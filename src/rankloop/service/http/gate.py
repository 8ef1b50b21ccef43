"""Admission: what is let in, decided from the head of a request, before a byte of its body is read.

First the key, then how large the body says it is, then how often its sender has asked. What is refused here
has cost a few microseconds and no memory; the rest of its body is thrown away as it comes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from litestar.types import ASGIApp, Receive, Send

from rankloop.service.events.user_event import UserEvent
from rankloop.service.http.app_context import AppContext
from rankloop.service.http.bearer_keys import bearer
from rankloop.service.http.bounded_connections import PAGE, TRUSTED
from rankloop.service.http.client_address import is_own, network_of
from rankloop.service.http.worker_pool import Refused
from rankloop.service.operations.api_keys import Scope

KEYLESS_BODY = 16_384  # bytes: a form with a key in it
EVENTS = "/v1/events"
CALLER = "rankloop_caller"  # in the scope of a request: who it comes from


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from: the key, what it opens, and the address."""

    key: str  # its name; empty: none
    scope: Scope | None
    address: str  # or the network that counts as one; empty: this machine itself, which is not limited

    @property
    def public(self) -> bool:
        """Whether everybody can be this caller: without a key, or with one that stands in web pages."""
        return self.scope in (None, "page")


class Admission:
    """Middleware that lets requests in, or answers them from their heads alone."""

    def __init__(self, app: ASGIApp, context: AppContext) -> None:
        self._app, self._context, self._settings = app, context, context.settings
        self.buffered = 0  # bytes of bodies that were let in and not answered yet

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Let it in, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = scope[CALLER] = caller_of(self._context, scope)
        try:
            size = self._admitted(scope, caller)
            self.buffered += size
            try:
                await self._app(scope, receive, send)
            finally:
                self.buffered -= size
        except Refused as refused:  # here, or by the backlog of lists: nothing was read
            await self._answer(scope, send, refused)

    def _admitted(self, scope: Any, caller: Caller) -> int:
        """How many bytes of memory its body may take."""
        connection = connection_of(scope)
        if connection is not None and caller.scope is not None:
            connection.let_in(PAGE if caller.public else TRUSTED)
        if caller.public and caller.address:
            limits = self._context.limits
            wait = limits.requests.take(caller.address, 1)
            if wait:
                raise Refused(429, "too many requests from this address: send fewer", wait)
            if scope["path"] == EVENTS and limits.addresses.empty(caller.address):
                raise Refused(429, "too many events from this address: send fewer", 1.0)
        size = self._size(scope, caller)
        if size and self.buffered + size > self._settings.buffered and self.buffered:
            raise Refused(503, "too much is being read already: send the same again", 1.0)
        return size

    def _size(self, scope: Any, caller: Caller) -> int:
        limits = {None: min(KEYLESS_BODY, self._settings.max_body), "page": self._settings.page_body}
        limit = min(limits.get(caller.scope, self._settings.max_body), self._settings.max_body)
        declared = length_of(scope["headers"])
        if declared is None:
            if caller.public and any(name == b"transfer-encoding" for name, _ in scope["headers"]):
                raise Refused(411, "say how long the body is, with Content-Length")
            return 0
        keyless = caller.scope is None and scope["path"].startswith("/v1/")
        if declared > limit and not keyless:  # without a key, it is told that, and nothing is read
            raise Refused(413, f"the body is larger than {limit:,} bytes: send less at once")
        return min(declared, limit)

    async def _answer(self, scope: Any, send: Send, refused: Refused) -> None:
        connection = connection_of(scope)
        if connection is not None and scope[CALLER].public:
            connection.punish()
        self._context.metrics.refused(str(refused.status)).inc()
        body = json.dumps({"error": str(refused)}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if refused.retry:
            headers.append((b"retry-after", str(max(math.ceil(refused.retry), 1)).encode()))
        headers += readable_by(scope["headers"], self._settings.origins)
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


def caller_of(context: AppContext, scope: Any) -> Caller:
    """Who a request comes from; a page key may stand in the address, others may not."""
    client = scope.get("client")
    address = network_of(client[0]) if client and not is_own(client[0]) else ""
    sent = bearer(scope["headers"])
    found = context.service.keys.find(sent)
    if not sent and b"key=" in scope["query_string"]:
        sent = parse_qs(scope["query_string"].decode("latin-1")).get("key", [""])[0]
        found = context.service.keys.find(sent)
        found = found if found is not None and found.scope == "page" else None
    return Caller("", None, address) if found is None else Caller(found.name, found.scope, address)


def connection_of(scope: Any) -> Any:
    """The connection that a request came on, if it is one of ours."""
    return scope.get("extensions", {}).get("rankloop.connection")


def readable_by(headers: Any, origins: Collection[str]) -> list[tuple[bytes, bytes]]:
    """What lets the script of a page that may read answers read this one, and how long to wait.

    >>> readable_by([(b"origin", b"https://shop.example")], ["https://shop.example"])[0]
    (b'access-control-allow-origin', b'https://shop.example')
    """
    for name, value in headers:
        if name == b"origin" and ("*" in origins or value.decode("latin-1") in origins):
            said = {"allow-origin": value, "expose-headers": b"Retry-After"}
            told = [(f"access-control-{what}".encode(), each) for what, each in said.items()]
            return [*told, (b"vary", b"Origin")]
    return []


def length_of(headers: Any) -> int | None:
    """How long a body says it is.

    >>> length_of([(b"content-length", b"12")])
    12
    """
    for name, value in headers:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def limit(context: AppContext, scope: Any, events: int) -> None:
    """Let so many events of a request pass, or refuse all of them."""
    caller: Caller = scope.get(CALLER) or caller_of(context, scope)
    wait = context.limits.take(caller.address, caller.key, public=caller.public, events=events)
    if wait == math.inf:
        raise Refused(413, f"{events:,} events are too many at once: send fewer")
    if wait:
        connection = connection_of(scope)
        if connection is not None:
            connection.punish()
        raise Refused(429, "too many events: send fewer, or the same again later", wait)


def source_of(context: AppContext, scope: Any, event: UserEvent) -> str:
    """Where an event came from: the address, if everybody may send; otherwise the client it is said to be of.

    Your own servers send for many clients, and nobody else has their key.
    """
    caller: Caller = scope.get(CALLER) or caller_of(context, scope)
    if caller.public:
        return context.sources.address(caller.address)
    return context.sources.client(event.client_id)
