"""Authorization of requests by key and scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.exceptions import NotAuthorizedException, PermissionDeniedException
from litestar.handlers import BaseRouteHandler

from rankloop.service.http.bearer_keys import bearer
from rankloop.service.http.gate import CALLER, Caller, caller_of
from rankloop.service.operations.api_keys import Scope, covers

Connection: TypeAlias = ASGIConnection[Any, Any, Any, Any]
AnyRequest: TypeAlias = Request[Any, Any, Any]


def needs(scope: Scope) -> Callable[[Connection, BaseRouteHandler], Awaitable[None]]:
    """Lets requests pass that carry a key for this scope, as `Authorization: Bearer <key>`.

    A page key may stand in the address, `?key=...`: a browser's beacon can send no headers, and a page key is
    no secret. Another key there is refused, because addresses are written into many logs.
    """

    async def guard(connection: Connection, _: BaseRouteHandler) -> None:  # a plain one would get a thread
        _check(connection, scope)

    return guard


def asks_first(scope: Scope) -> Callable[[Connection], Awaitable[None]]:
    """The same, to be called `before_request`: Litestar copies a route each time it calls its guards."""

    async def check(connection: Connection) -> None:
        _check(connection, scope)

    return check


def key_of(connection: Connection) -> str:
    """The name of the key that a request came with."""
    return _caller(connection).key


def _check(connection: Connection, scope: Scope) -> None:
    caller = _caller(connection)
    allowed = scope == "page" or bearer(connection.scope["headers"])  # others must not stand in an address
    if caller.scope is None or not allowed:
        raise NotAuthorizedException(
            f"this needs the {scope} key, sent as the header `Authorization: Bearer <key>`",
            headers={"WWW-Authenticate": "Bearer"},
        )
    if not covers(caller.scope, scope):
        raise PermissionDeniedException(f"this needs the {scope} key, found the {caller.scope} key")


def _caller(connection: Connection) -> Caller:
    found: Caller | None = connection.scope.get(CALLER)  # type: ignore[assignment]
    return found or caller_of(connection.app.state.context, connection.scope)
