"""WSGI middleware: the search answers of a site reranked, everything else untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from rankloop.connect.ranking import SearchService
from rankloop.connect.reranker import LARGEST, LOGGER, STALE, Reranked, Reranker, fresh_headers

Environ: TypeAlias = dict[str, Any]
Headers: TypeAlias = list[tuple[str, str]]
Start: TypeAlias = Callable[..., Callable[[bytes], object]]
App: TypeAlias = Callable[[Environ, Start], Iterable[bytes]]


class WsgiMiddleware:
    """A WSGI app whose JSON search answers are reranked; the options are those of `Reranker`.

    It fails open: whatever goes wrong, or takes too long, the app's own answer goes out, byte for byte.
    Clicks come to `click_path`, as links (`click_url`) or as a beacon of the page.
    """

    def __init__(self, app: App, *, service: SearchService, **options: Any) -> None:
        self.app, self.reranker = app, Reranker(service=service, **options)

    def __call__(self, environ: Environ, start_response: Start) -> Iterable[bytes]:
        """Serve one request."""
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        if path == self.reranker.click_path:
            return self._click(environ, start_response)
        if not self.reranker.wants(environ["REQUEST_METHOD"], path):
            return self.app(environ, start_response)
        return _Answer(self.reranker, environ, start_response).of(self.app)

    def _click(self, environ: Environ, start_response: Start) -> Iterable[bytes]:
        to = self.reranker.click(environ.get("QUERY_STRING", ""), environ.get("HTTP_COOKIE", ""))
        headers = [("Content-Length", "0"), ("Cache-Control", "no-store")]
        start_response(
            "204 No Content" if to is None else "302 Found",
            headers if to is None else [*headers, ("Location", to)],
        )
        return [b""]


class _Answer:
    """What an app says, held back for as long as it may be reranked."""

    def __init__(self, reranker: Reranker, environ: Environ, start_response: Start) -> None:
        self._reranker, self._environ, self._start_response = reranker, environ, start_response
        self._status, self._headers, self._passing, self._held = "", Headers(), False, list[bytes]()

    def of(self, app: App) -> Iterator[bytes]:
        """The answer of an app."""
        parts = app(self._environ, self._start)
        try:
            for part in parts:
                if self._passing:
                    yield part
                    continue
                self._held.append(part)
                if sum(map(len, self._held)) > LARGEST:
                    yield from self._let_go()
            if not self._passing:
                yield from self._finished()
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()

    def _start(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], object]:
        by_name = {name.lower(): value for name, value in headers}
        if self._passing or not self._reranker.takes(int(status[:3]), by_name):
            self._passing = True
            return self._start_response(status, headers, *([exc_info] if exc_info else []))
        self._status, self._headers = status, headers
        return self._held.append

    def _let_go(self) -> Iterator[bytes]:
        self._passing = True
        self._start_response(self._status, self._headers)
        yield from self._held
        self._held.clear()

    def _finished(self) -> Iterator[bytes]:
        found = self._reranked(b"".join(self._held))
        if found is None:
            yield from self._let_go()
            return
        kept = [(name, value) for name, value in self._headers if name.lower() not in STALE]
        self._start_response(self._status, [*kept, *fresh_headers(found.query_id, len(found.body))])
        yield found.body

    def _reranked(self, body: bytes) -> Reranked | None:
        given = self._environ.get("QUERY_STRING", ""), self._environ.get("HTTP_COOKIE", "")
        try:
            return self._reranker.submit(body, *given).result(self._reranker.deadline)
        except Exception as error:  # whatever it is, the visitor gets the answer
            LOGGER.warning("an answer goes out in its own order: %s: %s", type(error).__name__, error)
            return None
