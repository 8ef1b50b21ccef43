"""Key routes: several keys for each scope, made, listed, revoked and given new bits without a restart."""

from __future__ import annotations

from functools import partial

from litestar import get, post
from litestar.params import FromPath, JSONBody
from msgspec import Struct

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.http.rank_body import KeyBody, ReasonBody, RotateBody
from rankloop.service.http.route_decorators import AnyRequest, key_of, needs
from rankloop.service.operations.api_keys import ApiKey, Scope

ADMIN = [needs("admin")]


class KeyInfo(Struct):
    """A key by its name; neither it nor its hash."""

    name: str
    scope: Scope
    created: float
    by: str
    reason: str
    rotated: float | None
    revoked: float | None

    @classmethod
    def of(cls, key: ApiKey) -> KeyInfo:
        """What is told of a key."""
        return cls(key.name, key.scope, key.created, key.by, key.reason, key.rotated, key.revoked)


class NewKey(Struct):
    """A key, shown this once."""

    name: str
    key: str


@get("/v1/keys", guards=ADMIN, summary="The keys there are")
async def keys(context: InjectedContext) -> list[KeyInfo]:
    """Every key by its name, also those that were revoked, the oldest first."""
    return [KeyInfo.of(key) for key in await context.ask(context.service.keys.all)]


@post("/v1/keys", status_code=200, guards=ADMIN, summary="Make a key")
async def create_key(data: JSONBody[KeyBody], context: InjectedContext, request: AnyRequest) -> NewKey:
    """Make a key; what the answer holds is never shown again."""
    said = {"by": key_of(request), "reason": data.reason}
    job = partial(context.service.keys.create, data.name, data.scope, **said)
    return NewKey(data.name, await context.ask(job))


@post("/v1/keys/{name:str}/rotate", status_code=200, guards=ADMIN, summary="Give a key new bits")
async def rotate_key(
    name: FromPath[str], data: JSONBody[RotateBody], context: InjectedContext, request: AnyRequest
) -> NewKey:
    """Replace a key under its name; the old one opens for `grace` seconds more."""
    said = {"by": key_of(request), "reason": data.reason}
    job = partial(context.service.keys.rotate, name, grace=data.grace, **said)
    return NewKey(name, await context.ask(job))


@post("/v1/keys/{name:str}/revoke", status_code=200, guards=ADMIN, summary="Revoke a key")
async def revoke_key(
    name: FromPath[str], data: JSONBody[ReasonBody], context: InjectedContext, request: AnyRequest
) -> list[KeyInfo]:
    """Revoke a key, in every process on the store within a second; the keys there are."""
    said = {"by": key_of(request), "reason": data.reason}
    await context.ask(partial(context.service.keys.revoke, name, **said))
    return [KeyInfo.of(key) for key in await context.ask(context.service.keys.all)]
