"""Page authorization: sessions to look, tokens and same-origin forms to change something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import FormMultiDict
from litestar.exceptions import PermissionDeniedException
from litestar.handlers import BaseRouteHandler

from rankloop.service.pages.sessions import COOKIE, Session, Sessions

AnyRequest: TypeAlias = Request[Any, Any, Any]
Connection: TypeAlias = ASGIConnection[Any, Any, Any, Any]
Guard: TypeAlias = Callable[[Connection, BaseRouteHandler], Awaitable[None]]


class SignInFirst(Exception):
    """Nobody is signed in; `login` is where to do it, and come back."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.login = f"/login?next={quote(path, safe='')}"


def session_of(connection: Connection, sessions: Sessions) -> Session | None:
    """The session of a request; it ends with the bits that began it."""
    found = sessions.find(connection.cookies.get(COOKIE))
    keys = connection.app.state.context.service.keys
    return found if found is not None and keys.still_opens(found.sha256) else None


def signed_in(sessions: Sessions) -> Guard:
    """Lets those pass who have shown the admin key."""

    async def guard(connection: Connection, _: BaseRouteHandler) -> None:
        if session_of(connection, sessions) is None:
            url = connection.url
            raise SignInFirst(f"{url.path}?{url.query}" if url.query else url.path)

    return guard


async def own_site(connection: Connection, _: BaseRouteHandler) -> None:
    """Lets only forms of this site pass: what a browser says about where a request comes from."""
    origin = connection.headers.get("origin")
    if connection.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise PermissionDeniedException("this form was sent from another site")
    if origin and urlsplit(origin).netloc != connection.headers.get("host"):
        raise PermissionDeniedException("this form was sent from another site")


async def signed_form(request: AnyRequest, sessions: Sessions) -> tuple[FormMultiDict, str]:
    """A form that changes something, sent from one of our pages by someone signed in; their key's name."""
    session, form = session_of(request, sessions), await request.form()
    if session is None:
        raise SignInFirst("/overview")
    if not session.sent(form.get("token")):
        raise PermissionDeniedException("this form is too old: reload the page and try again")
    return form, session.key


def local_path(path: str) -> str:
    """Where to go after signing in: a page of ours, never another site.

    >>> local_path("/doctor?minutes=60"), local_path("//evil.example"), local_path("https://evil.example")
    ('/doctor?minutes=60', '/overview', '/overview')
    """
    here = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if here else "/overview"
