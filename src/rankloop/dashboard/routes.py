"""Page routes put together: who may see them, and errors that are pages, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litestar import Response, Router
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.response import Redirect

from rankloop.dashboard import assets, doctor, exposure, login, overview, query, recommend
from rankloop.dashboard import start as start_page
from rankloop.dashboard.access import AnyRequest, SignInFirst, signed_in
from rankloop.dashboard.pages import Pages
from rankloop.service import HistoryError
from rankloop.types import RankloopError


def page_routes(pages: Pages | None = None, *, start: bool = True) -> list[Router]:
    """Routes for `AppContext(routes=...)`: the pages, and a start page unless there is another one."""
    pages = pages or Pages()
    open_to_all = [login.login, login.sign_in, login.sign_out, assets.style, assets.draw, assets.vega]
    open_to_all += [start_page.start] if start else []
    looks = [overview.overview, query.lists, query.query, doctor.doctor]
    looks += [recommend.recommend, exposure.exposure, exposure.as_table, exposure.as_json]
    changes = [overview.set_mode, overview.rollback]
    guard = [] if pages.public else [signed_in(pages.sessions)]
    return [routed(pages, open_to_all), routed(pages, looks, guard), routed(pages, changes)]


def routed(pages: Pages, handlers: Sequence[Any], guards: Sequence[Any] = ()) -> Router:
    """Handlers that know the pages, and whose errors are pages."""

    def refused(request: AnyRequest, error: Exception) -> Response[str]:
        status = 404 if isinstance(error, HistoryError) else getattr(error, "status_code", 400)
        sentence = getattr(error, "detail", str(error))
        return pages.show(request, "error.html", status=status, sentence=sentence)

    return Router(
        "/",
        route_handlers=list(handlers),
        guards=list(guards),
        dependencies={"pages": Provide(lambda: pages, sync_to_thread=False)},
        exception_handlers={SignInFirst: _to_login, HTTPException: refused, RankloopError: refused},
        include_in_schema=False,
    )


def _to_login(_: AnyRequest, error: SignInFirst) -> Redirect:
    return Redirect(error.login, status_code=303)
