"""HTTP transport: JSON over kept-alive connections, one for each thread, with retries."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from rankloop.errors import RankloopError, SettingError

AGAIN = (0, 408, 429, 500, 502, 503, 504)  # no answer, or one that may be another soon
BROKEN = (OSError, http.client.HTTPException)


class ClientError(RankloopError):
    """A request that the service refused, or an answer that did not come."""

    def __init__(self, sentence: str, *, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status  # of HTTP; 0: there was no answer


class Transport:
    """A way to one service.

    A request that gets no answer is sent again `retries` times, after 0.1, 0.2, 0.4, ... seconds.
    """

    def __init__(self, url: str, key: str, *, timeout: float, retries: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingError(f"expected an address such as http://127.0.0.1:8000, found {url!r}")
        secure = parts.scheme == "https"
        self._kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._timeout, self._retries = timeout, retries
        self._local = threading.local()

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        patient: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The answer to a request; a request that is not `patient` is sent once."""
        data = None if body is None else _written(body)
        for turn in range(self._retries + 1 if patient else 1):
            if turn:
                time.sleep(0.1 * 2 ** (turn - 1))
            try:
                return self._once(method, path, data, headers or {})
            except ClientError as error:
                trouble = error
                if error.status not in AGAIN:
                    break
        raise trouble

    def close(self) -> None:
        """Let go of this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _once(self, method: str, path: str, data: bytes | None, more: Mapping[str, str]) -> Any:
        kept = getattr(self._local, "connection", None) is not None
        try:
            status, text = self._exchange(method, path, data, more)
        except BROKEN as error:
            self.close()
            if not kept or isinstance(error, TimeoutError):
                where = f"{self._host}:{self._port}" if self._port else self._host
                why = str(error) or type(error).__name__
                raise ClientError(f"{where} does not answer: {why}; is the service running there?") from error
            return self._once(method, path, data, more)  # the server had ended the connection in the meantime
        return _understood(status, text)

    def _exchange(
        self, method: str, path: str, data: bytes | None, more: Mapping[str, str]
    ) -> tuple[int, bytes]:
        if getattr(self._local, "connection", None) is None:
            self._local.connection = self._kind(self._host, self._port, timeout=self._timeout)
        connection: http.client.HTTPConnection = self._local.connection
        connection.request(method, self._base + path, data, {**self._headers, **more})
        response = connection.getresponse()
        return response.status, response.read()


def _written(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except ValueError as error:
        raise ClientError(
            "JSON has no NaN and no infinity: leave missing features out", status=400
        ) from error


def _understood(status: int, text: bytes) -> Any:
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise ClientError(f"expected JSON, found {text[:50]!r}", status=status or 0) from error
    if status >= 400:
        raise ClientError(
            str(answer.get("error", answer)) if isinstance(answer, dict) else str(answer), status=status
        )
    return answer
