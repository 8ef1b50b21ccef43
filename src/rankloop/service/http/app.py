"""The app: routes, guards, limits and errors put together."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from litestar import Litestar, Response, get
from litestar.config.cors import CORSConfig
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import ASGIApp

from rankloop import __version__
from rankloop.service.http import page, past, ranking, steering, watching
from rankloop.service.http.errors import HANDLERS
from rankloop.service.http.express import Express
from rankloop.service.http.face import Face
from rankloop.service.http.logs import Watched
from rankloop.service.http.reading import StrictRequest

ROUTES: list[Any] = [
    ranking.rank,
    ranking.events,
    past.explain,
    past.certainty,
    past.lists,
    past.audit,
    past.replay,
    past.models,
    past.rollback,
    past.forget,
    steering.rankers,
    steering.create,
    steering.settings,
    steering.configure,
    steering.mode,
    steering.set_mode,
    watching.health,
    watching.diagnosis,
    watching.insight,
    watching.metrics,
    watching.stream,
    page.script,
]


def create_app(face: Face) -> ASGIApp:
    """An ASGI app for a service: give it to any server.

    >>> from rankloop.service import RankingService
    >>> from rankloop.service.http import Keys
    >>> from rankloop.store import MemoryStore
    >>> app = create_app(Face(service=RankingService(MemoryStore()), keys=Keys.fresh()[0]))
    """
    description = cache(partial(described, face))  # made when it is first asked for

    @get("/v1/openapi.json", include_in_schema=False)
    async def openapi() -> Response[dict[str, Any]]:
        return Response(description(), media_type="application/json")

    app = _litestar(face, [*ROUTES, *face.routes, openapi], None)
    return Watched(Express(app, face), face.metrics)


def _litestar(face: Face, routes: list[Any], openapi: OpenAPIConfig | None) -> Litestar:
    return Litestar(
        routes,
        request_class=StrictRequest,
        dependencies={"face": Provide(lambda: face, sync_to_thread=False)},
        state=State({"face": face}),
        exception_handlers=dict(HANDLERS),
        request_max_body_size=face.settings.max_body,
        cors_config=_cors(face.settings.origins),
        openapi_config=openapi,
        logging_config=None,
    )


def _cors(origins: tuple[str, ...]) -> CORSConfig | None:
    """Scripts of these sites may read answers; without any, browsers let nobody."""
    if not origins:
        return None
    return CORSConfig(
        allow_origins=list(origins),
        allow_headers=["Authorization", "Content-Type"],
        allow_methods=["GET", "POST"],
    )


def described(face: Face) -> dict[str, Any]:
    """The OpenAPI description; Litestar's own pages are left out, because they load from elsewhere."""
    key = SecurityScheme(type="http", scheme="bearer", description="a page, rank or admin key")
    config = OpenAPIConfig(
        title="rankloop",
        version=__version__,
        description="Rankings that learn from clicks and experiment only where they are provably unsure.",
        components=Components(security_schemes={"key": key}),
        security=[{"key": []}],
        use_handler_docstrings=True,
    )
    return _litestar(face, ROUTES, config).openapi_schema.to_schema()
