"""Access log: one JSON line for each request (id, route, status, ms), never a key, a body or an address."""

from __future__ import annotations

import json
import logging
import re
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from litestar.types import ASGIApp, Message, Receive, Send

from rankloop.service.http.rate_limits import TokenBuckets
from rankloop.service.http.service_metrics import Metrics

Scope: TypeAlias = Any  # Litestar's type has no room for a key of ours
LOGGER = logging.getLogger("rankloop.http")
OWN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")  # what a proxy may call a request
SAFE = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
FLOOD = (401, 403, 413, 429, 431, 503)  # what a flood is answered with; all are counted, and a few logged
LINES = 5.0  # of each per second, fifty at once: a log must not be as long as a flood
ASSETS = "/assets/"  # whose answers say themselves how long they may be kept


class AccessLog:
    """An app whose every request is counted and logged, also those that lead nowhere."""

    def __init__(self, app: ASGIApp, metrics: Metrics, ids: Callable[[], str]) -> None:
        self._app, self._metrics, self._ids = app, metrics, ids
        self._lines = TokenBuckets(LINES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 499  # the client is gone
        safe = SAFE[:1] if scope["path"].startswith(ASSETS) else SAFE
        mine = scope["rankloop_id"] = _proxys_id(scope) or self._ids()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *safe, (b"x-request-id", mine.encode())]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = route_of(scope)
        self._metrics.requests(route, status).inc()
        self._metrics.seconds(route).observe(seconds)
        level = logging.WARNING if status in (401, 403) or status >= 500 else logging.INFO
        if LOGGER.isEnabledFor(level) and not (status in FLOOD and self._lines.take(status, 1)):
            LOGGER.log(level, "request", extra={"data": _said(scope, status, seconds)})


def route_of(scope: Scope) -> str:
    """The route's pattern, as in GET /v1/audit/{query_id}: an address may hold anything."""
    pattern = str(scope.get("path_template") or "")
    return f"{scope['method']} {pattern}" if pattern else "unknown"


def log_failure(scope: Scope, error: BaseException) -> None:
    """Say where in our code something failed; not what it said, which may be a user's words."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    data = {
        "request_id": scope.get("rankloop_id"),
        "route": route_of(scope),
        "error": type(error).__name__,
        "at": [
            f"{frame.filename.rpartition('rankloop/')[2]}:{frame.lineno} {frame.name}" for frame in frames
        ],
    }
    LOGGER.error("failure", extra={"data": data})


class JsonLines(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, what, and the numbers."""
        plain: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        return json.dumps(plain | getattr(record, "data", {}))


class FewOfEach:
    """Lets pass only a few of each sentence that the web server writes about what is no HTTP at all."""

    def __init__(self) -> None:
        self._lines = TokenBuckets(LINES)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write it down."""
        return not (record.name.startswith("uvicorn") and self._lines.take(str(record.msg), 1))


def log_to_stderr(*, quiet: bool = False) -> None:
    """Send the log to standard error, as JSON lines; `quiet`: only what went wrong."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    handler.addFilter(FewOfEach())
    for name in ("rankloop", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING if quiet or name == "uvicorn" else logging.INFO)


def _said(scope: Scope, status: int, seconds: float) -> dict[str, Any]:
    return {
        "request_id": scope["rankloop_id"],
        "route": route_of(scope),
        "status": status,
        "ms": round(seconds * 1000, 2),
    }


def _proxys_id(scope: Scope) -> str:
    """The id that a proxy gave the request, if it did."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and OWN_ID.fullmatch(value.decode("latin-1")):
            return str(value.decode("latin-1"))
    return ""
