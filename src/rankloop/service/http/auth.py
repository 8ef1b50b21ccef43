"""Authorization of requests by key and scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from litestar.connection import ASGIConnection
from litestar.exceptions import NotAuthorizedException, PermissionDeniedException
from litestar.handlers import BaseRouteHandler

from rankloop.service.http.context import AppContext
from rankloop.service.http.keys import Scope, bearer, covers

Connection: TypeAlias = ASGIConnection[Any, Any, Any, Any]


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


def _check(connection: Connection, scope: Scope) -> None:
    context: AppContext = connection.app.state.context
    key = bearer(connection.scope["headers"])
    if not key and scope == "page" and context.keys.scope(connection.query_params.get("key", "")) == "page":
        return
    found = context.keys.scope(key)
    if found is None:
        raise NotAuthorizedException(
            f"this needs the {scope} key, sent as the header `Authorization: Bearer <key>`",
            headers={"WWW-Authenticate": "Bearer"},
        )
    if not covers(found, scope):
        raise PermissionDeniedException(f"this needs the {scope} key, found the {found} key")
