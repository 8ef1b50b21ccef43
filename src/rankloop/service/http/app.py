"""ASGI application: routes, keys, limits and error handlers put together."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Litestar, Response, Router, get
from litestar.config.cors import CORSConfig
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import ASGIApp

from rankloop import __version__
from rankloop.service.extensions.recommend import routes as recommend
from rankloop.service.extensions.trial import routes as trials
from rankloop.service.http.access_log import AccessLog
from rankloop.service.http.app_context import AppContext
from rankloop.service.http.gate import Admission
from rankloop.service.http.http_errors import HANDLERS
from rankloop.service.http.rank_decoding import StrictRequest
from rankloop.service.http.rank_path import FastPath
from rankloop.service.http.routes import (
    beacon,
    decisions,
    exposure,
    learned,
    models,
)
from rankloop.service.http.routes import (
    evaluation_routes as what_if,
)
from rankloop.service.http.routes import (
    event_routes as events,
)
from rankloop.service.http.routes import (
    health_routes as monitoring,
)
from rankloop.service.http.routes import (
    job_routes as jobs,
)
from rankloop.service.http.routes import (
    key_routes as keys,
)
from rankloop.service.http.routes import (
    people_routes as people,
)
from rankloop.service.http.routes import (
    rank_routes as rank,
)
from rankloop.service.http.routes import (
    ranker_routes as rankers,
)
from rankloop.service.http.routes import (
    report_routes as audit,
)
from rankloop.service.http.worker_pool import Once

ROUTES: list[Any] = [
    rank.rank,
    events.events,
    events.discard_strays,
    recommend.recommend,
    recommend.reasons,
    recommend.interview,
    recommend.recommenders,
    audit.explain,
    audit.settled,
    audit.lists,
    audit.audit,
    audit.replay,
    learned.learned,
    learned.searches,
    learned.search,
    models.models,
    models.portable_model,
    models.rollback,
    models.forget,
    models.retire_features,
    models.retain,
    jobs.jobs,
    jobs.job,
    jobs.cancel,
    rankers.rankers,
    rankers.create,
    rankers.settings,
    rankers.change,
    rankers.set_mode,
    what_if.what_if,
    trials.start,
    trials.trials,
    trials.trial,
    trials.stop,
    keys.keys,
    keys.create_key,
    keys.rotate_key,
    keys.revoke_key,
    decisions.decisions,
    decisions.preview_undo,
    decisions.undo,
    people.find_person,
    people.delete_people,
    people.deletions,
    exposure.exposure,
    monitoring.health,
    monitoring.ready,
    monitoring.diagnosis,
    monitoring.insight,
    monitoring.metrics,
    beacon.script,
]


def create_app(context: AppContext) -> ASGIApp:
    """An ASGI app for a service: give it to any server.

    >>> from rankloop.service.service_facade import ServiceFacade
    >>> from rankloop.service.http import Keys
    >>> from rankloop.service.store import open_temporary_store
    >>> app = create_app(AppContext(service=ServiceFacade(open_temporary_store()), keys=Keys.fresh()[0]))
    """
    description = Once(lambda: msgspec.json.encode(described(context)))  # made when it is first asked for

    @get("/v1/openapi.json", include_in_schema=False)
    async def openapi() -> Response[bytes]:
        return Response(await description.get(), media_type="application/json")

    app = _litestar(context, [*ROUTES, *context.routes, openapi], None)
    inside = Admission(FastPath(app, context), context)
    return AccessLog(inside, context.metrics, context.request_ids)


def _litestar(context: AppContext, routes: list[Any], openapi: OpenAPIConfig | None) -> Litestar:
    return Litestar(
        routes,
        request_class=StrictRequest,
        dependencies={"context": Provide(lambda: context, sync_to_thread=False)},
        state=State({"context": context, "error_page": _error_page(routes)}),
        exception_handlers=dict(HANDLERS),
        request_max_body_size=context.settings.max_body,
        cors_config=_cors(context.settings.origins),
        openapi_config=openapi,
        logging_config=None,
    )


def _error_page(routes: list[Any]) -> Any:
    """How an error is shown to browsers, if there are pages: `opt={"error_page": ...}` of a router."""
    found = (each.opt.get("error_page") for each in routes if isinstance(each, Router))
    return next((each for each in found if each), None)


def _cors(origins: tuple[str, ...]) -> CORSConfig | None:
    """Scripts of these sites may read answers; without any, browsers let nobody."""
    if not origins:
        return None
    return CORSConfig(
        allow_origins=list(origins),
        allow_headers=["Authorization", "Content-Type"],
        allow_methods=["GET", "POST"],
        expose_headers=["Retry-After"],
    )


def described(context: AppContext) -> dict[str, Any]:
    """The OpenAPI description; Litestar's own pages are left out, because they load from elsewhere."""
    key = SecurityScheme(type="http", scheme="bearer", description="a page, rank or admin key")
    config = OpenAPIConfig(
        title="rankloop",
        version=__version__,
        description="Rankings that learn from clicks and experiment only where they are unsure.",
        components=Components(security_schemes={"key": key}),
        security=[{"key": []}],
        use_handler_docstrings=True,
    )
    return _litestar(context, ROUTES, config).openapi_schema.to_schema()
