"""Page routes put together: who may see them, and errors that are pages, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litestar import Response, Router
from litestar.di import Provide
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from litestar.response import Redirect

from rankloop.errors import RankloopError
from rankloop.service import HistoryError
from rankloop.service.extensions.fair import page as exposure
from rankloop.service.extensions.recommend import page as recommend
from rankloop.service.pages import connect_steps as start_page
from rankloop.service.pages import (
    controls as levers,
)
from rankloop.service.pages import (
    decisions_page as decisions,
)
from rankloop.service.pages import (
    health_page as doctor,
)
from rankloop.service.pages import (
    learned_page as learned,
)
from rankloop.service.pages import (
    list_pages as lists,
)
from rankloop.service.pages import (
    login,
)
from rankloop.service.pages import (
    overview_page as overview,
)
from rankloop.service.pages import (
    page_assets as assets,
)
from rankloop.service.pages import (
    page_changes as live,
)
from rankloop.service.pages import (
    query_page as query,
)
from rankloop.service.pages import (
    settings_page as settings,
)
from rankloop.service.pages.shell import Pages
from rankloop.service.pages.sign_in import AnyRequest, SignInFirst, signed_in
from rankloop.service.service_errors import ConflictError

TITLES = {403: "That is not allowed", 404: "Nothing is here", 405: "That cannot be done here"}
TITLES |= {429: "Too many at once", 503: "Not just now"}


def page_routes(pages: Pages | None = None, *, start: bool = True) -> list[Router]:
    """Routes for `AppContext(routes=...)`: the pages, and a start page unless there is another one."""
    pages = pages or Pages()
    open_to_all = [login.login, login.sign_in, login.sign_out, assets.style, assets.draw, live.script]
    open_to_all += [start_page.start] if start else []
    looks = [overview.overview, lists.lists, query.query, doctor.doctor, live.changes]
    looks += [learned.learned, learned.search]
    looks += [assets.vega, recommend.recommend, exposure.exposure]
    changes = [levers.stop, levers.resume, levers.set_mode, levers.rollback]
    changes += [levers.start_trial, levers.stop_trial]
    changes += [decisions.do_undo, settings.preview, settings.change]
    guarded = [signed_in(pages.sessions)]
    guard = [] if pages.public else guarded
    # who decided something is not for everyone
    inside = routed(pages, [decisions.decisions, decisions.undo, settings.settings], guarded)
    return [routed(pages, open_to_all), routed(pages, looks, guard), inside, routed(pages, changes)]


def routed(pages: Pages, handlers: Sequence[Any], guards: Sequence[Any] = ()) -> Router:
    """Handlers that know the pages, and whose errors are pages."""

    def refused(request: AnyRequest, error: Exception) -> Response[str]:
        known = {HistoryError: 404, ConflictError: 409}
        usual = next((code for kind, code in known.items() if isinstance(error, kind)), 400)
        status = getattr(error, "status_code", usual)
        return error_page(pages, request, error, status, getattr(error, "detail", str(error)))

    def shown(request: AnyRequest, error: Exception, status: int, sentence: str) -> Response[str]:
        return error_page(pages, request, error, status, sentence)

    return Router(
        "/",
        route_handlers=list(handlers),
        guards=list(guards),
        dependencies={"pages": Provide(lambda: pages, sync_to_thread=False)},
        exception_handlers={SignInFirst: _to_login, HTTPException: refused, RankloopError: refused},
        include_in_schema=False,
        opt={"error_page": shown},
    )


def error_page(
    pages: Pages, request: AnyRequest, error: Exception, status: int, sentence: str
) -> Response[str]:
    """What went wrong, as a page."""
    if isinstance(error, NotFoundException):
        sentence = f"There is no page at {request.url.path}"
    elif isinstance(error, MethodNotAllowedException):
        sentence = f"{request.method} is not possible at {request.url.path}"
    title = TITLES.get(status, "That did not work" if status < 500 else "An error of ours")
    return pages.show(request, "error.html", status=status, code=status, title=title, sentence=sentence)


def _to_login(_: AnyRequest, error: SignInFirst) -> Redirect:
    return Redirect(error.login, status_code=303)
