"""Sign-in and sign-out with the admin key."""

from __future__ import annotations

from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.params import FromQuery
from litestar.response import Redirect

from rankloop.service.http.app_context import InjectedContext
from rankloop.service.operations.api_keys import hash_of
from rankloop.service.pages.sessions import COOKIE, LASTS
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, local_path, own_site


@get("/login")
async def login(
    request: AnyRequest,
    pages: InjectedPages,
    next: FromQuery[str] = "/overview",  # noqa: A002
) -> Response[str]:
    """The form."""
    return pages.show(request, "login.html", goal=local_path(next), wrong=False)


@post("/login", guards=[own_site])
async def sign_in(
    request: AnyRequest, pages: InjectedPages, context: InjectedContext
) -> Response[str] | Redirect:
    """A session for whoever has the key."""
    form = await request.form()
    goal = local_path(str(form.get("next", "")))
    sent = str(form.get("key", ""))
    key = context.service.keys.opens("admin", sent)
    if key is None:
        return pages.show(request, "login.html", status=403, goal=goal, wrong=True)
    cookie = Cookie(
        key=COOKIE,
        value=pages.sessions.begin(key.name, hash_of(sent)),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        max_age=int(LASTS),
    )
    return Redirect(goal, status_code=303, cookies=[cookie])


@post("/logout", guards=[own_site])
async def sign_out(request: AnyRequest, pages: InjectedPages) -> Redirect:
    """End the session."""
    pages.sessions.end(request.cookies.get(COOKIE))
    gone = Cookie(key=COOKIE, value="", path="/", httponly=True, samesite="strict", max_age=0)
    return Redirect("/", status_code=303, cookies=[gone])
