"""The fast path gives the same answers as the framework, and leaves everything unusual to it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from rankloop.service.http import AppContext, Keys
from rankloop.service.http.app import create_app
from rankloop.service.http.rank_path import FastPath
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.serving import PATIENT

BODY = json.dumps(
    {"session_id": "s", "candidates": [{"object_id": name, "features": {"x": 1.5}} for name in "abc"]}
).encode()
KEYS, SHOWN = Keys.fresh()
USUAL: dict[str, Any] = {"key": SHOWN["rank"], "method": "POST", "path": "/v1/rank", "more": ()}


class Framework:
    """An app that only listens, and remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.heard.append(body)


def context(**settings: Any) -> AppContext:
    service = ServiceFacade(open_temporary_store())
    service.create("default")
    return AppContext(service=service, keys=KEYS, settings=replace(PATIENT, **settings))


def ask(
    app: Any, *chunks: bytes, key: str, method: str, path: str, more: Any, ended: bool = True
) -> list[Any]:
    """Send a request in chunks; what comes back."""
    headers = [(b"authorization", b"Bearer " + key.encode()), *more]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": headers}
    scope |= {"query_string": b"", "raw_path": path.encode(), "scheme": "http", "client": ("127.0.0.1", 1)}
    scope |= {"server": ("127.0.0.1", 2), "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"}}
    last = len(chunks) - 1
    incoming: list[Any] = [
        {"type": "http.request", "body": chunk, "more_body": number < last or not ended}
        for number, chunk in enumerate(chunks)
    ]
    incoming.append({"type": "http.disconnect"})
    messages, sent = iter(incoming), list[Any]()

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def test_a_usual_request_is_answered_without_the_framework() -> None:
    given, framework = context(), Framework()
    start, body = ask(FastPath(framework, given), BODY[:9], BODY[9:], **USUAL)
    assert start["status"] == 200
    assert (b"content-length", str(len(body["body"])).encode()) in start["headers"]
    assert framework.heard == []
    shown = json.loads(body["body"])
    stored = given.service.store.find_impression(shown["query_id"])
    assert stored is not None
    assert stored.shown == [each["object_id"] for each in shown["ranking"]]


def test_the_framework_says_the_same() -> None:
    """A browser's request goes there: same seed, same list, same headers."""
    given = context()
    app = create_app(given)
    quick = ask(app, BODY, **USUAL)
    slow = ask(app, BODY, **USUAL | {"more": [(b"origin", b"http://elsewhere")]})
    quick_list, slow_list = (json.loads(answer[1]["body"]) for answer in (quick, slow))
    assert quick_list["ranking"] == slow_list["ranking"]
    assert quick_list["provenance"] == slow_list["provenance"]
    ours, theirs = (dict(answer[0]["headers"]) for answer in (quick, slow))
    assert ours.keys() == theirs.keys()
    assert ours[b"content-type"] == theirs[b"content-type"]
    assert b'route="POST /v1/rank",status="200"} 2.0' in given.metrics.text()


@pytest.mark.parametrize(
    "unusual",
    [
        {"key": "guess"},
        {"key": SHOWN["page"]},
        {"method": "GET"},
        {"path": "/v1/events"},
        {"path": "/v1/rank/"},
        {"more": [(b"origin", b"http://elsewhere")]},
    ],
)
def test_whatever_is_unusual_goes_the_framework_with_its_whole_body(unusual: dict[str, Any]) -> None:
    given, framework = context(), Framework()
    assert ask(FastPath(framework, given), BODY[:9], BODY[9:], **USUAL | unusual) == []
    assert framework.heard == [BODY]
    assert not list(given.service.store.read_impressions("default"))


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 100_000, b'{"candidates": []}', BODY.replace(b'"b"', b'"a"'), b"\xff"]
)
def test_a_wrong_body_goes_the_framework_and_nothing_is_written(body: bytes) -> None:
    given, framework = context(), Framework()
    ask(FastPath(framework, given), body, **USUAL)
    assert framework.heard == [body]
    assert not list(given.service.store.read_impressions("default"))


def test_a_body_that_is_too_large_is_not_read_to_its_end() -> None:
    given, framework = context(max_body=len(BODY)), Framework()
    assert ask(FastPath(framework, given), BODY, **USUAL)  # just fits
    ask(FastPath(framework, given), BODY, b" ", b" " * 99, **USUAL)
    assert framework.heard == [BODY + b" " + b" " * 99]


def test_a_request_that_ends_too_early_goes_the_framework() -> None:
    given, framework = context(), Framework()
    ask(FastPath(framework, given), BODY[:9], ended=False, **USUAL)
    assert framework.heard == [BODY[:9]]
