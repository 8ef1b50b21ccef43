"""Exception handlers: every error is JSON with one sentence, `{"error": ...}`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from litestar import MediaType, Request, Response
from litestar.exceptions import (
    HTTPException,
    MethodNotAllowedException,
    NotFoundException,
    ValidationException,
)
from msgspec import MsgspecError, Struct

from rankloop.service.errors import HistoryError
from rankloop.service.http.access_log import log_failure
from rankloop.service.http.concurrency import Busy
from rankloop.service.http.decoding import sentence_of
from rankloop.store import StoreError
from rankloop.types import RankloopError

AnyRequest: TypeAlias = Request[Any, Any, Any]
LONGEST = 1000  # characters of a sentence


class Problem(Struct):
    """What went wrong, in a sentence."""

    error: str


def refused(request: AnyRequest, error: Exception) -> Response[Problem]:
    """What the caller did wrong."""
    status, sentence = 400, str(error)
    headers: Mapping[str, str] = {}
    if isinstance(error, HTTPException):
        status, sentence, headers = error.status_code, _sentence(request, error), error.headers or {}
    elif isinstance(error, HistoryError):
        status = 404
    elif isinstance(error, MsgspecError):
        sentence = sentence_of(error)
    elif isinstance(error, RecursionError):
        sentence = "the body is nested too deeply"
    elif isinstance(error, UnicodeDecodeError):
        sentence = "the body must be UTF-8"
    return _answer(sentence, status, headers)


def unavailable(request: AnyRequest, error: Exception) -> Response[Problem]:
    """What we could not do now, and may be able to do soon."""
    if isinstance(error, Busy):
        return _answer("too many requests at once: try again", 429, {"Retry-After": "1"})
    log_failure(request.scope, error)
    late = isinstance(error, TimeoutError)
    reason = "it took too long" if late else "the store cannot be read or written"
    return _answer(
        f"{reason}: nothing was acknowledged; send the same again, with the same event ids",
        503,
        {"Retry-After": "1"},
    )


def failed(request: AnyRequest, error: Exception) -> Response[Problem]:
    """What we did wrong."""
    if isinstance(error, HTTPException) and "disconnected" in error.detail:
        return _answer("the request ended too early", 400, {})
    log_failure(request.scope, error)
    return _answer("an error of ours, which was logged under the id in X-Request-Id", 500, {})


def _answer(sentence: str, status: int, headers: Mapping[str, str]) -> Response[Problem]:
    problem = Problem(sentence[:LONGEST])
    return Response(problem, status_code=status, media_type=MediaType.JSON, headers=dict(headers))


def _sentence(request: AnyRequest, error: HTTPException) -> str:
    if isinstance(error, MethodNotAllowedException):
        return f"{request.method} is not possible here: see /v1/openapi.json"
    if isinstance(error, NotFoundException):
        return "nothing is here: see /v1/openapi.json"
    if error.status_code == 413:
        limit = request.app.state.context.settings.max_body
        return f"the body is larger than {limit:,} bytes: send less at once"
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        return "; ".join(_reason(each) for each in error.extra)
    return error.detail


def _reason(found: Any) -> str:
    """One complaint about the input: where, and what."""
    if not isinstance(found, Mapping):
        return str(found)
    where, what = found.get("key"), found.get("message")
    if what == "'data'":
        return "a body in JSON is needed, found nothing"
    return f"{where}: {what}" if where and where != "data" else str(what)


HANDLERS: Mapping[int | type[Exception], Callable[[AnyRequest, Any], Response[Problem]]] = {
    HTTPException: refused,
    RankloopError: refused,
    MsgspecError: refused,
    RecursionError: refused,
    UnicodeDecodeError: refused,
    StoreError: unavailable,
    TimeoutError: unavailable,
    Busy: unavailable,
    Exception: failed,
    500: failed,
}
