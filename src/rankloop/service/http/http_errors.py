"""Exception handlers: every error is JSON with one sentence, `{"error": ...}`, or a page for a browser."""

from __future__ import annotations

import math
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

from rankloop.errors import RankloopError
from rankloop.service.core.settings_change import SettingsPreview, Unconfirmed
from rankloop.service.http.access_log import log_failure
from rankloop.service.http.worker_pool import Busy, Refused, TooLate
from rankloop.service.service_errors import ConflictError, HistoryError
from rankloop.service.store import CommitUnknown, Fate, StoreError

AnyRequest: TypeAlias = Request[Any, Any, Any]
Handler: TypeAlias = "Callable[[AnyRequest, Any], Response[Problem]]"
LONGEST = 1000  # characters of a sentence
FATES: Mapping[Fate, str] = {
    "nothing": "nothing has changed; send the same again, with the same event ids",
    "written": "what was decided is written down, and what follows from it is under way; look before you "
    "send it again",
    "unknown": "it was just being written, and nobody can tell yet whether it is; look before you decide "
    "again, and send events again with the same event ids",
}


class Problem(Struct, omit_defaults=True):
    """What went wrong, in a sentence; of a change that must be confirmed, what it would do."""

    error: str
    preview: SettingsPreview | None = None


def refused(request: AnyRequest, error: Exception) -> Response[Problem]:
    """What the caller did wrong."""
    status, sentence = 400, str(error)
    headers: Mapping[str, str] = {}
    if isinstance(error, HTTPException):
        status, sentence, headers = error.status_code, _sentence(request, error), error.headers or {}
    elif isinstance(error, HistoryError):
        status = 404
    elif isinstance(error, ConflictError):
        status = 409
    elif isinstance(error, RecursionError):
        sentence = "the body is nested too deeply"
    elif isinstance(error, UnicodeDecodeError):
        sentence = "the body must be UTF-8"
    answer = _answer(sentence, status, headers)
    if isinstance(error, Unconfirmed):
        answer.content.preview = error.preview
    return answer


def unavailable(request: AnyRequest, error: Exception) -> Response[Problem]:
    """What we could not do now, and may be able to do soon."""
    if isinstance(error, Refused):
        headers = {"Retry-After": str(max(math.ceil(error.retry), 1))} if error.retry else {}
        return _answer(str(error), error.status, headers)
    if isinstance(error, Busy):
        return _answer("too many requests at once: try again", 429, {"Retry-After": "1"})
    log_failure(request.scope, error)
    late = isinstance(error, TimeoutError)
    reason = "it took too long" if late else "the store cannot be read or written"
    return _answer(f"{reason}: {FATES[_fate(error)]}", 503, {"Retry-After": "1"})


def _fate(error: Exception) -> Fate:
    """What was written before the error."""
    if isinstance(error, TooLate):
        return error.fate
    return "unknown" if isinstance(error, CommitUnknown) else "nothing"


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


def for_browsers(handler: Handler) -> Callable[[AnyRequest, Any], Response[Any]]:
    """The same as a page, for a browser, if the application has pages; for everyone else it stays JSON."""

    def handled(request: AnyRequest, error: Exception) -> Response[Any]:
        answer, made = handler(request, error), request.app.state.get("error_page")
        if made is None or not is_browser(request):
            return answer
        try:
            found: Response[Any] = made(request, error, answer.status_code, answer.content.error)
        except Exception as problem:  # what the page would say may be what is broken
            log_failure(request.scope, problem)
            return answer
        found.headers.update(answer.headers)
        return found

    return handled


def is_browser(request: AnyRequest) -> bool:
    """Whether someone looks at an address with a browser: programs do not ask for HTML, and bring a key."""
    return "text/html" in request.headers.get("accept", "") and "authorization" not in request.headers


HANDLERS: Mapping[int | type[Exception], Callable[[AnyRequest, Any], Response[Any]]] = {
    kind: for_browsers(handler)
    for kind, handler in (
        (HTTPException, refused),
        (RankloopError, refused),
        (MsgspecError, refused),
        (RecursionError, refused),
        (UnicodeDecodeError, refused),
        (StoreError, unavailable),
        (TimeoutError, unavailable),
        (Busy, unavailable),
        (Refused, unavailable),
        (Exception, failed),
        (500, failed),
    )
}
